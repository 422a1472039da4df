package kbest

import (
	"math"
	"math/rand/v2"
	"time"
)

// bursts is the number of bursts into which the first [FewestTrials] are divided. The bursts are spread over
// [Plan.Span].
const bursts = 8

// spreading pauses between bursts of trials, so that work whose cost changes in phases of tenths of a second is
// seen in several of them.
type spreading struct {
	station *Station
	span    time.Duration
	rng     *rand.Rand
	began   int64
	burst   int // number of the current burst
}

func (m *measurement) newSpreading() spreading {
	return spreading{station: m.station, span: m.plan.Span, rng: m.rng(), began: m.station.Clock.Start()}
}

// elapsed returns the time since the first trial began.
func (s *spreading) elapsed() time.Duration {
	return time.Duration(s.station.Clock.Ns(s.station.Clock.End() - s.began))
}

// next begins the next burst if all subjects are ready for it, and returns how long to pause before it; 0 or
// less means no pause. Bursts begin at random moments, since regular ones may keep step with the phases.
func (s *spreading) next(busy []*series) (early time.Duration) {
	if done := leastProgress(busy); done*bursts < float64(s.burst+1) {
		return 0
	}
	s.burst++
	begin := time.Duration(float64(s.span) * (float64(s.burst) - 1 + s.rng.Float64()) / (bursts - 1))
	if s.station.Pause == nil || s.burst >= bursts {
		return 0
	}
	return begin - s.elapsed()
}

// leastProgress returns how far the slowest subject is on its way to the first examination of its samples, as a
// share: of FewestTrials trials or of enoughNs of running time, whichever is further.
func leastProgress(busy []*series) float64 {
	least := inf
	for _, s := range busy {
		least = math.Min(least, math.Max(float64(s.trials)/FewestTrials, s.ranNs/enoughNs))
	}
	return least
}
