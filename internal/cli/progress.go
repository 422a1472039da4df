package cli

import (
	"io"

	"github.com/schollz/progressbar/v3"

	"chronoscope/view"
)

// progress shows on a terminal how far a measurement is. It draws only when it
// is told of progress, between two stretches of measuring, and never of its
// own accord.
type progress struct {
	to  io.Writer
	bar *progressbar.ProgressBar // nil until something is shown
}

const progressSteps = 1000

// show draws the bar anew, where somebody watches.
func (p *progress) show(share float64, doing string) {
	if !isTerminal(p.to) {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(progressSteps,
			progressbar.OptionSetWriter(p.to),
			progressbar.OptionSetWidth(24),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionShowDescriptionAtLineEnd(),
		)
	}
	p.bar.Describe(view.OneLine(doing))
	p.bar.Set(min(int(share*progressSteps), progressSteps-1)) // a full bar draws no more
}

// end takes the bar off the screen.
func (p *progress) end() {
	if p.bar != nil {
		p.bar.Finish()
		p.bar = nil
	}
}
