package slowclock

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"chronoscope/stats"
)

// truth returns the mean of n executions that the finer clock timed, minus the cost of its own
// readings. The interval includes that clock's resolution, rate and cost, but not the scatter of
// executions.
func (l *laboratory) truth(sum, n int64) stats.Estimate {
	if l.Fine == nil || n == 0 {
		return stats.NoEstimate("ns", "mean")
	}
	cost, half := l.fineCost()
	return l.watchedMean(sum, n, cost, math.Hypot(half, z95*l.Fine.AccuracyNs/math.Sqrt(6*float64(n))))
}

// watchedMean returns the mean of n executions from the sum of their ticks by the finer clock,
// minus otherNs, which is known within ± half.
func (l *laboratory) watchedMean(sum, n int64, otherNs, half float64) stats.Estimate {
	e := stats.NoEstimate("ns", "mean")
	e.N = int(n)
	e.Value = l.Fine.Ns(sum)/float64(n) - otherNs
	half = math.Hypot(half, math.Abs(e.Value)*l.Fine.TickNs.RelativeHalfWidth())
	e.Lo, e.Hi = e.Value-half, e.Value+half
	return e
}

// fineCost measures the time between two readings of the fine clock with nothing in between. It
// returns the mean of the lower nine tenths, and 1.96 standard errors.
func (l *laboratory) fineCost() (mean, halfWidth float64) {
	const pairs, calm = 2048, 1843
	costs := make([]float64, pairs)
	for i := range costs {
		start := l.Fine.Start()
		nothing()
		costs[i] = l.Fine.Ns(l.Fine.End() - start)
	}
	slices.Sort(costs)
	costs = costs[:calm]
	mean, variance := stat.PopMeanVariance(costs, nil)
	variance += l.Fine.AccuracyNs * l.Fine.AccuracyNs / 6
	return mean, z95 * math.Sqrt(variance/calm)
}
