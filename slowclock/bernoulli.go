package slowclock

import (
	"context"
	"math"
	"time"

	"chronoscope/stats"
)

// overheadShare is the share of the time that goes into empty trials.
const overheadShare = 0.2

// Bernoulli times the event by trials with the slow clock. It evaluates them by two outcomes: the
// first result counts the trials that saw a tick, the second all ticks that the trials saw. When
// ctx ends, Bernoulli returns the results so far with ctx's error.
func (l Lab) Bernoulli(ctx context.Context, plan Plan) ([2]Result, error) {
	lab, release := l.open()
	defer release()
	begun := lab.Clock.Read()
	empty, loaded, err := newTally(), newTally(), plan.divisible()
	if err == nil {
		empty, err = lab.empty(ctx, plan)
	}
	if err == nil {
		loaded, err = lab.series(ctx, l.Event, lab.left(plan, begun), string(Discrete), func(t *tally) bool {
			return plan.Precision > 0 && lab.result(Discrete, t, empty, allTicks).Estimate.RelativeHalfWidth() <= plan.Precision
		})
	}
	results := [2]Result{lab.result(Bernoulli, loaded, empty, oneOrNone), lab.result(Discrete, loaded, empty, allTicks)}
	truth := lab.truth(loaded.fine, loaded.trials)
	for i := range results {
		results[i].Truth = truth
		results[i].finish(plan, err)
	}
	return results, err
}

func (l *laboratory) empty(ctx context.Context, plan Plan) (*tally, error) {
	share := plan
	share.Duration = time.Duration(overheadShare * float64(plan.Duration))
	return l.series(ctx, nothing, share, "overhead", nil)
}

// result evaluates trials by an outcome.
func (l *laboratory) result(m Method, all, allEmpty *tally, outcome outcome) Result {
	t, jumped := all.withoutJumps()
	empty, emptyJumped := allEmpty.withoutJumps()
	r := l.newResult(m)
	r.Trials, r.Edges = t.trials, t.within
	r.ElapsedNs = float64(all.elapsed()+allEmpty.elapsed()) * l.Clock.TickNs
	r.Overhead = empty.estimate(outcome).Scaled(l.Clock.TickNs, "ns")
	whole := t.estimate(outcome).Scaled(l.Clock.TickNs, "ns")
	r.Estimate = whole.Less(r.Overhead)
	r.judgeEdges()
	r.judgeOverhead(&empty)
	r.judgeClock(all.backward+allEmpty.backward, jumped+emptyJumped)
	r.judgeLock(l.locked(&t) || l.locked(&empty), l.Dither)
	r.judgeWaits(&t)
	if m == Bernoulli {
		r.Equation2 = t.equation2().Scaled(l.Clock.TickNs, "ns").Less(empty.equation2().Scaled(l.Clock.TickNs, "ns"))
		r.judgeOnes(&t)
	}
	return r
}

// judgeWaits lowers the verdict if the event may wait for a tick of the clock, since then each trial
// sees a tick however short the event is.
func (r *Result) judgeWaits(t *tally) {
	const nearlyAll = 0.95
	all := nearlyAll * float64(t.trials)
	if t.pauses.all == 0 || r.Locked || float64(t.ones) < all {
		return
	}
	if _, possibly := t.pauses.waits(); possibly {
		r.Lower(stats.Suspect, "each trial saw the clock tick: the event may wait for that, and others took the CPU too often to tell: let it run for longer, on a calmer machine")
	} else if float64(2*t.ones-t.within) > all {
		r.Lower(stats.Suspect, "each trial saw one tick: the event takes exactly that long, or waits for the clock: take another clock")
	}
}

// judgeOnes adds a reason that says by how much the number of ticks exceeds the number of trials
// that saw any.
func (r *Result) judgeOnes(t *tally) {
	lost := float64(t.within-t.ones) / float64(t.trials) * r.TickNs
	switch half := r.Estimate.HalfWidth(); {
	case t.ones == t.trials && t.trials > 0:
		r.Lower(stats.Unusable, "every trial saw the clock tick: the event is longer than a tick, and outcomes of 0 or 1 tell nothing more; count all ticks (discrete)")
	case lost > half/4:
		r.Lower(stats.Unusable, "trials saw several ticks and count one: preemption, or events near a tick, make the result too small by %s; count all ticks (discrete)", stats.Duration(lost, 3))
	case lost > half/10:
		r.Lower(stats.Suspect, "trials saw several ticks and count one: preemption, or events near a tick, make the result too small by %s; count all ticks (discrete)", stats.Duration(lost, 3))
	}
}

// equation2 is the share of trials that saw a tick, with the interval of Lambert 2008, equation
// (2). That equation assumes independent trials, and many trials of each outcome.
func (t *tally) equation2() stats.Estimate {
	n := float64(t.trials)
	p := float64(t.ones) / n
	half := z95 * math.Sqrt(p*(1-p)/n)
	return stats.Estimate{Value: p, Lo: p - half, Hi: p + half, Unit: "ticks", Statistic: "mean", N: int(t.trials), Discarded: int(t.backward)}
}
