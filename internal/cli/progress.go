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
	bar *progressbar.ProgressBar // nil where nobody watches
}

const progressSteps = 1000

func newProgress(w io.Writer) *progress {
	if !isTerminal(w) {
		return &progress{}
	}
	return &progress{bar: progressbar.NewOptions(progressSteps,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetWidth(24),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionShowDescriptionAtLineEnd(),
	)}
}

// show draws the bar anew.
func (p *progress) show(share float64, doing string) {
	if p.bar != nil {
		p.bar.Describe(view.OneLine(doing))
		p.bar.Set(int(share * progressSteps))
	}
}

// end takes the bar off the screen.
func (p *progress) end() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
