package program

import (
	"math"
	"slices"

	"chronoscope/env"
	"chronoscope/stats"
)

// Comparison compares two commands that were measured together. The ratio is the time of B over that of A; for the
// ratio of a metric see [CompareMetric].
type Comparison struct {
	A, B *Result
	// Metric is the name of the compared metric; empty for the time.
	Metric string
	stats.Comparison

	// asMeasured is the ratio with what shared cores and cold caches added to the times; nil if Ratio is the same.
	asMeasured *stats.Estimate
	pairs      stats.Pairs
	duets      bool // the pairs are duets
	// isUnknown says that the ratio holds what sharing a core cost the two, which may not be the same.
	isUnknown bool
	belowZero bool // a value of the metric is below 0 in some pairs of runs
}

// Compare compares B with A ([stats.Pairs.Compare]): by their duets, or by the pairs of runs of the same round. If a time is
// only known to lie between bounds, so is the ratio.
func Compare(a, b *Result, tolerance float64, seed uint64) Comparison {
	c := Comparison{A: a, B: b}
	if a.Failure == nil && b.Failure == nil {
		if c.duets = len(a.Duets) > 0 && len(b.Duets) > 0; c.duets {
			c.pairs = duetPairs(a, b)
		} else {
			c.pairs, c.isUnknown = pairs(a, b)
		}
	}
	c.decide(tolerance, seed)
	return c
}

// decide sets the outcome that the pairs show.
func (c *Comparison) decide(tolerance float64, seed uint64) {
	c.Comparison = c.pairs.Compare(tolerance, seed)
	if c.pairs.Len() > 0 && c.isBounded() {
		if measured := c.Ratio; c.isTimed() {
			c.asMeasured = &measured
		}
		c.Ratio.Lo = math.Min(c.Ratio.Lo, c.B.Estimate.Lo/c.A.Estimate.Hi)
		c.Ratio.Hi = math.Max(c.Ratio.Hi, c.B.Estimate.Hi/c.A.Estimate.Lo)
		c.Outcome = stats.OutcomeOf(c.Ratio, c.P, tolerance)
	}
	if c.undecidable() {
		c.Outcome = stats.Undecided
	}
}

// isBounded reports whether one of the times is only known to lie between bounds, whether the runs of two different
// programs may be longer by shares that differ, so that pairs of runs do not cancel them, or whether one of the estimates
// rests on other runs than the pairs.
func (c *Comparison) isBounded() bool {
	if c.Metric != "" || c.duets {
		return false
	}
	differ := c.A.Command.Path != c.B.Command.Path || !slices.Equal(c.A.Command.Args, c.B.Command.Args)
	return c.A.Method == Bounds || c.B.Method == Bounds || c.A.selected || c.B.selected || differ && (c.A.unpaired || c.B.unpaired)
}

// isTimed reports whether the pairs tell a ratio on the machine as it was: neither time is only known to lie between bounds, and
// there are enough pairs.
func (c *Comparison) isTimed() bool {
	return c.A.Method != Bounds && c.B.Method != Bounds && c.pairs.Len() >= fewestChosen
}

// widened widens bounds of the ratio to all ratios that are possible if one of the times is only bounded.
func (c *Comparison) widened(lo, hi float64) (float64, float64) {
	if c.isBounded() {
		return math.Min(lo, c.Ratio.Lo), math.Max(hi, c.Ratio.Hi)
	}
	return lo, hi
}

// InDuets reports whether the ratio rests on duets.
func (c *Comparison) InDuets() bool { return c.duets }

// Pairs returns the runs on which the ratio rests.
func (c *Comparison) Pairs() stats.Pairs { return c.pairs }

// undecidable reports whether one of the times is unusable, what sharing a core cost is unknown, or there are too few pairs. Duets tell the ratio of two
// commands whose own times something disturbed.
func (c *Comparison) undecidable() bool {
	isUnusable := !c.duets && (c.A.Verdict == stats.Unusable || c.B.Verdict == stats.Unusable)
	return c.Metric == "" && (isUnusable || c.isUnknown) || c.pairs.Len() < fewestChosen
}

// Joint bounds the ratio so that the bounds of all comparisons of a measurement hold together. They are NaN if there
// are too few pairs ([stats.PairsForJoint]), or if nothing can be compared.
func (c *Comparison) Joint(comparisons int) stats.Joint {
	if c.undecidable() {
		return stats.JointBounds(nil, nil, comparisons)
	}
	j := c.pairs.Joint(comparisons)
	j.Lo, j.Hi = c.widened(j.Lo, j.Hi)
	return j
}

// pairs returns the runs that count, of the rounds in which both commands have one. If a command leaves out runs that shared a
// core, pairs of which either run did are left out, too: what one alone leaves out would shift all ratios. isUnknown says that
// this is not possible, so that the ratio holds what sharing cost either of them.
func pairs(a, b *Result) (all stats.Pairs, isUnknown bool) {
	of := map[int]*Run{}
	for i, round := range a.rounds {
		if r := &a.Runs[i]; !r.Rejected {
			of[round] = r
		}
	}
	var first, second []*Run
	for i, round := range b.rounds {
		if x, y := of[round], &b.Runs[i]; x != nil && !y.Rejected {
			first, second = append(first, x), append(second, y)
		}
	}
	apart := func(int) bool { return true }
	if a.leavesOut || b.leavesOut {
		then, now := sharedCores(first), sharedCores(second)
		apart = func(i int) bool { return !then[i] && !now[i] }
		if n := len(slices.DeleteFunc(indices(len(first)), func(i int) bool { return !apart(i) })); n < fewestChosen || !env.SharedAlike(then, now) {
			apart, isUnknown = func(int) bool { return true }, true
		}
	}
	times := func(r *Run) stats.Bounded {
		return stats.Bounded{Lo: r.LowNs, Mid: r.TimeNs(), Hi: r.HighNs, Disturbed: r.HighNs - r.LowNs + r.waitedNs()}
	}
	for i := range first {
		if apart(i) {
			all.Add(times(first[i]), times(second[i]))
		}
	}
	return all, isUnknown
}

// sharedCores reports for each run whether it shared a core.
func sharedCores(runs []*Run) (all []bool) {
	for _, r := range runs {
		all = append(all, r.sharedCore())
	}
	return all
}
