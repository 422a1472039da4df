//go:build !linux

package machine

import "math"

// ownCPUNs is not known: there is nothing to hold it against.
func ownCPUNs() float64 { return math.NaN() }
