package timermeter

import (
	"math"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Rated returns a clock with what this rating says about it. rate is the rate of the processor's
// counter, nil if it could not be measured. It gives the length of a tick if the clock's own unit is
// not known. The ticks of a clock that counts events have no length.
func (r Rating) Rated(c *clock.Clock, rate *clock.Rate) clock.Rated {
	tick := stats.Estimate{Value: c.UnitNs, Lo: c.UnitNs, Hi: c.UnitNs, Unit: "ns", Statistic: "given"}
	switch {
	case c.UnitNs > 0:
	case rate == nil || countsEvents(c):
		tick.Value, tick.Lo, tick.Hi = math.NaN(), math.NaN(), math.NaN()
	default:
		tick = rate.Tick()
	}
	accuracy := r.Accuracy.Hi
	if math.IsNaN(accuracy) {
		accuracy = r.Accuracy.Value
	}
	return clock.Rated{
		Clock: c, TickNs: tick, AccuracyNs: accuracy,
		MinCostNs: r.Cost.MinNs.Value(), MedianCostNs: r.Cost.MedianNs.Value(), P95CostNs: r.Cost.P95Ns.Value(),
	}
}
