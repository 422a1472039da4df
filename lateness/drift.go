package lateness

import (
	"math"
	"time"

	"gonum.org/v1/gonum/stat"

	"chronoscope/stats"
)

// grain is the coarsest grain of a timer that is expected: Go waits for its own by epoll, in whole milliseconds.
const grain = time.Millisecond

// slope returns the drift of a periodic timer: the mean over the rounds of the slope of lateness over time. Its
// interval is the sum of two. Student's for the differences between the rounds is one: the wake-ups of a round are not
// independent, since neighbours are late together. The other holds what tilts all rounds alike. The lateness of a
// timer without drift may rise by a period, or by a grain, through a round of length L, or leap back once and rise again:
// its median slope is then up to 2 periods / L.
func (c *cell) slope() stats.Estimate {
	most := 0
	for _, s := range c.series {
		most = max(most, len(s.lateNs))
	}
	var slopes []float64
	bound, wakes := 0.0, 0
	for _, s := range c.series {
		line, err := stats.TheilSen(s.moments, s.lateNs)
		if err != nil || len(s.lateNs) < most/2 { // it was interrupted
			continue
		}
		slopes, wakes = append(slopes, line.Slope.Value/float64(c.length)), wakes+len(s.lateNs)
		span := s.moments[len(s.moments)-1] - s.moments[0]
		bound += 2 * max(1, float64(grain)/float64(c.length)) / span
	}
	if len(slopes) < 2 {
		return stats.NoEstimate("ppm", "slope")
	}
	n := float64(len(slopes))
	mean, deviation := stat.MeanStdDev(slopes, nil)
	half := stats.StudentT(n-1)*deviation/math.Sqrt(n) + bound/n
	e := stats.Estimate{Value: mean, Lo: mean - half, Hi: mean + half, Statistic: "theil-sen", N: wakes}
	return e.Scaled(1e6, "ppm")
}
