package clock

import "chronoscope/stats"

// Rated is a clock with what was measured of it: all that a method needs to know
// of the clock that it measures with.
type Rated struct {
	*Clock
	// TickNs is the length of one tick of a reading, in nanoseconds: exact for a
	// clock that the system scales, with the interval of its calibration for a
	// counter.
	TickNs stats.Estimate
	// Rate is how the length of the tick was measured; the zero value where it was not.
	Rate Rate
	// AccuracyNs is the distance between two values that the clock can show, in
	// nanoseconds; the upper end of its interval, so that bounds that rest on it
	// hold.
	AccuracyNs float64
	// MinCostNs, MedianCostNs and P95CostNs are the cost of one call, in nanoseconds.
	MinCostNs, MedianCostNs, P95CostNs float64
}

// Ns turns a difference of readings into nanoseconds.
func (r Rated) Ns(ticks int64) float64 { return float64(ticks) * r.TickNs.Value }
