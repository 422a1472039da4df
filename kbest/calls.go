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
	// Blocked counts the calls that gave up their CPU by themselves: they slept, or waited for something other than a CPU. That
	// is part of their time. If all calls together did so for at most 2 % of their CPU time, a call counts only if it did so for
	// more than 0.5 ms: shorter absences look like stops by the Go scheduler, and count as these.
	Blocked int `json:"blocked"`
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
	bare.CoreHz, bare.Slowed, bare.Counted = nil, nil, nil
	// The count of allocated bytes reads some memory for each CPU, which would displace what a call finds in the caches. Only
	// where something is done between the calls it has to be read around each.
	together := subject.Setup == nil && subject.Before == nil && subject.After == nil
	if together {
		bare.Allocated = nil
	}
	bare.take(&subject, 1) // the first call is slower, and does not count
	ranNs, allocated := 0.0, -ask(s.Allocated, 0)
	for len(c.Samples) < plan.Calls && ctx.Err() == nil {
		x := bare.take(&subject, 1)
		ranNs += x.spentNs()
		if c.Samples = append(c.Samples, x); seen.due(ranNs, x.spentNs()) {
			allocated += ask(s.Allocated, 0)
			s.takeLook(o, &seen)
			allocated -= ask(s.Allocated, 0)
		}
	}
	bytes := float64(allocated+ask(s.Allocated, 0)) / float64(len(c.Samples))
	if !together {
		bytes = allocatedBytes(c.Samples)
	}
	c.conclude(s, o, &seen, bytes)
	if ctx.Err() != nil {
		c.Lower(stats.Suspect, "it was interrupted after %d calls", len(c.Samples))
	}
	return c, ctx.Err()
}

// leastAwayNs is the smallest lack of CPU time that reading errors do not explain. mostStoppedNs is more than the time
// for which the Go scheduler stops a thread: of the 10 ms from one of its turns to the next it takes less than sleptShare.
const leastAwayNs, mostStoppedNs = 20e3, sleptShare * 10e6

// blocked reports whether a call gave up its CPU by itself, and not only because the Go scheduler stopped the thread.
// blocks says that all calls together gave it up for more of their time than that scheduler takes.
func (x *Sample) blocked(o overhead, blocks bool) bool {
	s := screen{overhead: o}
	return s.slept(x) && (blocks || s.awayNs(x) > mostStoppedNs)
}

// mark notes why a call was interrupted, and returns bounds of its time without the interruptions, in
// nanoseconds. If the call blocked, only its waits for a CPU were interruptions. eachNs is the length of a typical
// interruption.
func (x *Sample) mark(o overhead, blocked bool, eachNs float64) (low, high float64) {
	run := math.Min(x.WallNs, float64(x.Use.CPUNs)-o.lookNs)
	away := x.WallNs - run
	// The wait may also count time before or after the call. What comes with a switch is in the CPU time, and so may be the
	// interruption that causes the switch, which looks don't see.
	spread := 3*o.lookSpreadNs + 5e3 + (5e3+eachNs)*float64(x.switches())
	switch {
	case x.Use.CPUNs == 0: // the kernel's counts are missing
		return x.WallNs, x.WallNs
	case blocked:
		if x.Use.WaitNs == 0 {
			return x.WallNs, x.WallNs
		}
		x.Corrected = Preempted
		return math.Max(0, x.WallNs-float64(x.Use.WaitNs)-spread), x.WallNs
	case x.Use.VoluntarySwitches > 0:
		x.Corrected = Stopped
	case x.Use.WaitNs > 0 || x.Use.InvoluntarySwitches > 0:
		x.Corrected = Preempted
	case away > leastAwayNs+3*o.lookSpreadNs:
		x.Corrected = Away
	default:
		return x.WallNs, x.WallNs
	}
	return math.Max(0, math.Min(run, x.WallNs-float64(x.Use.WaitNs))-spread), math.Min(x.WallNs, run+3*o.lookSpreadNs)
}

// String writes both distributions.
func (c *Calls) String() string {
	return fmt.Sprintf("%s; %s without what others took", c.All, c.Undisturbed)
}

