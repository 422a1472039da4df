package program

import (
	"math"

	"chronoscope/stats"
)

// Outcome is how the second of two commands does beside the first.
type Outcome string

// The outcomes.
const (
	Faster    Outcome = "faster"
	Slower    Outcome = "slower"
	Same      Outcome = "same" // within the tolerance
	Undecided Outcome = "undecided"
)

// Comparison is how two commands that were measured together relate.
type Comparison struct {
	A, B *Result
	// Ratio is the time of B over that of A: below 1, B is the faster one.
	Ratio stats.Estimate
	// P is how probable it is that equal commands differ as much, by the ranks of their
	// runs ([stats.PermutationTest]); NaN where there are none.
	P       float64
	Outcome Outcome

	low, high []float64 // ratio of each pair of runs: its bounds
}

// significant is a P value below this.
const significant = 1 - stats.Confidence

// Compare says how B relates to A. They are the same where the ratio's interval lies within
// the tolerance about 1, a share; B is slower or faster where the interval excludes 1 and P
// is below 0.05.
//
// Runs of one round follow one another, so that what slows the machine hits both and
// cancels. What is only bounded of a time stays so in the ratio.
func Compare(a, b *Result, tolerance float64, seed uint64) Comparison {
	nan := math.NaN()
	c := Comparison{A: a, B: b, P: nan, Outcome: Undecided, Ratio: stats.Estimate{Value: nan, Lo: nan, Hi: nan, Unit: "ratio", Statistic: "median"}}
	if a.Failure != nil || b.Failure != nil {
		return c
	}
	var middle, first, second []float64
	for _, p := range pairs(a, b) {
		if p.a.LowNs <= 0 || p.b.LowNs <= 0 {
			continue
		}
		c.low, c.high = append(c.low, p.b.LowNs/p.a.HighNs), append(c.high, p.b.HighNs/p.a.LowNs)
		middle = append(middle, p.b.TimeNs()/p.a.TimeNs())
		first, second = append(first, p.a.TimeNs()), append(second, p.b.TimeNs())
	}
	if len(middle) == 0 {
		return c
	}
	c.Ratio = median(middle)
	c.Ratio.Unit = "ratio"
	c.Ratio.Lo, c.Ratio.Hi = median(c.low).Lo, median(c.high).Hi
	if a.Method == Bounds || b.Method == Bounds {
		c.Ratio.Lo = math.Min(c.Ratio.Lo, b.Estimate.Lo/a.Estimate.Hi)
		c.Ratio.Hi = math.Max(c.Ratio.Hi, b.Estimate.Hi/a.Estimate.Lo)
	}
	if p, err := stats.PermutationTest(first, second, seed); err == nil {
		c.P = p
	}
	switch {
	case a.Verdict == stats.Unusable || b.Verdict == stats.Unusable || len(middle) < fewestChosen:
	case c.Ratio.Lo >= 1-tolerance && c.Ratio.Hi <= 1+tolerance:
		c.Outcome = Same
	case c.P < significant && c.Ratio.Hi < 1:
		c.Outcome = Faster
	case c.P < significant && c.Ratio.Lo > 1:
		c.Outcome = Slower
	}
	return c
}

// Joint bounds the ratio so that it holds together with those of all comparisons of a
// measurement; the bounds are NaN where the pairs are too few ([stats.PairsForJoint]), or
// nothing can be compared.
func (c *Comparison) Joint(comparisons int) stats.Joint {
	if c.A.Verdict == stats.Unusable || c.B.Verdict == stats.Unusable || len(c.low) < fewestChosen {
		return stats.JointBounds(nil, nil, comparisons)
	}
	j := stats.JointBounds(c.low, c.high, comparisons)
	if c.A.Method == Bounds || c.B.Method == Bounds { // as the interval of Ratio does
		j.Lo, j.Hi = math.Min(j.Lo, c.Ratio.Lo), math.Max(j.Hi, c.Ratio.Hi)
	}
	return j
}

// pair is two runs of one round.
type pair struct{ a, b *Run }

// pairs are the runs of rounds in which both were run, and that count.
func pairs(a, b *Result) (all []pair) {
	of := map[int]*Run{}
	for i, round := range a.rounds {
		if !a.Runs[i].Rejected {
			of[round] = &a.Runs[i]
		}
	}
	for i, round := range b.rounds {
		if first := of[round]; first != nil && !b.Runs[i].Rejected {
			all = append(all, pair{first, &b.Runs[i]})
		}
	}
	return all
}
