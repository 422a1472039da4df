package env

import (
	"math"
	"math/rand/v2"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// slowdowns are the shares by which something on the core may slow work, given that by which it slows independent
// instructions: always the same, as those, or the opposite.
var slowdowns = map[string]func(slowed float64) float64{
	"not slowed":             clocktest.SlowedWhileShared(0),
	"by 30 %":                clocktest.SlowedWhileShared(0.3),
	"by 150 %":               clocktest.SlowedWhileShared(1.5),
	"as additions are":       func(slowed float64) float64 { return slowed },
	"half as much":           func(slowed float64) float64 { return slowed / 2 },
	"less where others more": func(slowed float64) float64 { return clocktest.SlowedWhileShared(0.6)(slowed) * math.Exp(-slowed) },
}

// What is left of work on a shared core after the cost was taken off holds the time alone. When the core was shared is
// recorded, and what that costs is simulated.
func TestCostHoldsTheTimeAlone(t *testing.T) {
	cores, err := clocktest.SharedCores()
	if err != nil {
		t.Fatal(err)
	}
	for name, by := range slowdowns {
		held, known := 0, 0
		var widths []float64 // of many samples
		for _, core := range cores {
			for _, ns := range []float64{0.3e6, 1e6, 3e6, 10e6, 30e6} {
				for _, n := range []int{20, 60, 300} {
					for seed := range 10 {
						rng := rand.New(rand.NewPCG(uint64(seed), 3))
						samples := samplesOf(core.Work(rng, n, ns, 2e6, by))
						var pauses []Pause
						if seed%2 == 1 {
							pauses = pausesIn(core, rng, n/10, samples[0].Ns)
						}
						cost := costOf(samples, pauses)
						if !cost.Known() {
							continue
						}
						known++
						lo, hi := without(samples, cost)
						if lo <= ns && ns <= hi {
							held++
						}
						if n == 300 {
							widths = append(widths, (hi-lo)/2/ns)
						}
					}
				}
			}
		}
		t.Logf("%s: held in %d of %d, half-width %.3f", name, held, known, stats.Median(widths))
		if known < 50 || float64(held) < 0.95*float64(known) {
			t.Errorf("%s: held in %d of %d", name, held, known)
		}
		if width := stats.Median(widths); name == "not slowed" && !(width < 0.01) {
			t.Errorf("%s: half-width %.3f", name, width)
		}
	}
}

// Something that shares the core in turns of which each takes 6 to 8 of 10 ms on average, with a jitter of 10 %, shares samples
// of some turns for as long, whatever their ends: they seemed to show that it costs nothing. Pauses show that the ends do not
// tell, and confirm that they do where sharing has no period.
func TestCostOfRecurringSharing(t *testing.T) {
	cores, err := clocktest.SharedCores()
	if err != nil {
		t.Fatal(err)
	}
	recurring := func(rng *rand.Rand, duty float64) clocktest.SharedCore {
		var c clocktest.SharedCore
		for len(c.Slowed) < 200_000 {
			for _, state := range []struct{ part, slowed float64 }{{duty, 0.5}, {1 - duty, 0}} {
				for range int(200 * state.part * (1 + 0.1*rng.NormFloat64())) { // of 50 µs
					c.Slowed = append(c.Slowed, state.slowed)
				}
			}
		}
		return c
	}
	known, wrong := 0, 0
	for seed := range 60 {
		rng := rand.New(rand.NewPCG(uint64(seed), 17))
		core := recurring(rng, 0.6+0.1*float64(seed%3))
		ns := 10e6 / []float64{0.5, 1, 1.3, 2}[seed%4] / 1.3
		samples := samplesOf(core.Work(rng, 200, ns, 2e6, clocktest.SlowedWhileShared(0.5)))
		if c := costOf(samples, nil); c.Known() && c.Hi < 0.4 {
			known++
		}
		if c := costOf(samples, pausesIn(core, rng, 20, ns*1.3)); c.Known() && c.Hi < 0.4 {
			wrong++
		}
	}
	if known < 20 || wrong > 2 {
		t.Errorf("without pauses %d of 60 are wrong, with pauses %d", known, wrong)
	}
	tell := 0
	for seed := range 60 {
		rng := rand.New(rand.NewPCG(uint64(seed), 18))
		core := cores[seed%len(cores)]
		samples := samplesOf(core.Work(rng, 300, 10e6, 2e6, clocktest.SlowedWhileShared(0.2)))
		if c := costOf(samples, pausesIn(core, rng, 30, 12e6)); c.Known() {
			tell++
		}
	}
	if tell < 30 {
		t.Errorf("pauses confirm %d of 60", tell)
	}
	t.Logf("without pauses %d of 60 are wrong, with pauses %d; %d of 60 confirmed", known, wrong, tell)
}

// pausesIn returns pauses at random times of a recording.
func pausesIn(core clocktest.SharedCore, rng *rand.Rand, n int, ns float64) (all []Pause) {
	const probes = 10
	for range n {
		begin := rng.IntN(len(core.Slowed))
		at := func(i int) float64 {
			return core.Slowed[(begin+i*int(ns/50e3)/(probes+1))%len(core.Slowed)]
		}
		p := Pause{SlowedBefore: at(0), SlowedAfter: at(probes + 1)}
		for i := range probes {
			if at(i+1) > SharedFrom {
				p.Shared += 1. / probes
			}
		}
		all = append(all, p)
	}
	return all
}

func samplesOf(work []clocktest.SharedWork) (samples []Probed) {
	for _, w := range work {
		samples = append(samples, Probed(w))
	}
	return samples
}

// without bounds the median time of samples if sharing is taken off.
func without(samples []Probed, cost Cost) (lo, hi float64) {
	var low, high []float64
	for _, p := range samples {
		least, most := cost.Parts(p)
		low, high = append(low, p.Ns/(1+cost.Hi*most)), append(high, p.Ns/(1+cost.Lo*least))
	}
	return stats.MedianInterval(low, "ns").Lo, stats.MedianInterval(high, "ns").Hi
}

// Samples tell nothing where all are shared, where hardly one is, where they are few, or where sharing comes and goes within
// each.
func TestCostUnknown(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	slowed := func(yes bool) float64 {
		if yes {
			return 0.5
		}
		return 0
	}
	for name, c := range map[string]struct {
		n     int
		ends  func(i int) (before, after float64)
		known bool
	}{
		"half of them shared": {100, func(int) (float64, float64) { s := slowed(rng.IntN(2) == 0); return s, s }, true},
		"all shared":          {100, func(int) (float64, float64) { return 0.5, 0.5 }, false},
		"one shared":          {100, func(i int) (float64, float64) { return slowed(i == 50), slowed(i == 50) }, false},
		"few":                 {11, func(i int) (float64, float64) { return slowed(i%2 == 0), slowed(i%2 == 0) }, false},
		"not probed":          {100, func(int) (float64, float64) { return math.NaN(), math.NaN() }, true}, // as if nothing shared it
		"within each":         {100, func(int) (float64, float64) { return slowed(rng.IntN(2) == 0), slowed(rng.IntN(2) == 0) }, false},
	} {
		var samples []Probed
		for i := range c.n {
			before, after := c.ends(i)
			samples = append(samples, Probed{Ns: 1e6, SlowedBefore: before, SlowedAfter: after})
		}
		s := SharingOf(samples, nil, 0.01)
		if s.Cost.Known() != c.known || s.Told() || c.known && !(s.Cost.Lo == 0 && s.Cost.Hi < 1e-9) {
			t.Errorf("%s: %+v", name, s)
		}
		if suspect := s.Suspicion("samples", 0.5) != ""; suspect != (name == "all shared" || name == "few" || name == "within each") {
			t.Errorf("%s: suspect: %v", name, suspect)
		}
	}
}

// Sharing that lasts for long costs what it adds, and no more than independent instructions lose unless it is seen.
func TestCostOfLongSharing(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	var samples []Probed
	for i := range 200 {
		p := Probed{Ns: 1e6 * (1 + 0.01*rng.NormFloat64())}
		if i/20%2 == 1 {
			p.Ns, p.SlowedBefore, p.SlowedAfter = 1.4*p.Ns, 0.5, 0.5
		}
		samples = append(samples, p)
	}
	s := SharingOf(samples, nil, 0.01)
	if c := s.Cost; !s.Told() || !(c.Lo > 0.38 && c.Lo < 0.4 && c.Hi > 0.4 && c.Hi < 0.42) || c.Unseen() > 0.01 || s.Samples != 100 {
		t.Errorf("%+v", s)
	}
	if c := s.Cost.AtMost(0.3); c != s.Cost || c.MayExceed(0.3) {
		t.Errorf("seen to be more: %+v", c)
	}
	if c := s.Cost.AtMost(0.4); c.Hi != 0.4 || !s.Cost.MayExceed(0.4) {
		t.Errorf("not seen to be more: %+v", c)
	}
}

// Of n pairs of which one alone shared its core, all being the same one has a chance of 2/2^n: 1.6 % for 7, and 0.8 % for 8.
func TestSharedAlike(t *testing.T) {
	pairs := func(first, second, both int) (a, b []bool) {
		for range first {
			a, b = append(a, true), append(b, false)
		}
		for range second {
			a, b = append(a, false), append(b, true)
		}
		for range both {
			a, b = append(a, true, false), append(b, true, false)
		}
		return a, b
	}
	for _, c := range []struct {
		first, second, both int
		alike               bool
	}{{0, 0, 5, true}, {7, 0, 5, true}, {8, 0, 5, false}, {0, 8, 0, false}, {20, 20, 3, true}} {
		if a, b := pairs(c.first, c.second, c.both); SharedAlike(a, b) != c.alike {
			t.Errorf("%+v", c)
		}
	}
}

// The bounds of a slope hold it in 95 of 100 cases, with few pauses, too. With two standard errors it was 91.
func TestBoundsOfFollowed(t *testing.T) {
	const cases, slope = 4000, 0.5
	rng := rand.New(rand.NewPCG(7, 8))
	held := 0
	for range cases {
		var pauses []Pause
		for i := range fewestPauses {
			p := Pause{Shared: 0.2 + 0.05*rng.NormFloat64()}
			if i%2 == 0 {
				p.SlowedBefore, p.SlowedAfter = 1, 1
				p.Shared += slope
			}
			pauses = append(pauses, p)
		}
		if lo, hi := followed(pauses); lo <= slope && slope <= hi {
			held++
		}
	}
	t.Logf("%d of %d", held, cases)
	if held < 3759 || held > 3841 { // 95 % and three standard deviations
		t.Errorf("the bounds hold %d of %d slopes", held, cases)
	}
}
