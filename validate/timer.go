package validate

import (
	"time"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Timer is a row of Figure 9.21 of Bryant 2003: a clock's resolution and latency.
type Timer struct {
	Name string `json:"name"`
	// ResolutionNs is the median of the steps in which the clock advances; missing if it did not
	// advance while it was watched.
	ResolutionNs stats.Float `json:"resolution_ns"`
	// LatencyNs is the time of a call, as the mean of many calls in a row.
	LatencyNs float64 `json:"latency_ns"`
}

// timersShown are gettimeofday and similar clocks.
var timersShown = []string{"gettimeofday", "go-time-now", "monotonic", "monotonic-coarse", "times", "clock", "getrusage-self"}

// forLatency is the time for which each clock is called. It is then watched until it has advanced in `steps` steps, for
// forSteps at most.
const (
	forLatency, forSteps = 5 * time.Millisecond, 30 * time.Millisecond
	steps                = 15
)

// Timers measures gettimeofday and similar clocks, as far as this system has them, in about 100 ms.
func Timers() []Timer {
	all := []Timer{}
	for _, name := range timersShown {
		c, err := clock.Open(name)
		if err != nil {
			continue
		}
		all = append(all, Timer{Name: name, ResolutionNs: resolution(c), LatencyNs: latency(c)})
		c.Close()
	}
	return all
}

func latency(c *clock.Clock) float64 {
	const calls = 1000
	n, begun := 0, time.Now()
	for ; time.Since(begun) < forLatency; n += calls {
		for range calls {
			c.Read()
		}
	}
	return float64(time.Since(begun)) / float64(n)
}

func resolution(c *clock.Clock) stats.Float {
	var moves []float64
	last, begun := c.Read(), time.Now()
	for len(moves) < steps && time.Since(begun) < forSteps {
		now := c.Read()
		if now > last {
			moves = append(moves, float64(now-last)*c.UnitNs)
		}
		last = now
	}
	return stats.FloatOf(stats.Median(moves))
}
