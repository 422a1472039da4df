package gobench

import (
	"fmt"
	"math"
	"slices"

	"chronoscope/stats"
)

// Outcome is how the second of two benchmarks does beside the first.
type Outcome string

// The outcomes.
const (
	Faster    Outcome = "faster"
	Slower    Outcome = "slower"
	Same      Outcome = "same" // within the tolerance
	Undecided Outcome = "undecided"
)

// significant is a P value below this.
const significant = 1 - stats.Confidence

// leastPairs of repetitions bound the median of their ratios.
var leastPairs = stats.SamplesForMedian(significant/2, 0)

// Comparison is how two benchmarks that were measured in one group relate.
type Comparison struct {
	A, B *Result
	// Basis is what both times rest on. It may be another one than that of A or B.
	Basis Basis
	// Ratio is the time of B over that of A: below 1, B is the faster one.
	Ratio stats.Estimate
	// P is how probable it is that equal benchmarks differ as much, by the signed ranks
	// of the pairs of repetitions ([stats.PairedPermutationTest]); NaN where there are no
	// pairs. Code that is the same may lie elsewhere in another binary, and take longer
	// for it: a small difference that is significant may be of that kind.
	P       float64
	Outcome Outcome
	// Why says why the outcome is undecided; it is empty otherwise.
	Why string

	low, middle, high []float64 // ratio of each pair: its bounds, and what lies between
}

// Compare says how B relates to A. They are the same where the ratio's interval lies
// within the tolerance about 1, a share; B is slower or faster where the interval
// excludes 1 and P is below 0.05. Of several comparisons, [Comparison.Joint] says what
// holds for all of them.
//
// Repetitions next to one another share the state of the machine, so that what hits
// both cancels: as the two are run in random order, a repetition of equal code is as
// likely to be the slower of the pair as the faster, whatever the machine does. Both are
// compared on one basis that both have. Where a time is only bounded, so is the ratio.
func Compare(a, b *Result, tolerance float64, seed uint64) Comparison {
	nan := math.NaN()
	c := Comparison{A: a, B: b, P: nan, Outcome: Undecided, Ratio: stats.Estimate{Value: nan, Lo: nan, Hi: nan, Unit: "ratio", Statistic: "median"}}
	c.pair()
	if len(c.middle) == 0 {
		c.Why = "no repetition of the one has its pair in the other"
		return c
	}
	c.Ratio = median(c.middle, "ratio")
	c.Ratio.Lo, c.Ratio.Hi = median(c.low, "ratio").Lo, median(c.high, "ratio").Hi
	logs := make([]float64, len(c.middle))
	for i, r := range c.middle {
		logs[i] = math.Log(r)
	}
	if p, err := stats.PairedPermutationTest(logs, seed); err == nil {
		c.P = p
	}
	switch {
	case c.unusable():
		c.Why = "one of both is unusable"
	case len(c.middle) < leastPairs:
		c.Why = fmt.Sprintf("%d pairs of repetitions are too few to tell, %d are needed", len(c.middle), leastPairs)
	case c.Ratio.Lo >= 1-tolerance && c.Ratio.Hi <= 1+tolerance:
		c.Outcome = Same
	case c.P < significant && c.Ratio.Hi < 1:
		c.Outcome = Faster
	case c.P < significant && c.Ratio.Lo > 1:
		c.Outcome = Slower
	default:
		c.Why = fmt.Sprintf("the interval of the ratio goes from %.4g to %.4g, beyond what counts as the same", c.Ratio.Lo, c.Ratio.Hi)
	}
	return c
}

func (c *Comparison) unusable() bool {
	return c.A.Verdict == stats.Unusable || c.B.Verdict == stats.Unusable
}

// Joint bounds the ratio so that it holds together with those of all comparisons of a
// suite; the bounds are NaN where the pairs are too few ([stats.PairsForJoint]), or a
// result is unusable.
func (c *Comparison) Joint(comparisons int) stats.Joint {
	if c.unusable() {
		return stats.JointBounds(nil, nil, comparisons)
	}
	return stats.JointBounds(c.low, c.high, comparisons)
}

// pair takes the ratios of the repetitions that follow one another.
func (c *Comparison) pair() {
	a, b := c.A, c.B
	c.Basis = commonBasis(a, b)
	first, second := a.comparable[c.Basis], b.comparable[c.Basis]
	rounding := a.roundingShare + b.roundingShare
	for i, at := range b.at {
		j, paired := slices.BinarySearch(a.at, at)
		if !paired || !(first[j].lo > 0 && second[i].lo > 0) {
			continue
		}
		c.low = append(c.low, second[i].lo/first[j].hi*(1-rounding))
		c.middle = append(c.middle, (second[i].lo+second[i].hi)/(first[j].lo+first[j].hi))
		c.high = append(c.high, second[i].hi/first[j].lo*(1+rounding))
	}
}

// commonBasis is what the times of both may rest on: each is right for one that neither
// waited, or computed all the time, whichever its own estimate rests on.
func commonBasis(a, b *Result) Basis {
	switch {
	case a.Basis == b.Basis:
		return a.Basis
	case a.undelayed && b.undelayed:
		return Timer
	case a.alone && b.alone:
		return CPUTime
	}
	return Bounds
}
