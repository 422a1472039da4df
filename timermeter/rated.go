package timermeter

import (
	"math"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Rated is a clock with what this rating says of it. rate is that of the
// processor's counter, nil where it could not be measured; clocks whose ticks have
// no length of their own take it. The ticks of one that counts events have none.
func (r Rating) Rated(c *clock.Clock, rate *clock.Rate) clock.Rated {
	tick := stats.Estimate{Value: c.UnitNs, Lo: c.UnitNs, Hi: c.UnitNs, Unit: "ns", Statistic: "given"}
	switch {
	case c.UnitNs > 0:
	case rate == nil || countsEvents(c):
		tick.Value, tick.Lo, tick.Hi = math.NaN(), math.NaN(), math.NaN()
	default:
		hz := rate.Hz
		tick = stats.Estimate{
			Value: 1e9 / hz.Value, Lo: 1e9 / hz.Hi, Hi: 1e9 / hz.Lo,
			Unit: "ns", Statistic: hz.Statistic, N: hz.N, Discarded: hz.Discarded,
		}
	}
	accuracy := r.Accuracy.Hi
	if math.IsNaN(accuracy) {
		accuracy = r.Accuracy.Value
	}
	return clock.Rated{
		Clock: c, TickNs: tick, AccuracyNs: accuracy,
		MinCostNs: r.Cost.MinNs, MedianCostNs: r.Cost.MedianNs, P95CostNs: r.Cost.P95Ns,
	}
}
