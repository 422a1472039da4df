package kbest

import (
	"context"

	"chronoscope/stats"
)

// emptyBelowNs is more than a call of a function that does nothing takes, in nanoseconds.
const emptyBelowNs = 10

// leastWork is the smallest number of cycles of work that can be told from the cost of a call. That cost
// depends on where the linker put the code.
const leastWork = 2

// empty does nothing. It is a variable, so that the compiler does not know this where it is called.
var empty = func() {}

// calls returns a [Subject.Run] that calls f.
func calls(f func()) func(n int) {
	return func(n int) {
		for range n {
			f()
		}
	}
}

// judgeCall compares a short call with one of a function that does nothing: the call remains even if the
// compiler removed all of the work.
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

// cycleNs returns the length of a cycle of the core in nanoseconds; 0 if the rate is unknown.
func (r *Result) cycleNs() float64 {
	if !usable(r.CoreHz) {
		return 0
	}
	return 1e9 / r.CoreHz
}
