package report

import (
	"slices"

	"chronoscope/activity"
)

// timerTicks are the interrupts of this kernel's timer in a trace: those that
// began a gap and those that fell into one. A tick that left no gap was none.
func timerTicks(t *activity.Trace, a *activity.Analysis) []activity.Tick {
	if a.Tick == nil {
		return nil
	}
	return slices.DeleteFunc(t.Ticks(a.Tick), func(k activity.Tick) bool { return k.Gap < 0 })
}
