package program

import (
	"math"

	"chronoscope/stats"
)

// Comparison is how two commands that were measured together relate: the ratio is the time of B
// over that of A.
type Comparison struct {
	A, B *Result
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
	c.Comparison = c.pairs.Compare(tolerance, seed)
	if c.pairs.Len() > 0 && (a.Method == Bounds || b.Method == Bounds) {
		c.Ratio.Lo = math.Min(c.Ratio.Lo, b.Estimate.Lo/a.Estimate.Hi)
		c.Ratio.Hi = math.Max(c.Ratio.Hi, b.Estimate.Hi/a.Estimate.Lo)
		c.Outcome = stats.OutcomeOf(c.Ratio, c.P, tolerance)
	}
	if c.undecidable() {
		c.Outcome = stats.Undecided
	}
	return c
}

// Pairs are the runs that the ratio rests on.
func (c *Comparison) Pairs() stats.Pairs { return c.pairs }

// undecidable reports whether one of both is unusable, or the pairs are too few.
func (c *Comparison) undecidable() bool {
	return c.A.Verdict == stats.Unusable || c.B.Verdict == stats.Unusable || c.pairs.Len() < fewestChosen
}

// Joint bounds the ratio so that it holds together with those of all comparisons of a
// measurement; the bounds are NaN where the pairs are too few ([stats.PairsForJoint]), or
// nothing can be compared.
func (c *Comparison) Joint(comparisons int) stats.Joint {
	if c.undecidable() {
		return stats.JointBounds(nil, nil, comparisons)
	}
	j := c.pairs.Joint(comparisons)
	if c.A.Method == Bounds || c.B.Method == Bounds { // as the interval of Ratio does
		j.Lo, j.Hi = math.Min(j.Lo, c.Ratio.Lo), math.Max(j.Hi, c.Ratio.Hi)
	}
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
