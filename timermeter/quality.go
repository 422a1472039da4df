package timermeter

import "math"

// Quality returns the unified metric of Kuperberg 2011a, Formula (1):
//
// accuracy^-0.1 x median invocation cost^-0.1 x spread^0.5
//
// Accuracy and cost are in cycles of the core, and values below 1 count as 1 (section 4.1). Spread
// is the share of invocation costs within one accuracy of their median. The result lies between 0
// and 1. Section 4.4 reserves the value 0 for a clock that is non-monotonic, unstable or not
// thread-safe; the caller has to check that.
//
// The result is NaN if an argument is.
func Quality(accuracyCycles, costCycles, spread float64) float64 {
	return math.Pow(atLeastOne(accuracyCycles), -0.1) *
		math.Pow(atLeastOne(costCycles), -0.1) *
		math.Sqrt(spread)
}

func atLeastOne(cycles float64) float64 { return math.Max(cycles, 1) }
