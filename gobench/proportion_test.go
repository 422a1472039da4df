package gobench

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"chronoscope/stats"
)

// What reasons say of a cost that is not in proportion to b.N.
const (
	saysOptimised = "optimised away"
	saysSetup     = "b.ResetTimer"
	saysGrows     = "grows with b.N"
)

func says(r *Result, what string) bool { return strings.Contains(strings.Join(r.Reasons, "\n"), what) }

// fewIterations is about how many iterations a run of few has.
func fewIterations(truthNs float64) float64 {
	return float64(DefaultPlan.RunTime) / (ratio - 1) / truthNs
}

// planted is a random machine whose benchmark has a fault.
func planted(seed uint64, plant func(s *simulated, rng *rand.Rand)) *Result {
	c := randomCase(seed)
	rng := rand.New(rand.NewPCG(seed, 0xfa))
	c.truthNs = logUniform(rng, 1, 20e6)
	s, noise := c.start()
	plant(s, rng)
	plan := DefaultPlan
	plan.Seed = seed
	return measureOne(s, noise, plan)
}

// Benchmarks whose cost is not in proportion to b.N are found, at any load.
func TestDisproportion(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for name, c := range map[string]struct {
		says  string
		plant func(s *simulated, rng *rand.Rand)
	}{
		"optimised away": {saysOptimised, func(s *simulated, rng *rand.Rand) { s.truthNs = 0.04 * rng.Float64() }},
		"setup": {saysSetup, func(s *simulated, rng *rand.Rand) {
			s.setupNs = logUniform(rng, 0.25, 20) * float64(DefaultPlan.RunTime) / (ratio - 1)
		}},
		"growing": {saysGrows, func(s *simulated, rng *rand.Rand) {
			s.growth = logUniform(rng, 0.1, 10) / fewIterations(s.truthNs)
		}},
		"growing a lot": {saysGrows, func(s *simulated, rng *rand.Rand) {
			s.growth = logUniform(rng, 0.01, 1)
		}},
		"growing, hidden by setup": {saysSetup, func(s *simulated, rng *rand.Rand) {
			s.truthNs = logUniform(rng, 1, 1e6)
			s.growth = logUniform(rng, 0.1, 0.5) / fewIterations(s.truthNs)
			few := fewIterations(s.truthNs)
			s.setupNs = 5 * s.truthNs * s.growth * few * few / 2 // many iterations then take as long each as few
		}},
	} {
		const n = 200
		found := make([]bool, n)
		parallel(n, func(i int) {
			r := planted(uint64(i), c.plant)
			found[i] = r.Verdict != stats.Trusted && says(r, c.says)
			if !found[i] {
				t.Logf("%s: not found: seed %d, load %d: %q", name, i, randomCase(uint64(i)).load, r.Reasons)
			}
		})
		count := 0
		for _, ok := range found {
			if ok {
				count++
			}
		}
		t.Logf("%s: %d of %d found", name, count, n)
		if count < int(math.Ceil(0.95*n)) {
			t.Errorf("%s: %d of %d found, want 95 %%", name, count, n)
		}
	}
}

// What the Go runtime spends once, as its heap grows, was once taken for the benchmark's
// own in short runs; more than that is its own. Five times the iterations that take twice as long were said to take
// hardly longer.
func TestRuntimeWarmsUp(t *testing.T) {
	for onceNs, want := range map[float64]bool{0: false, 3e6: false, 30e6: true} {
		s := series(0, 0, 0, 0, 0, 0)
		for i := range s.Repetitions {
			rep := &s.Repetitions[i]
			rep.Least = Observation{N: 2, Procs: 1, TimedNs: 2e6, WallNs: 5e6, CPUNs: 5e6}
			for _, o := range []*Observation{&rep.Few, &rep.Many} {
				o.TimedNs, o.WallNs, o.CPUNs = o.TimedNs+onceNs, o.WallNs+onceNs, o.CPUNs+onceNs
			}
		}
		if r := Conclude(s, QuickPlan, Setting{CPUs: 1}); says(r, saysSetup) != want || says(r, "hardly longer") {
			t.Errorf("%v ns: %q", onceNs, r.Reasons)
		}
	}
}
