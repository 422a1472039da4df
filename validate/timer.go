package validate

import (
	"time"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Timer is what a row of Figure 9.21 of Bryant 2003 says of a clock, in nanoseconds.
type Timer struct {
	Name string `json:"name"`
	// ResolutionNs is by how much the clock moved when it moved at last: the median of
	// some such steps. Nil where it did not move in the time.
	ResolutionNs *float64 `json:"resolution_ns"`
	// LatencyNs is what a call takes, by many in a row.
	LatencyNs float64 `json:"latency_ns"`
}

// timersShown are gettimeofday and its kin.
var timersShown = []string{"gettimeofday", "go-time-now", "monotonic", "monotonic-coarse", "times", "clock", "getrusage-self"}

// How long each is looked at.
const (
	forLatency, forSteps = 5 * time.Millisecond, 30 * time.Millisecond
	steps                = 15
)

// Timers looks at gettimeofday and its kin, as far as this system has them. It takes some
// 100 ms.
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

func resolution(c *clock.Clock) *float64 {
	var moves []float64
	last, begun := c.Read(), time.Now()
	for len(moves) < steps && time.Since(begun) < forSteps {
		now := c.Read()
		if now > last {
			moves = append(moves, float64(now-last)*c.UnitNs)
		}
		last = now
	}
	return stats.Finite(stats.Median(moves))
}
