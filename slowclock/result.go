package slowclock

import (
	"context"
	"errors"
	"math"

	"chronoscope/stats"
)

// Method names a way to time with a slow clock.
type Method string

// The methods.
const (
	Bernoulli    Method = "bernoulli" // trials that saw a tick
	Discrete     Method = "discrete"  // the ticks that trials saw
	Classic      Method = "classic"   // a loop between two edges of the clock
	CounterClock Method = "counter"   // a thread that counts
)

// Methods lists all of them.
func Methods() []Method { return []Method{Bernoulli, Discrete, Classic, CounterClock} }

// Result is the result of a method. Reasons says why a value is missing.
type Result struct {
	Method Method `json:"method"`
	// Clock is the name of the slow clock, TickNs the length of its tick.
	Clock  string  `json:"clock"`
	TickNs float64 `json:"tick_ns"`
	// Trials is how many times the event was run.
	Trials int64 `json:"trials"`
	// Edges is how many ticks of the clock were seen within events; for the classic
	// loop and the counter, while they lasted.
	Edges int64 `json:"edges"`
	// ElapsedNs is how long all trials took by the slow clock, the empty ones included.
	ElapsedNs float64 `json:"elapsed_ns"`
	// Estimate is the mean duration of the event in nanoseconds, without overhead.
	Estimate stats.Estimate `json:"estimate"`
	// Overhead is the time of empty trials that was subtracted.
	Overhead stats.Estimate `json:"overhead"`
	// Equation2 has the interval of the source's equation (2) instead, as if trials were
	// independent of one another; NaN but for Bernoulli trials.
	Equation2 stats.Estimate `json:"equation2"`
	// Truth is the time of the same executions by a finer clock; NaN without one.
	Truth stats.Estimate `json:"truth"`
	// Locked reports that trials kept step with the clock.
	Locked bool `json:"phase_locked"`
	stats.Judgement
}

// newResult is a result that knows nothing yet.
func (l *laboratory) newResult(m Method) Result {
	return Result{
		Method: m, Clock: l.Clock.Name, TickNs: l.Clock.TickNs,
		Estimate: stats.NoEstimate("ns", "mean"), Overhead: stats.NoEstimate("ns", "mean"), Equation2: stats.NoEstimate("ns", "mean"), Truth: stats.NoEstimate("ns", "mean"),
		Judgement: stats.NewJudgement(),
	}
}

// finish judges the width of the interval, and says that a measurement did not come to its end. Where
// something else makes the result unusable, its width tells no more.
func (r *Result) finish(plan Plan, err error) {
	if r.Verdict != stats.Unusable {
		r.JudgeWidth(r.Estimate, plan.Precision, "let it run for longer, on a calmer machine")
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		r.Lower(stats.Suspect, "its time was over before it had come to its end: let it run for longer")
	case err != nil:
		r.Lower(stats.Suspect, "it was cut short: %v", err)
	}
}

// fewestEdges is how many ticks have to be seen for an interval that is worth the
// name.
const fewestEdges = 10

// judgeEdges says that few ticks were seen.
func (r *Result) judgeEdges() {
	switch {
	case math.IsNaN(r.Estimate.Value):
		r.Lower(stats.Unusable, "no trial was finished: let it run for longer")
	case r.Edges == 0:
		r.Lower(stats.Unusable, "the clock was not seen to tick within an event: all that is known is an upper bound; let it run for longer")
	case r.Edges < fewestEdges:
		r.Lower(stats.Suspect, "the clock was seen to tick %d times within events, %d are needed for more than an order of magnitude: let it run for longer", r.Edges, fewestEdges)
	}
}

// noticeableOverhead is an overhead that matters, as a share of the event's duration.
const noticeableOverhead = 0.1

// judgeOverhead says that the empty trials tell too little of the overhead: where there are few,
// a single one that was preempted outweighs all others.
func (r *Result) judgeOverhead(empty *tally) {
	switch {
	case r.Edges == 0 || math.IsNaN(r.Estimate.Value): // judgeEdges says so
	case r.Estimate.Value <= 0:
		verdict := stats.Suspect
		if r.Estimate.Hi <= 0 {
			verdict = stats.Unusable
		}
		r.Lower(verdict, "empty trials took %s on average, no less than those with the event: let it run for longer, on a calmer machine", stats.Duration(r.Overhead.Value, 3))
	case empty.within < fewestEdges && r.Overhead.Value > noticeableOverhead*r.Estimate.Value:
		r.Lower(stats.Suspect, "empty trials took %s on average, and the clock was seen to tick %d times within them, %d are needed: let it run for longer", stats.Duration(r.Overhead.Value, 3), empty.within, fewestEdges)
	}
}

// judgeClock says what the clock did that a clock should not do.
func (r *Result) judgeClock(backward, jumped int64) {
	if backward > 0 {
		r.Lower(stats.Suspect, "the clock went backwards within or before %d trials, which are left out: it was set, or it wraps; take one that nobody sets, such as a monotonic one", backward)
	}
	if jumped > 0 {
		r.Lower(stats.Suspect, "a single jump of %s was most of what the clock showed, and is left out: it was set, or the machine stood still; measure again", stats.Duration(float64(jumped)*r.TickNs, 3))
	}
}

// judgeLock says that trials kept step with the clock.
func (r *Result) judgeLock(locked, dithered bool) {
	r.Locked = locked
	if !locked {
		return
	}
	help := "ask for pauses of random length (dither)"
	if dithered {
		help = "the event itself waits for the clock; no pause between trials helps, take another clock"
	}
	r.Lower(stats.Unusable, "trials keep step with the clock, so that its ticks always fall on the same places of the loop and tell nothing of the event's length: %s", help)
}
