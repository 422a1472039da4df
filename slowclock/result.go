package slowclock

import (
	"context"
	"errors"
	"math"

	"chronoscope/stats"
)

// Method is the name of a way to time with a slow clock.
type Method string

// These are the methods.
const (
	Bernoulli    Method = "bernoulli" // counts trials that saw a tick
	Discrete     Method = "discrete"  // counts the ticks that trials saw
	Classic      Method = "classic"   // times a loop between two edges of the clock
	CounterClock Method = "counter"   // uses a thread that counts
)

// Methods lists all methods.
func Methods() []Method { return []Method{Bernoulli, Discrete, Classic, CounterClock} }

// Result is the result of a method. If a value is missing, Reasons says why.
type Result struct {
	Method Method `json:"method"`
	// Clock is the name of the slow clock, TickNs the length of its tick.
	Clock  string  `json:"clock"`
	TickNs float64 `json:"tick_ns"`
	// Trials is the number of executions of the event.
	Trials int64 `json:"trials"`
	// Edges is the number of ticks of the clock that were seen within events; for the classic loop
	// and the counter, during the loops and stretches.
	Edges int64 `json:"edges"`
	// ElapsedNs is how long all trials took by the slow clock, including the empty ones.
	ElapsedNs float64 `json:"elapsed_ns"`
	// Estimate is the mean duration of the event in nanoseconds, without overhead.
	Estimate stats.Estimate `json:"estimate"`
	// Overhead is the time of empty trials that was subtracted.
	Overhead stats.Estimate `json:"overhead"`
	// Equation2 has the interval of the source's equation (2) instead, which treats trials as
	// independent. It is NaN except for Bernoulli trials.
	Equation2 stats.Estimate `json:"equation2"`
	// Truth is the time of the same executions by a finer clock; NaN if there is none.
	Truth stats.Estimate `json:"truth"`
	// Locked says that trials kept step with the clock.
	Locked bool `json:"phase_locked"`
	stats.Judgement
}

func (l *laboratory) newResult(m Method) Result {
	return Result{
		Method: m, Clock: l.Clock.Name, TickNs: l.Clock.TickNs,
		Estimate: stats.NoEstimate("ns", "mean"), Overhead: stats.NoEstimate("ns", "mean"), Equation2: stats.NoEstimate("ns", "mean"), Truth: stats.NoEstimate("ns", "mean"),
		Judgement: stats.NewJudgement(),
	}
}

// finish judges the width of the interval, and adds a reason if the measurement was cut short. If
// the result is unusable for another reason, it does not judge the width.
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

// fewestEdges is the number of ticks that a useful interval needs.
const fewestEdges = 10

// judgeEdges adds a reason if few ticks were seen.
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

// noticeableOverhead is the least overhead that matters, as a share of the event's duration.
const noticeableOverhead = 0.1

// judgeOverhead adds a reason if there are too few empty trials to know the overhead: a single
// empty trial that was preempted then outweighs all others.
func (r *Result) judgeOverhead(empty *tally) {
	switch {
	case r.Edges == 0 || math.IsNaN(r.Estimate.Value): // judgeEdges has a reason for this
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

// judgeClock adds reasons for faults of the clock.
func (r *Result) judgeClock(backward, jumped int64) {
	if backward > 0 {
		r.Lower(stats.Suspect, "the clock went backwards within or before %d trials, which are left out: it was set, or it wraps; take one that nobody sets, such as a monotonic one", backward)
	}
	if jumped > 0 {
		r.Lower(stats.Suspect, "a single jump of %s was most of what the clock showed, and is left out: it was set, or the machine stood still; measure again", stats.Duration(float64(jumped)*r.TickNs, 3))
	}
}

// judgeLock adds a reason if trials kept step with the clock.
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
