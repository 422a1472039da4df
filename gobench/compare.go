package gobench

import (
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

// Comparison is how two benchmarks that were measured in one group relate.
type Comparison struct {
	A, B *Result
	// Ratio is the time of B over that of A: below 1, B is the faster one.
	Ratio stats.Estimate
	// P is how probable it is that equal benchmarks differ as much, by the signed ranks
	// of the pairs of repetitions ([stats.PairedPermutationTest]); NaN where there are no
	// pairs. Code that is the same may lie elsewhere in another binary, and take longer
	// for it: a small difference that is significant may be of that kind.
	P       float64
	Outcome Outcome
}

// Compare says how B relates to A. They are the same where the ratio's interval lies
// within the tolerance about 1, a share; B is slower or faster where the interval
// excludes 1 and P is below 0.05.
//
// Repetitions next to one another share the state of the machine, so that what hits
// both cancels. Where a time is only bounded, or the two rest on different figures, the
// ratio is no better known than the two together.
func Compare(a, b *Result, tolerance float64, seed uint64) Comparison {
	nan := math.NaN()
	c := Comparison{A: a, B: b, P: nan, Outcome: Undecided, Ratio: stats.Estimate{Value: nan, Lo: nan, Hi: nan, Unit: "ratio", Statistic: "median"}}
	if a.Verdict == stats.Unusable || b.Verdict == stats.Unusable {
		return c
	}
	var ratios, logs []float64
	for i, at := range b.at {
		j, paired := slices.BinarySearch(a.at, at)
		if !paired {
			continue
		}
		if r := b.Times[i] / a.Times[j]; r > 0 && !math.IsInf(r, 0) {
			ratios, logs = append(ratios, r), append(logs, math.Log(r))
		}
	}
	if len(ratios) == 0 {
		return c
	}
	c.Ratio = median(ratios, "ratio")
	rounding := a.roundingShare + b.roundingShare
	c.Ratio.Lo, c.Ratio.Hi = c.Ratio.Lo*(1-rounding), c.Ratio.Hi*(1+rounding)
	if a.Basis == Bounds || b.Basis == Bounds || a.Basis != b.Basis {
		c.Ratio.Lo = math.Min(c.Ratio.Lo, b.Estimate.Lo/a.Estimate.Hi)
		c.Ratio.Hi = math.Max(c.Ratio.Hi, b.Estimate.Hi/a.Estimate.Lo)
	}
	if p, err := stats.PairedPermutationTest(logs, seed); err == nil {
		c.P = p
	}
	switch {
	case c.Ratio.Lo >= 1-tolerance && c.Ratio.Hi <= 1+tolerance:
		c.Outcome = Same
	case c.P < significant && c.Ratio.Hi < 1:
		c.Outcome = Faster
	case c.P < significant && c.Ratio.Lo > 1:
		c.Outcome = Slower
	}
	return c
}
