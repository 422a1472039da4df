package gobench

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"chronoscope/env"
	"chronoscope/stats"
)

// leastPairs is the smallest number of pairs of repetitions that bounds the median of their ratios.
var leastPairs = stats.SamplesForMedian((1-stats.Confidence)/2, 0)

// Comparison compares two benchmarks of one group. The ratio is the time, or another metric, of B divided by
// that of A. The same code may take longer in another binary, in which it lies at another address: a small
// significant difference may come from that.
type Comparison struct {
	A, B *Result
	// Metric is the unit of the compared metric; empty for the time.
	Metric string
	// Basis is the basis of both times in the comparison. A and B themselves may have another one.
	Basis Basis
	stats.Comparison
	// Why says why the outcome is undecided; it is empty otherwise.
	Why string

	pairs stats.Pairs
	at    []int // the number of each pair among all repetitions, or duets
	duets bool  // the pairs are duets
	// isUnknown says that the ratio holds what sharing a core cost the two, which may not be the same.
	isUnknown bool
	placed    placement
	counts    *counts // nil unless the metric is a count
	later     float64 // see laterRatio; of a time only
}

// Compare compares B with A ([stats.Pairs.Compare]): by their duets if there are enough, or else by the pairs of repetitions
// that were made one after the other, on a basis that suits both. If a time is known only between bounds, so is the ratio.
// [Judge] judges all comparisons of a suite together.
func Compare(a, b *Result, tolerance float64, seed uint64) Comparison {
	then, now := a.inPairs(), b.inPairs()
	c := Comparison{A: a, B: b, Basis: commonBasis(then, now), later: laterRatio(then, now)}
	if c.duets = inDuets(a, b); c.duets {
		c.Basis = CPUTime
		c.pairs, c.at = duetPairs(a, b)
		c.place(a.Benchmark, a.Duets)
	} else {
		c.pairs, c.at, c.isUnknown = pairsOn(c.Basis, then, now)
		c.place(a.Benchmark, a.Repetitions)
	}
	c.decide(tolerance, seed)
	return c
}

// CompareAll compares the times of two benchmarks, and each metric that both report. MB/s follows from the time, and is
// compared only if the plan's gate has a limit for it. Times that differ by less than twice the plan's precision are the
// same.
func CompareAll(a, b *Result, plan Plan) []Comparison {
	all := []Comparison{Compare(a, b, 2*plan.Precision, plan.Seed)}
	for _, m := range b.Metrics {
		follows := m.Unit == "MB/s" && math.IsNaN(plan.gate().LimitOf(m.Unit))
		if !follows && a.reports(m.Unit) {
			all = append(all, CompareMetric(a, b, m.Unit, plan.Seed))
		}
	}
	return all
}

// Unpaired returns the units with a limit that one of two results reports, and the other does not, in order.
func Unpaired(a, b *Result, plan Plan) (units []string) {
	for _, unit := range slices.Sorted(maps.Keys(plan.gate().Metrics)) {
		if a.reports(unit) != b.reports(unit) {
			units = append(units, unit)
		}
	}
	return units
}

// reports reports whether the result has a metric of the unit.
func (r *Result) reports(unit string) bool {
	return slices.ContainsFunc(r.Metrics, func(m Metric) bool { return m.Unit == unit })
}

// decide sets the outcome from the pairs.
func (c *Comparison) decide(tolerance float64, seed uint64) {
	c.Comparison = c.pairs.Compare(tolerance, seed)
	if c.placed.grown && stats.IsFinite(c.placed.centre) && !math.IsNaN(c.Ratio.Value) { // the first layouts have more pairs
		c.Ratio.Value = math.Exp(c.placed.centre)
	}
	lo, hi := c.placed.bounds((1 - stats.Confidence) / 2)
	c.Ratio.Lo, c.Ratio.Hi = math.Min(c.Ratio.Lo, lo), math.Max(c.Ratio.Hi, hi)
	c.Outcome = stats.OutcomeOf(c.Ratio, c.P, tolerance)
	switch n := c.pairs.Len(); {
	case n == 0:
		c.Why = "the two have no pairs of repetitions"
	case c.isUnknown:
		c.Why = "the core was shared, and too few pairs did not share it to tell what that cost either"
	case c.unusable():
		c.Why = "one of both is unusable"
	case n < leastPairs:
		c.Why = fmt.Sprintf("%d pairs of repetitions are too few to tell, %d are needed", n, leastPairs)
	case c.Outcome == stats.Undecided && c.Zeros > 0 && !(stats.IsFinite(c.Ratio.Lo) && stats.IsFinite(c.Ratio.Hi)):
		c.Why = "too many values are 0 to bound the ratio"
	case c.Outcome == stats.Undecided && c.placed.layouts == 1:
		c.Why = "the pairs are of one layout only"
	case c.Outcome == stats.Undecided:
		c.Why = fmt.Sprintf("the interval of the ratio goes from %.4g to %.4g, beyond what counts as the same", c.Ratio.Lo, c.Ratio.Hi)
	}
	if c.Why != "" {
		c.Outcome = stats.Undecided
	}
}

