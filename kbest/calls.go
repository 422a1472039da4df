package kbest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"chronoscope/stats"
)

// Calls describes the distribution of single calls of a subject, in nanoseconds.
type Calls struct {
	Name string `json:"name"`
	// All has the percentiles of the calls as they were. Undisturbed has those without the time that the
	// kernel, the host and other programs took; its intervals cover all that these may have taken.
	All         stats.Tails `json:"all"`
	Undisturbed stats.Tails `json:"undisturbed"`
	// Marked counts, by cause, the calls during which the kernel or the host is known to have taken time.
	Marked map[Reason]int `json:"marked"`
	// Samples has the calls, in order; each has an N of 1.
	Samples []Sample `json:"-"`
	stats.Judgement
}

// CallsPlan says how many calls to time one by one: a p99 needs 368, a p99.9 needs 3,688.
type CallsPlan struct {
	Calls int
}

// DefaultCalls has enough calls for a p99.9.
var DefaultCalls = CallsPlan{Calls: 4000}

// mostTimed is the largest number of calls.
const mostTimed = 1 << 20

// Calls times calls one by one. Before each call it reads the kernel's counters of the thread, which affects
// the caches that the call finds.
func (s *Station) Calls(ctx context.Context, plan CallsPlan, subject Subject) (*Calls, error) {
	switch {
	case subject.Run == nil:
		return nil, fmt.Errorf("kbest: subject %q has no Run to measure", subject.Name)
	case s.Clock.Clock == nil || !(s.Clock.AccuracyNs > 0):
		return nil, errors.New("kbest: the station has no clock whose accuracy is known")
	case plan.Calls < 1 || plan.Calls > mostTimed:
		return nil, fmt.Errorf("kbest: %d calls: choose 1 to %d (368 carry a p99)", plan.Calls, mostTimed)
	}
	o := s.overhead()
	var seen looks
	s.takeLook(o, &seen)
	c := &Calls{Name: subject.Name, Marked: map[Reason]int{}, Judgement: stats.NewJudgement(), Samples: make([]Sample, 0, plan.Calls)}
	bare := *s // probes and counters would take longer than the call
	bare.CoreHz, bare.Slowed, bare.Counted, bare.Allocated = nil, nil, nil, nil
	bare.take(&subject, 1) // the first call is slower, and does not count
	ranNs := 0.0
	for len(c.Samples) < plan.Calls && ctx.Err() == nil {
		x := bare.take(&subject, 1)
		ranNs += x.spentNs()
		if c.Samples = append(c.Samples, x); seen.due(ranNs, x.spentNs()) {
			s.takeLook(o, &seen)
		}
	}
	c.conclude(s, o, &seen)
	if ctx.Err() != nil {
		c.Lower(stats.Suspect, "it was interrupted after %d calls", len(c.Samples))
	}
	return c, ctx.Err()
}

// leastAwayNs is the smallest lack of CPU time that reading errors do not explain.
const leastAwayNs = 20e3

// mark notes why a call was interrupted, and returns bounds of its time without the interruptions, in
// nanoseconds.
func (x *Sample) mark(o overhead) (low, high float64) {
	run := math.Min(x.WallNs, float64(x.Use.CPUNs)-o.lookNs)
	away := x.WallNs - run
	switch {
	case x.Use.CPUNs == 0: // the kernel's counts are missing
		return x.WallNs, x.WallNs
	case x.Use.VoluntarySwitches > 0 && x.Use.WaitNs == 0: // the call itself waits
		return x.WallNs, x.WallNs
	case x.Use.WaitNs > 0 || x.Use.InvoluntarySwitches > 0:
		x.Corrected = Preempted
	case away > leastAwayNs+3*o.lookSpreadNs:
		x.Corrected = Away
	default:
		return x.WallNs, x.WallNs
	}
	// The wait may also count time before or after the call. What comes with a switch is in the CPU time.
	spread := 3*o.lookSpreadNs + 5e3*float64(1+x.switches())
	return math.Max(0, math.Min(run, x.WallNs-float64(x.Use.WaitNs))-spread), math.Min(x.WallNs, run+3*o.lookSpreadNs)
}

// String writes both distributions.
func (c *Calls) String() string {
	return fmt.Sprintf("%s; %s without what others took", c.All, c.Undisturbed)
}

