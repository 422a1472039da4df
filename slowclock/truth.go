package slowclock

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// truth is the mean of n executions that the finer clock watched one by one, with that
// sum of ticks, without what its own readings take. The interval is not one of what
// other executions would take: it holds the clock's step, its rate and its cost.
func (l *laboratory) truth(sum, n int64) stats.Estimate {
	if l.Fine == nil || n == 0 {
		return stats.NoEstimate("ns", "mean")
	}
	cost, half := l.fineCost()
	return l.watchedMean(sum, n, cost, math.Hypot(half, z95*l.Fine.AccuracyNs/math.Sqrt(6*float64(n))))
}

// watchedMean is the mean of n executions in so many ticks of the finer clock, less what
// else was in them, which is known within ± half.
func (l *laboratory) watchedMean(sum, n int64, otherNs, half float64) stats.Estimate {
	e := stats.NoEstimate("ns", "mean")
	e.N = int(n)
	e.Value = l.Fine.Ns(sum)/float64(n) - otherNs
	half = math.Hypot(half, math.Abs(e.Value)*l.Fine.TickNs.RelativeHalfWidth())
	e.Lo, e.Hi = e.Value-half, e.Value+half
	return e
}

// fineCost is what the fine clock shows where nothing happens between its readings,
// by the lesser nine tenths of many, and 1.96 standard errors of it.
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
	mean, squares := meanAndSquares(costs)
	n := float64(len(costs))
	variance := squares/n + l.Fine.AccuracyNs*l.Fine.AccuracyNs/6
	return mean, z95 * math.Sqrt(variance/n)
}
