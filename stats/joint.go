package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// FalseAlarms is the probability that a suite of comparisons in which nothing changed is called slower
// as a whole.
const FalseAlarms = 0.01

// Joint bounds a ratio such that the bounds of all comparisons of a suite hold at once: the probability
// that any lower bound is wrong is at most FalseAlarms, and the same holds for the upper bounds. A
// single bound may be wrong with that probability divided by the number of comparisons (Bonferroni;
// also the first step of Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian
// Journal of Statistics 6, 1979).
type Joint struct {
	// Lo and Hi are NaN if there are too few samples.
	Lo, Hi float64
	// FalseAlarms is the probability of an error, and Comparisons the number of comparisons.
	FalseAlarms float64
	Comparisons int
}

// JointBounds returns the joint bounds of a ratio in a suite of the given number of comparisons. low and
// high are lower and upper bounds of the ratio in each pair of samples.
func JointBounds(low, high []float64, comparisons int) Joint {
	j := Joint{FalseAlarms: FalseAlarms, Comparisons: comparisons}
	j.Lo, _ = MedianBounds(low, FalseAlarms/float64(comparisons))
	_, j.Hi = MedianBounds(high, FalseAlarms/float64(comparisons))
	return j
}

// PairsForJoint returns how many pairs each comparison of a suite needs, so that one disturbed pair does
// not hide a difference.
func PairsForJoint(comparisons int) int {
	return SamplesForMedian(FalseAlarms/float64(max(1, comparisons)), 1)
}

// JointOf returns the joint bounds of a ratio in a suite of the given number of comparisons, for
// a ratio with known value and interval but unknown samples. On a logarithmic scale, it moves
// each bound away from the value by a factor: the quantile of Student's distribution at the
// suite's probability divided by that at the interval's probability, with one degree of freedom
// less than there are samples. For a single sample, or an unknown number of samples, the
// quantiles are those of the normal distribution.
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