// conclude computes the distributions of the calls.
func (c *Calls) conclude(s *Station, o overhead, seen *looks) {
	var walls, low, high []float64
	for i := range c.Samples {
		x := &c.Samples[i]
		least, most := x.mark(o)
		x.RunNs = (least + most) / 2
		for _, r := range []struct {
			is     bool
			reason Reason
		}{{x.Corrected != "", x.Corrected}, {x.Migrated, Migrated}, {x.Collections > 0, Collected}, {x.Use.MajorFaults > 0, MajorFault}} {
			if r.is {
				c.Marked[r.reason]++
			}
		}
		walls, low, high = append(walls, x.WallNs), append(low, least), append(high, most)
	}
	slices.Sort(low)
	slices.Sort(high)
	cost := stats.Estimate{Value: -o.clockNs, Lo: -o.clockNs - slices.Max(o.jitterNs), Hi: -o.leastNs()}
	step := s.Clock.AccuracyNs
	c.All = stats.TailsOfReadings(walls, step).Shifted(cost)
	c.Undisturbed = undisturbed(low, high, seen, c.All, step, cost)
	c.judge(s, o, seen)
}

// undisturbed returns the percentiles of calls whose times are known to lie between low and high, both sorted.
// seen are the looks, which saw what the CPU loses.
//
// A call that took more than x took more than x - z by itself, or lost more than z. So the p-quantile of the
// calls by themselves is at least Q - z for any z, where Q is the quantile of the calls as they were at p minus
// the chance of losing more than z. This holds for any dependence between calls and losses (Makarov, "Estimates
// for the distribution function of a sum of two random variables when the marginal distributions are fixed",
// Theory of Probability and its Applications 26, 1982). It is at most the quantile of the calls as they were.
func undisturbed(low, high []float64, seen *looks, all stats.Tails, step float64, cost stats.Estimate) stats.Tails {
	t := all
	t.Percentiles = slices.Clone(all.Percentiles)
	for i, p := range stats.TailPercentiles {
		e := &t.Percentiles[i]
		upper, _, err := stats.QuantileInterval(high, p, "ns")
		if err != nil || math.IsNaN(e.Value) {
			continue
		}
		least, leastLo := 0.0, 0.0
		losses := seen.within(upper.Value)
		for _, z := range append([]float64{0}, stats.Thinned(losses, mostLosses)...) {
			loseMore := 1 - share(losses, z)
			if bound, _, err := stats.QuantileInterval(low, p-loseMore, "ns"); err == nil {
				least, leastLo = math.Max(least, bound.Value-z), math.Max(leastLo, bound.Lo-z)
			}
		}
		e.Lo = math.Max(0, math.Min(leastLo-step+cost.Lo, e.Lo))
		e.Hi = math.Min(e.Hi, upper.Hi+step+cost.Hi)
		e.Value = math.Min(math.Max((least+upper.Value)/2+cost.Value, e.Lo), e.Hi)
	}
	t.WorstNs = stats.FloatOf(math.Max(0, high[len(high)-1]+cost.Value))
	return t
}

// mostStretches is about the largest number of stretches of the looks that a call is compared with. mostLosses
// is the largest number of their losses that are tried.
const mostStretches, mostLosses = 400, 50

// within returns the losses in stretches of the looks that last ns, sorted.
func (l *looks) within(ns float64) (losses []float64) {
	if !l.known() {
		return nil
	}
	each := l.ranNs / mostStretches
	for i := range l.all {
		one := &l.all[i]
		for from := 0.0; from+ns <= math.Max(one.ranNs, ns); from += math.Max(each, 1) {
			losses = append(losses, one.between(from, from+ns))
		}
	}
	slices.Sort(losses)
	return losses
}

// share returns the share of sorted values that are at most x.
func share(sorted []float64, x float64) float64 {
	if len(sorted) == 0 {
		return 1
	}
	n, found := slices.BinarySearch(sorted, x)
	for found && n < len(sorted) && sorted[n] == x {
		n++
	}
	return float64(n) / float64(len(sorted))
}

// tellsApart is the smallest allowed ratio of a typical call to the clock's accuracy and jitter.
const tellsApart = 2

// judge sets the verdict on the percentiles.
func (c *Calls) judge(s *Station, o overhead, seen *looks) {
	if len(c.Samples) == 0 {
		c.Lower(stats.Unusable, "no call was timed")
		return
	}
	coarse := s.Clock.AccuracyNs + slices.Max(o.jitterNs) - slices.Min(o.jitterNs)
	if median := c.All.Percentiles[0]; median.Value < tellsApart*coarse {
		c.Lower(stats.Unusable, "a call takes %s, and the clock tells single calls apart by %s: time more work in a call", stats.Duration(median.Value, 2), stats.Duration(coarse, 2))
	}
	if s.Use == nil {
		c.Lower(stats.Suspect, "the kernel does not tell what others took of the calls")
	}
	if !seen.known() {
		c.Lower(stats.Suspect, "what interrupts took of the calls is not known: nothing watched the CPU")
	}
}
