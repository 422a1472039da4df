package cli

import (
	"io"

	"github.com/schollz/progressbar/v3"

	"chronoscope/view"
)

// progress shows the progress of a measurement on a terminal. It draws only when its caller reports
// progress, between two stretches of measuring, and never from a goroutine of its own.
type progress struct {
	to  io.Writer
	bar *progressbar.ProgressBar // nil until something is shown
}

const progressSteps = 1000

// show draws the bar again, if the output is a terminal.
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
	p.bar.Set(min(int(share*progressSteps), progressSteps-1)) // a full bar is not drawn again
}

// end removes the bar from the screen.
func (p *progress) end() {
	if p.bar != nil {
		p.bar.Finish()
		p.bar = nil
	}
}
