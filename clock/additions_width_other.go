//go:build !amd64

package clock

import "math"

// AdditionsPerCycle is how many independent additions of registers this core makes in a cycle
// where nothing shares it, without what a loop takes; NaN where that is not known.
func AdditionsPerCycle() float64 { return math.NaN() }
