package timermeter

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"chronoscope/stats"
)

// changing returns a function that gives what a clock of 10 units shows at time t, if it is watched
// until end.
type changing func(rng *rand.Rand, end float64) func(t float64) float64

// onLattice returns t rounded down to a multiple of q.
func onLattice(t, q float64) float64 { return math.Floor(t/q) * q }

// becomes returns a clock whose quantum changes after a share of the time.
func becomes(quantum, share float64) changing {
	return func(_ *rand.Rand, end float64) func(float64) float64 {
		at := share * end
		return func(t float64) float64 {
			if t < at {
				return onLattice(t, 10)
			}
			return onLattice(at, 10) + onLattice(t-at, quantum)
		}
	}
}

// slips returns a clock whose phase moves from time to time, by a limited amount.
func slips(most, every float64) changing {
	return func(rng *rand.Rand, end float64) func(float64) float64 {
		offsets := []float64{0}
		return func(t float64) float64 {
			for len(offsets) <= int(t/every) {
				offsets = append(offsets, offsets[len(offsets)-1]+most*rng.Float64())
			}
			return offsets[int(t/every)] + onLattice(t, 10)
		}
	}
}

// strays returns a clock with a share of readings that lie on no lattice.
func strays(share float64) changing {
	return func(rng *rand.Rand, _ float64) func(float64) float64 {
		return func(t float64) float64 {
			if rng.Float64() < share {
				return t
			}
			return onLattice(t, 10)
		}
	}
}

// roundedTwice returns a clock that shows q in place of 10 units and rounds twice: as kvm-clock and the
// kernel do, it rounds to whole units, scales these by nearly 1, and rounds again.
func roundedTwice(q float64) changing {
	return func(rng *rand.Rand, _ float64) func(float64) float64 {
		phase, scale := rng.Float64(), 1+1e-4*rng.Float64()
		return func(t float64) float64 { return math.Floor(scale * math.Floor(onLattice(t, q)+phase)) }
	}
}

// If a clock changes while it is watched, the result is either its spacing during most of the time,
// or suspect. It is never a trusted spacing that the clock did not have, such as a fraction that
// happens to fit the readings before and after the change.
func TestLatticeThatChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for name, c := range map[string]struct {
		clock changing
		want  []float64 // the spacings with which it may be trusted
		never bool      // it must not be trusted
		must  bool      // it must be trusted
	}{
		"steady":                     {slips(0, 1e12), []float64{10}, false, true},
		"13 from the middle on":      {becomes(13, 0.5), nil, true, false},
		"10.3 from the middle on":    {becomes(10.3, 0.5), nil, true, false},
		"14.7 from the middle on":    {becomes(14.7, 0.5), nil, true, false},
		"13 in the end":              {becomes(13, 0.95), []float64{10}, false, false},
		"14.7 for the most part":     {becomes(14.7, 0.1), []float64{14.7}, false, false},
		"none in the end":            {becomes(1, 0.95), []float64{10}, false, false},
		"none from the middle on":    {becomes(1, 0.5), []float64{10}, false, false},
		"slips by a unit, often":     {slips(1, 3e4), []float64{10}, false, false},
		"slips anywhere, at times":   {slips(10, 1e5), []float64{10}, false, false},
		"slips anywhere, often":      {slips(10, 1e4), []float64{10}, false, false},
		"one in fifty on no lattice": {strays(0.02), []float64{10}, false, false},
		"rounded twice":              {roundedTwice(10.019), []float64{10.0195}, false, true},
		"one in ten on no lattice":   {strays(0.1), nil, true, false},
		"one in three on no lattice": {strays(0.3), nil, true, false},
		"rate changes by 10 % a second": {func(*rand.Rand, float64) func(float64) float64 {
			return func(t float64) float64 { return onLattice(t, 10) * (1 + 0.1*t/2e9) }
		}, []float64{10}, false, false},
	} {
		for seed := range uint64(4) {
			a := watchChanging(c.clock, seed)
			fits := slices.ContainsFunc(c.want, func(q float64) bool { return math.Abs(a.Units.Value/q-1) < 0.01 })
			switch {
			case a.Verdict == stats.Trusted && (c.never || !fits):
				t.Errorf("%s, seed %d: trusted with %.5g", name, seed, a.Units.Value)
			case c.must && a.Verdict != stats.Trusted:
				t.Errorf("%s, seed %d: %s %v", name, seed, a.Verdict, a.Reasons)
			}
		}
	}
}

// watchChanging returns the accuracy of a clock that changes while it is watched.
func watchChanging(c changing, seed uint64) Accuracy {
	cost := []float64{7, 25, 60, 300}[seed%4]
	watch := func(c changing, end float64) (Accuracy, float64) {
		rng := rand.New(rand.NewPCG(seed, 5))
		read, now, last := c(rand.New(rand.NewPCG(seed, 6)), end), 0.0, int64(0)
		chain := func(work int, ticks []int64) {
			for i := range ticks {
				now += 0.5*float64(work) + cost*(1+0.03*rng.NormFloat64())
				if rng.Float64() < 0.002 {
					now += 3000 * rng.Float64()
				}
				last = max(last, int64(read(now)))
				ticks[i] = last
			}
		}
		s := NewSampler(Subject{UnitNs: 1, Chain: chain}, func() float64 { return now }, DefaultPlan.Patience, rng)
		s.Sample(background)
		return s.Accuracy(), now
	}
	_, end := watch(slips(0, 1e12), 0)
	a, _ := watch(c, end)
	return a
}

// If time stands still between stretches of readings, it may go on anywhere relative to the
// lattice: each stretch lies on the lattice, but all together don't. If time does not stand still,
// such readings mean that the clock has strayed.
func TestLatticeOfTimeThatStandsStill(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const quantum, trials, enough = 10.0149, 40, 34 // 95 % of 40 are 38
	held := 0
	for seed := range uint64(trials) {
		rng := rand.New(rand.NewPCG(12, seed))
		s := sample{standsStill: true}
		now, phase := 0.0, 0.0
		for range 100 {
			now, phase = now+20e3*rng.Float64(), phase+4*rng.Float64()-2
			var r readings
			work := 3000 * rng.Float64()
			for i := range readingsAtOnce {
				now += 400*(1+0.02*rng.NormFloat64()) + float64(i%2)*work
				r = append(r, int64(onLattice(now, quantum)+phase+1e3))
			}
			s.stretches = append(s.stretches, r)
			s.readings = append(s.readings, r...)
		}
		a := accuracyOf(s, 1)
		if a.Verdict == stats.Trusted && a.Units.Lo <= quantum && quantum <= a.Units.Hi {
			held++
		}
		if a.Verdict == stats.Trusted && (math.Abs(a.Units.Value/quantum-1) > 1e-4 || a.Units.RelativeHalfWidth() > 1e-4) {
			t.Errorf("seed %d: %v [%v, %v], %s %v; want %v", seed, a.Units.Value, a.Units.Lo, a.Units.Hi, a.Verdict, a.Reasons, quantum)
		}
		s.standsStill = false
		if a := accuracyOf(s, 1); a.Verdict == stats.Trusted {
			t.Errorf("seed %d, running on: trusted with %v [%v, %v]", seed, a.Units.Value, a.Units.Lo, a.Units.Hi)
		}
	}
	if held < enough {
		t.Errorf("%d of %d are trusted and hold the quantum", held, trials)
	}
}
