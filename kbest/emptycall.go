package kbest

import (
	"context"

	"chronoscope/stats"
)

// emptyBelowNs is what a call of a function that does nothing never takes.
const emptyBelowNs = 10

// leastWork is how many cycles of work can be told from the call around it, whose
// own time depends on where the linker put the code.
const leastWork = 2

// empty does nothing, unknown to the compiler where it is called.
var empty = func() {}

// calls is a subject's Run that calls f.
func calls(f func()) func(n int) {
	return func(n int) {
		for range n {
			f()
		}
	}
}

// judgeCall holds a short call beside one of a function that does nothing: a call is
// made even where nothing is left of the work.
func (s *Station) judgeCall(ctx context.Context, plan Plan, r *Result) {
	if !(r.Estimate.Value < emptyBelowNs) {
		return
	}
	plan.Span = 0 // a function that does nothing has no phases
	results, err := s.Measure(ctx, plan, Subject{Run: calls(empty)})
	if err != nil {
		return
	}
	if e := results[0].Estimate; r.Estimate.Lo <= e.Hi+leastWork*r.cycleNs() {
		r.Lower(stats.Suspect, "a call takes %.3g ns, one of a function that does nothing %.3g ns: the work seems to have been optimised away, or is less than %d cycles; give its result to Keep, or do it many times in a call", r.Estimate.Value, e.Value, leastWork)
	}
}

// cycleNs is a cycle of the core; 0 where its rate is not known.
func (r *Result) cycleNs() float64 {
	if !usable(r.CoreHz) {
		return 0
	}
	return 1e9 / r.CoreHz
}
