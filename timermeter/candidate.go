package timermeter

import (
	"context"

	"chronoscope/clock"
	"chronoscope/clock/check"
)

// Surroundings is what the candidates for this process's own clocks share: the clock that times
// their calls, and the references.
type Surroundings struct {
	// Timer is the finest clock. It times the calls, and Reference holds its properties.
	Timer     *clock.Clock
	Reference Reference
	// Time is the reference for rates. A clock can't be its own reference; the reference of Time
	// is Second.
	Time, Second clock.Rated
	// CPUs are the CPUs whose threads hand readings over to one another.
	CPUs []int
}

// FromClock returns a candidate for a clock whose ticks are unitNs long, with a relative error of
// up to unitError.
func FromClock(c *clock.Clock, unitNs, unitError float64, s Surroundings) Candidate {
	candidate := Candidate{
		Clock: *c,
		Subject: Subject{
			UnitNs: unitNs, UnitError: unitError,
			Chain:     c.Chain,
			Calls:     func(batch int, durations []int64) { calls(c, s.Timer, batch, durations) },
			Frames:    func(_ int, durations []int64) { calls(c, s.Timer, 0, durations) },
			Reference: s.Reference,
		},
	}
	if !countsEvents(c) {
		ref := s.Time
		if ref.Name == c.Name {
			ref = s.Second
		}
		candidate.ReferenceTickNs = ref.TickNs.Value
		candidate.Pair = func() clock.Sandwich { return clock.TakeSandwich(c, ref.Clock) }
	}
	if len(s.CPUs) > 1 {
		candidate.HandOver = func(ctx context.Context, n int) ([]check.Handed, error) {
			return check.HandOver(ctx, s.CPUs, c.Start, 1+n/len(s.CPUs))
		}
	}
	return candidate
}

// countsEvents reports whether the clock counts events of its thread, such as cycles and
// instructions. Their rate is no property of the clock.
func countsEvents(c *clock.Clock) bool {
	return c.Kind == clock.KindCounter && c.Scope == clock.ScopeThread
}

// calls fills durations: each element becomes the time, in units of the timer, that batch calls of c take between two
// readings of the timer.
func calls(c, timer *clock.Clock, batch int, durations []int64) {
	for i := range durations {
		start := timer.Start()
		for range batch {
			c.Read()
		}
		durations[i] = timer.End() - start
	}
}