// InDuets reports whether the ratio rests on duets.
func (c *Comparison) InDuets() bool { return c.duets }

// Placement returns the number of layouts drawn at random that have pairs, and the standard deviation of the logarithms of
// their ratios, which includes the scatter of the pairs; NaN if there are fewer than two.
func (c *Comparison) Placement() (layouts int, deviation float64) {
	if c.placed.layouts < 2 {
		return c.placed.layouts, math.NaN()
	}
	return c.placed.layouts, c.placed.ofCentres
}

// Pairs returns the pairs that the ratio rests on.
func (c *Comparison) Pairs() stats.Pairs { return c.pairs }

// PairsFrom returns those of the pairs whose number among all repetitions, or duets, is n or more, and the number after the
// last one. Which earlier ones count may change as more are made.
func (c *Comparison) PairsFrom(n int) (pairs stats.Pairs, next int) {
	var late []int
	for i, number := range c.at {
		if next = max(n, number+1); number >= n {
			late = append(late, i)
		}
	}
	return *c.pairs.Only(late), next
}

// unusable reports whether a result is too bad to compare times. Other metrics don't depend on the clock. Duets tell the
// ratio of two benchmarks whose own times something disturbed, unless one of them failed.
func (c *Comparison) unusable() bool {
	switch {
	case c.Metric != "":
		return false
	case c.duets:
		return c.A.Failed || c.B.Failed
	}
	return c.isUnknown || c.A.inPairs().Verdict == stats.Unusable || c.B.inPairs().Verdict == stats.Unusable
}

// pairsOn returns the pairs of repetitions that were made one after the other, and their indices. The bounds
// allow for the rounding of printed times. Interruptions are not subtracted: they hit both alike, and an error
// in the estimate for one benchmark would shift all pairs. isUnknown says that the ratio holds what sharing a core cost either
// of them ([kindsToPair]).
func pairsOn(basis Basis, a, b *Result) (pairs stats.Pairs, repetitions []int, isUnknown bool) {
	first, second, isUnknown := kindsToPair(a, b)
	then, now, alike := asOne(first, second)
	bounded := func(k kind, i int, roundingNs float64) stats.Bounded {
		on := k.boundsOn(basis, k.used[i])
		return stats.Bounded{Lo: on.lo, Mid: (on.lo + on.hi) / 2, Hi: on.hi, Rounding: roundingNs, Disturbed: on.hi - on.lo}
	}
	var before, after []stats.Bounded
	var at []int
	for i, repetition := range now.at {
		if j, paired := slices.BinarySearch(then.at, repetition); paired {
			before, after = append(before, bounded(then, j, a.timed.roundingNs)), append(after, bounded(now, i, b.timed.roundingNs))
			at = append(at, repetition)
		}
	}
	if alike {
		for _, i := range pairs.AddAlike(before, after) {
			repetitions = append(repetitions, at[i])
		}
		return pairs, repetitions, isUnknown
	}
	for i := range before {
		if pairs.Add(before[i], after[i]) {
			repetitions = append(repetitions, at[i])
		}
	}
	return pairs, repetitions, isUnknown
}

