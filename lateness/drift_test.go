package lateness

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// ticking returns a periodic timer's wake-ups in all rounds. late is the lateness at a moment, in nanoseconds since the
// round began; a wake-up that is late by more than a period lets the timer miss moments.
func ticking(length time.Duration, wakes int, late func(round int, dueNs float64) float64) *cell {
	c := &cell{timer: Timer{Periodic: true}, length: length}
	for round := range rounds {
		var s series
		for moment := 1.0; len(s.lateNs) < wakes; moment++ {
			ns := late(round, moment*float64(length))
			s.lateNs, s.moments = append(s.lateNs, ns), append(s.moments, moment)
			moment += math.Floor(max(0, ns) / float64(length))
		}
		c.series = append(c.series, s)
	}
	return c
}

// sawtooth is a clock that wakes at multiples of a grain alone, up to a millisecond apart, from a phase of each round.
func sawtooth(r *rand.Rand, driftPPM float64) func(int, float64) float64 {
	grainNs, same := 1e6*math.Exp(-3*r.Float64()), r.IntN(2) == 0
	if r.IntN(2) == 0 {
		grainNs = 1e6 * (1 - 0.1*r.Float64()) // a period of 1 ms is nearly a multiple, so that a tooth is long
	}
	var phases [rounds]float64
	for i := range phases {
		if phases[i] = r.Float64(); same {
			phases[i] = phases[0]
		}
	}
	return func(round int, dueNs float64) float64 {
		at := dueNs*(1+driftPPM/1e6)/grainNs + phases[round]
		return (math.Ceil(at)-at)*grainNs + driftPPM/1e6*dueNs + 1e4*r.ExpFloat64()
	}
}

// spells is a timer that is late by some 20 µs, but in spells of several wake-ups by a millisecond or more.
func spells(r *rand.Rand, driftPPM float64) func(int, float64) float64 {
	share, wakes, heightNs := 0.02+0.4*r.Float64(), 2+6*r.Float64(), 1e6*math.Exp(2*r.Float64()-1)
	lateNs, began := 0.0, -1
	return func(round int, dueNs float64) float64 {
		switch {
		case round != began:
			began, lateNs = round, 0
			fallthrough
		case lateNs == 0:
			if r.Float64() < share/(1-share)/wakes {
				lateNs = heightNs * r.ExpFloat64()
			}
		case r.Float64() < 1/wakes:
			lateNs = 0
		}
		return driftPPM/1e6*dueNs + lateNs + 2e4*r.ExpFloat64()
	}
}

// The interval of a drift holds the true one at least 95 times in a hundred. Short series can't tell a drift from a
// lateness that only rises and falls; a drift by several periods in a round is found.
func TestDriftOfPeriodicTimers(t *testing.T) {
	for _, c := range []struct {
		name   string
		late   func(*rand.Rand, float64) func(int, float64) float64
		ppm    float64
		length time.Duration
		wakes  int // of each round
		cases  int
	}{
		{"sawtooth", sawtooth, 0, time.Millisecond, 6, 200},
		{"sawtooth", sawtooth, 0, time.Millisecond, 10, 200},
		{"sawtooth", sawtooth, 0, time.Millisecond, 100, 200},
		{"sawtooth", sawtooth, 0, 100 * time.Microsecond, 10, 200},
		{"spells", spells, 0, time.Millisecond, 6, 200},
		{"spells", spells, 0, time.Millisecond, 10, 200},
		{"spells", spells, 0, time.Millisecond, 100, 200},
		{"sawtooth", sawtooth, 1000, time.Millisecond, 8000, 3},
		{"spells", spells, 1000, time.Millisecond, 8000, 3},
		{"sawtooth", sawtooth, 100, time.Millisecond, 60_000, 1},
		{"spells", spells, -100, time.Millisecond, 60_000, 1},
	} {
		covered, found := 0, 0
		for seed := range uint64(c.cases) {
			r := rand.New(rand.NewPCG(seed, uint64(c.wakes)))
			e := ticking(c.length, c.wakes, c.late(r, c.ppm)).drift(nil)
			if e.Covers(c.ppm) {
				covered++
			}
			if !e.Covers(0) {
				found++
			}
		}
		if float64(covered) < 0.95*float64(c.cases) || c.ppm != 0 && found < c.cases {
			t.Errorf("%s of %v ppm, %d wake-ups a round every %v: covered in %d of %d cases, found in %d", c.name, c.ppm, c.wakes, c.length, covered, c.cases, found)
		}
	}
}

// A round that was interrupted early takes no part, and a single round tells no drift from what delayed that round.
func TestDriftOfAnInterruptedMeasurement(t *testing.T) {
	c := ticking(time.Millisecond, 100, func(round int, dueNs float64) float64 { return 1e6 * float64(round%2) })
	c.series[3].lateNs, c.series[3].moments = []float64{0, 1e6, 2e6, 3e6, 4e6, 5e6}, []float64{1, 2, 3, 4, 5, 6}
	if e := c.drift(nil); e.Value != 0 || e.N != 300 || !(e.Hi < 25_000) {
		t.Errorf("%+v", e)
	}
	c.series = c.series[:1]
	if e := c.drift(nil); !math.IsNaN(e.Value) || !math.IsNaN(e.Hi) {
		t.Errorf("%+v of one round", e)
	}
}
