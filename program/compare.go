package program

import (
	"math"

	"chronoscope/stats"
)

// Comparison is how two commands that were measured together relate: the ratio is the time of B
// over that of A.
type Comparison struct {
	A, B *Result
	// Metric is the name of what is compared; empty for the time.
	Metric string
	stats.Comparison

	pairs stats.Pairs
}

// Compare says how B relates to A, by the pairs of runs of one round ([stats.Pairs.Compare]).
// What is only bounded of a time stays so in the ratio.
func Compare(a, b *Result, tolerance float64, seed uint64) Comparison {
	c := Comparison{A: a, B: b}
	if a.Failure == nil && b.Failure == nil {
		c.pairs = pairs(a, b)
	}
	c.decide(tolerance, seed)
	return c
}

// decide sets the outcome that the pairs show.
func (c *Comparison) decide(tolerance float64, seed uint64) {
	c.Comparison = c.pairs.Compare(tolerance, seed)
	if c.pairs.Len() > 0 && c.isBounded() {
		c.Ratio.Lo = math.Min(c.Ratio.Lo, c.B.Estimate.Lo/c.A.Estimate.Hi)
		c.Ratio.Hi = math.Max(c.Ratio.Hi, c.B.Estimate.Hi/c.A.Estimate.Lo)
		c.Outcome = stats.OutcomeOf(c.Ratio, c.P, tolerance)
	}
	if c.undecidable() {
		c.Outcome = stats.Undecided
	}
}

// isBounded reports whether one of the times is only known to lie between two others.
func (c *Comparison) isBounded() bool {
	return c.Metric == "" && (c.A.Method == Bounds || c.B.Method == Bounds)
}

// widened are bounds of the ratio that hold all that is possible, as the interval of Ratio does.
func (c *Comparison) widened(lo, hi float64) (float64, float64) {
	if c.isBounded() {
		return math.Min(lo, c.Ratio.Lo), math.Max(hi, c.Ratio.Hi)
	}
	return lo, hi
}

// Pairs are the runs that the ratio rests on.
func (c *Comparison) Pairs() stats.Pairs { return c.pairs }

// undecidable reports whether one of both times is unusable, or the pairs are too few.
func (c *Comparison) undecidable() bool {
	isUnusable := c.A.Verdict == stats.Unusable || c.B.Verdict == stats.Unusable
	return c.Metric == "" && isUnusable || c.pairs.Len() < fewestChosen
}

// Joint bounds the ratio so that it holds together with those of all comparisons of a
// measurement; the bounds are NaN where the pairs are too few ([stats.PairsForJoint]), or
// nothing can be compared.
func (c *Comparison) Joint(comparisons int) stats.Joint {
	if c.undecidable() {
		return stats.JointBounds(nil, nil, comparisons)
	}
	j := c.pairs.Joint(comparisons)
	j.Lo, j.Hi = c.widened(j.Lo, j.Hi)
	return j
}

// pairs are the runs of rounds in which both were run, and that count.
func pairs(a, b *Result) (all stats.Pairs) {
	of := map[int]*Run{}
	for i, round := range a.rounds {
		if !a.Runs[i].Rejected {
			of[round] = &a.Runs[i]
		}
	}
	times := func(r *Run) stats.Bounded {
		return stats.Bounded{Lo: r.LowNs, Mid: r.TimeNs(), Hi: r.HighNs, Disturbed: r.HighNs - r.LowNs + r.waitedNs()}
	}
	for i, round := range b.rounds {
		if first := of[round]; first != nil && !b.Runs[i].Rejected {
			all.Add(times(first), times(&b.Runs[i]))
		}
	}
	return all
}
