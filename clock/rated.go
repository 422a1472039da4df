package clock

import "chronoscope/stats"

// Rated is a clock together with what was measured about it: all that a method needs to know
// about the clock with which it measures.
type Rated struct {
	*Clock
	// TickNs is the length of one tick of a reading, in nanoseconds. It is exact for a clock that
	// the system scales, and has the interval of the calibration for a counter.
	TickNs stats.Estimate
	// Rate is the measured rate from which TickNs comes; the zero value if none was measured.
	Rate Rate
	// AccuracyNs is the distance between two neighbouring values that the clock can show, in
	// nanoseconds. It is the upper end of its interval, so that bounds that rest on it hold.
	AccuracyNs float64
	// MinCostNs, MedianCostNs and P95CostNs are the cost of one call, in nanoseconds.
	MinCostNs, MedianCostNs, P95CostNs float64
}

// Ns converts a difference of readings to nanoseconds.
func (r Rated) Ns(ticks int64) float64 { return float64(ticks) * r.TickNs.Value }
