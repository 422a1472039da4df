package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// FalseAlarms is the chance with which a suite of comparisons in which nothing changed is
// called slower, as a whole.
const FalseAlarms = 0.01

// Joint bounds a ratio so that the bounds of all comparisons of a suite hold at once: the chance
// that any lower end is wrong is at most FalseAlarms, and so for the upper ends. Each alone may be
// wrong with that chance divided by the number of comparisons (Bonferroni; also the first step of
// Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of
// Statistics 6, 1979).
type Joint struct {
	// Lo and Hi are NaN where there are too few samples.
	Lo, Hi float64
	// FalseAlarms is the chance, Comparisons is how many there are.
	FalseAlarms float64
	Comparisons int
}

// JointBounds are those of a ratio of which pairs of samples are known from below and from
// above, in a suite of the given number of comparisons.
func JointBounds(low, high []float64, comparisons int) Joint {
	j := Joint{FalseAlarms: FalseAlarms, Comparisons: comparisons}
	j.Lo, _ = MedianBounds(low, FalseAlarms/float64(comparisons))
	_, j.Hi = MedianBounds(high, FalseAlarms/float64(comparisons))
	return j
}

// PairsForJoint is how many pairs each comparison of a suite takes, so that one disturbed
// pair of them hides no difference.
func PairsForJoint(comparisons int) int {
	return SamplesForMedian(FalseAlarms/float64(max(1, comparisons)), 1)
}

// JointOf are those of a ratio of which nothing but its value and interval is known, in a
// suite of the given number of comparisons. On the scale of logarithms each bound is as many times as far
// from the value as the quantile of Student's distribution at the suite's chance is of that
// at the interval's, with one degree of freedom less than there are samples; of a single
// sample, or an unknown number, the quantiles are those of the normal distribution.
func JointOf(ratio Estimate, comparisons int) Joint {
	j := Joint{Lo: math.NaN(), Hi: math.NaN(), FalseAlarms: FalseAlarms, Comparisons: comparisons}
	if !(ratio.Lo > 0 && ratio.Value >= ratio.Lo && ratio.Hi >= ratio.Value) {
		return j
	}
	quantile := distuv.UnitNormal.Quantile
	if ratio.N > 1 {
		quantile = distuv.StudentsT{Sigma: 1, Nu: float64(ratio.N - 1)}.Quantile
	}
	wider := math.Max(1, quantile(1-FalseAlarms/float64(max(1, comparisons)))/quantile(1-tail))
	j.Lo = ratio.Value * math.Exp(-wider*math.Log(ratio.Value/ratio.Lo))
	j.Hi = ratio.Value * math.Exp(wider*math.Log(ratio.Hi/ratio.Value))
	return j
}
