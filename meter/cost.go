package meter

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// Limits of the measurement of a clock's cost.
const (
	costBatches = 16
	costCalls   = 64
)

// costOf measures the clock's own cost: the length of an empty interval between Start and Stop, on
// average. It consists of the end of the first reading and the beginning of the second, together the
// time of one reading. Its bounds are the fastest batch of readings and a whole pair of Start and Stop,
// since code that first has to fetch the clock into its caches pays more.
func costOf(source Source) stats.Estimate {
	if source.costNs != nil {
		return *source.costNs
	}
	probe := &Meter{source: source, oneIn: 1, shards: newShards(source.eachCall)}
	probe.begun = probe.now()
	probe.ledger.open(probe.begun)
	var readings, pairs []float64
	for range costBatches {
		readings = append(readings, perCallNs(source.fine, func() { source.clock.Read() }))
		pairs = append(pairs, perCallNs(source.fine, func() { probe.Stop(probe.Start()) }))
	}
	value := stats.Median(readings)
	return stats.Estimate{
		Value: value, Lo: slices.Min(readings), Hi: math.Max(value, stats.Median(pairs)),
		Unit: "ns", Statistic: "median", N: costBatches,
	}
}

// timedCostOf measures an upper bound, in ns, of what the clocks add to a call that the finer clock times too:
// four whole readings.
func timedCostOf(source Source) float64 {
	if source.costNs != nil {
		return 0
	}
	var costs []float64
	for range costBatches {
		costs = append(costs, perCallNs(source.fine, func() {
			source.fine()
			source.clock.Read()
			source.clock.Read()
			source.fine()
		}))
	}
	return stats.Median(costs)
}

func perCallNs(fine func() int64, call func()) float64 {
	start := fine()
	for range costCalls {
		call()
	}
	return float64(fine()-start) / costCalls
}
