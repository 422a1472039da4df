package slowclock

import (
	"math"

	"chronoscope/stats"
)

// less is what is left of a value when another is taken off, with the uncertainty of
// both: the bounds of the difference are as far from it as the bounds of the two are
// from theirs, added as squares (Newcombe, "Interval Estimation for the Difference
// Between Independent Proportions", Statistics in Medicine 17, 1998, method 10; Zou
// and Donner, "Construction of Confidence Limits About Effect Measures", Statistics
// in Medicine 27, 2008). So skewed bounds near 0 stay skewed.
func less(a, b stats.Estimate) stats.Estimate {
	e := a
	e.Value = a.Value - b.Value
	e.Lo = e.Value - math.Hypot(a.Value-a.Lo, b.Hi-b.Value)
	e.Hi = e.Value + math.Hypot(a.Hi-a.Value, b.Value-b.Lo)
	return e
}

// unknown is an estimate that could not be had.
func unknown() stats.Estimate {
	nan := math.NaN()
	return stats.Estimate{Value: nan, Lo: nan, Hi: nan, Unit: "ns", Statistic: "mean"}
}
