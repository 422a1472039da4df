package timermeter

import "math"

// Quality is the unified metric of Kuperberg 2011a, Formula (1):
//
//	accuracy^-0.1 x median invocation cost^-0.1 x spread^0.5
//
// with accuracy and cost in cycles of the core, at least 1 each (section 4.1),
// and spread the share of invocation costs within one accuracy of their median.
// It lies between 0 and 1. Section 4.4 keeps the value 0 for a clock that is
// non-monotonic, unstable or not thread-safe; the caller has to know whether it is.
//
// It is NaN where an input is.
func Quality(accuracyCycles, costCycles, spread float64) float64 {
	return math.Pow(atLeastOne(accuracyCycles), -0.1) *
		math.Pow(atLeastOne(costCycles), -0.1) *
		math.Sqrt(spread)
}

func atLeastOne(cycles float64) float64 { return math.Max(cycles, 1) }