// kindsToPair returns the kinds of two benchmarks with the repetitions that may make pairs. What one alone leaves out would shift
// all ratios. So both leave out repetitions that stood still, or neither does. If one leaves out those on shared cores, so does
// the other. isUnknown says that this is not possible, so that the ratio holds what sharing cost either of them.
func kindsToPair(a, b *Result) (first, second kind, isUnknown bool) {
	if a.standstillsTold == b.standstillsTold && !a.leftShared && !b.leftShared {
		return a.timed.kind, b.timed.kind, false
	}
	first, second = a.moving, b.moving
	if a.standstillsTold != b.standstillsTold {
		first, second = a.whole, b.whole
	}
	if !a.leftShared && !b.leftShared {
		return first, second, false
	}
	then, now, apart := first.sharedAt(), second.sharedAt(), 0
	var before, after []bool
	for _, i := range second.at {
		if !slices.Contains(first.at, i) {
			continue
		}
		before, after = append(before, then[i]), append(after, now[i])
		if !then[i] && !now[i] {
			apart++
		}
	}
	if apart < leastPairs || !env.SharedAlike(before, after) {
		return first, second, true
	}
	return first.without(then), second.without(now), false
}

// sharedAt returns the repetitions around which something else ran on the cores.
func (k kind) sharedAt() map[int]bool {
	shared := map[int]bool{}
	for _, r := range sharedRepetitions(k) {
		shared[r.Repetition] = true
	}
	return shared
}

// without returns the kind with only those of its repetitions that are not left out.
func (k kind) without(out map[int]bool) kind {
	var used []Repetition
	var at []int
	for i, rep := range k.used {
		if !out[k.at[i]] {
			used, at = append(used, rep), append(at, k.at[i])
		}
	}
	k.used, k.at = used, at
	return k
}

// asOne returns the kinds of two benchmarks with one answer to whether they may block, by the repetitions of both if their
// own answers differ, and without what others used on average, which is the same for both. It also reports whether others delay
// both alike. Then all that is taken for the same in all repetitions of a benchmark is the same in both: what chance makes of it
// in one of them would shift all pairs.
func asOne(a, b kind) (kind, kind, bool) {
	if a.mayBlock != b.mayBlock {
		may := (blockingShare(a.idle)+blockingShare(b.idle))/2 > mayBlockShare
		a.mayBlock, b.mayBlock = may, may
	}
	a.othersAround, b.othersAround = math.NaN(), math.NaN()
	if !delayedAlike(a, b) {
		return a, b, false
	}
	return a.with(b), b.with(a), true
}

// with returns the kind with what holds for all of its repetitions taken from both kinds.
func (k kind) with(other kind) kind {
	mean := func(a, b float64) float64 { return (a + b) / 2 }
	k.runnable, k.waitPerTimed = mean(k.runnable, other.runnable), mean(k.waitPerTimed, other.waitPerTimed)
	k.missing, k.missingMost = mean(k.missing, other.missing), mean(k.missingMost, other.missingMost)
	k.untimed = mean(k.untimed, other.untimed)
	k.escaped, k.undelayed, k.overlaps = k.escaped && other.escaped, k.undelayed && other.undelayed, k.overlaps || other.overlaps
	return k
}

// alikeShare is the share by which two benchmarks may differ that are delayed alike.
const alikeShare = 0.2

// delayedAlike reports whether waiting for other programs delays both benchmarks in the same way, as it does two
// revisions of one benchmark that have the same threads: as many of them can run, and they wait as long. A benchmark
// that blocks may wait for another process, so that its own waits don't tell.
func delayedAlike(a, b kind) bool {
	near := func(x, y, within float64) bool { return math.Abs(x-y) <= within+alikeShare*math.Min(x, y) }
	return !a.mayBlock && !b.mayBlock && a.alone == b.alone && a.apart == b.apart && near(a.runnable, b.runnable, 0) && near(a.waitPerTimed, b.waitPerTimed, calmShare)
}

// commonBasis returns the basis that suits both. The timer is right for two that did not wait, and the CPU time
// for two that computed all the time, whatever their own estimates rest on.
func commonBasis(a, b *Result) Basis {
	switch {
	case a.Basis == b.Basis && a.Basis != "": // it is empty if no time is known
		return a.Basis
	case a.timed.kind.ownTime || b.timed.kind.ownTime:
		return Timer
	case a.timed.kind.byClock() && b.timed.kind.byClock():
		return Timer
	case a.timed.kind.alone && b.timed.kind.alone:
		return CPUTime
	}
	return Bounds
}