// conclude computes the distributions of the calls, each of which allocates the given number of bytes on average.
func (c *Calls) conclude(s *Station, o overhead, seen *looks, bytes float64) {
	var walls, low, high []float64
	blocks, eachNs := screen{overhead: o}.sleptShare(c.Samples) > sleepsShare, seen.eachNs()
	for i := range c.Samples {
		x := &c.Samples[i]
		blocked := x.blocked(o, blocks)
		if blocked {
			c.Blocked++
		}
		least, most := x.mark(o, blocked, eachNs)
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
	c.judge(s, o, seen, walls, bytes)
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
	if len(high) > 0 {
		t.WorstNs = stats.FloatOf(math.Max(0, high[len(high)-1]+cost.Value))
	}
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
		for from := 0.0; from < l.all[i].ranNs; from += math.Max(each, 1) {
			losses = append(losses, l.lostFrom(i, from, ns))
		}
	}
	slices.Sort(losses)
	return losses
}

// lostFrom returns the loss in a stretch of the looks that lasts ns and begins in look i. After the end of a look it goes on
// with the next one, and after the last look with the first.
func (l *looks) lostFrom(i int, from, ns float64) (lostNs float64) {
	for ns > 0 {
		one := &l.all[i]
		lostNs += one.between(from, from+ns)
		ns -= math.Max(one.ranNs-from, 1)
		i, from = (i+1)%len(l.all), 0
	}
	return lostNs
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

// schedulerShare is more than the share of a thread's time for which the Go scheduler stops it (0.3 %).
const schedulerShare = 0.005

// mostSwitches is how many times a typical call may lose its CPU. The bounds of a call allow 5 µs and one interruption for
// each loss. On an EPYC of 2021 beside three loops a loss cost 44 µs. Calls that lost their CPU 30 to 40 times had a 90th
// percentile that was 7 % too long.
const mostSwitches = 10

// typicalSwitches returns how many times a typical call was taken off its CPU.
func (c *Calls) typicalSwitches() float64 {
	var all []float64
	for i := range c.Samples {
		all = append(all, float64(c.Samples[i].switches()))
	}
	return stats.Median(all)
}

// tellsApart is the smallest allowed ratio of a typical call to the clock's accuracy and jitter.
const tellsApart = 2

// judge sets the verdict on the percentiles.
func (c *Calls) judge(s *Station, o overhead, seen *looks, walls []float64, bytes float64) {
	if len(c.Samples) == 0 {
		c.Lower(stats.Unusable, "no call was timed")
		return
	}
	known := len(c.All.Known())
	if known == 0 {
		c.Lower(stats.Unusable, "%d calls are not enough for any percentile: %s", len(c.Samples), c.All.Reasons[0])
	}
	coarse := s.Clock.AccuracyNs + slices.Max(o.jitterNs) - slices.Min(o.jitterNs)
	if median := math.Max(0, stats.Median(walls)-o.clockNs); median < tellsApart*coarse {
		c.Lower(stats.Unusable, "a call takes %s, and the clock tells single calls apart by %s: time more work in a call", stats.Duration(median, 2), stats.Duration(coarse, 2))
	}
	few := sleepsShare // if no more calls blocked than lie beyond the greatest percentile, the percentiles don't rest on them
	if known > 0 {
		few = math.Min(few, 1-stats.TailPercentiles[known-1])
	}
	if float64(c.Blocked) > few*float64(len(c.Samples)) {
		c.Lower(stats.Suspect, "%d of %d calls gave up their CPU: their waits for a CPU are subtracted; a delay that others caused in what they waited for is still in the figures", c.Blocked, len(c.Samples))
	}
	if share := (screen{overhead: o}).sleptShare(c.Samples); share > schedulerShare && float64(c.Marked[Stopped]) > few*float64(len(c.Samples)) {
		c.Lower(stats.Suspect, "%d of %d calls gave up their CPU for a short while, as when the Go scheduler stops a thread: if they slept or waited, the undisturbed figures lack that time", c.Marked[Stopped], len(c.Samples))
	}
	if lost := c.typicalSwitches(); lost > mostSwitches {
		c.Lower(stats.Suspect, "a typical call loses its CPU %.0f times, and how much longer each loss makes it is not known: time less work in a call, or on a calmer machine", lost)
	}
	if bytes*collectorNs > collectorShare*stats.Median(walls) {
		c.Lower(stats.Suspect, allocates, bytes, "calls")
	}
	if s.Use == nil {
		c.Lower(stats.Suspect, "the kernel does not tell what others took of the calls%s", s.whyUncounted())
	}
	if !seen.known() {
		c.Lower(stats.Suspect, "what interrupts took of the calls is not known: nothing watched the CPU")
	}
}
