package gobench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/stats"
)

// noisy runs benchmarks on a machine whose speed changes in ways that no counter tells:
// nothing waits for a CPU, and every run takes longer than it would.
type noisy struct {
	rng      *rand.Rand
	nowNs    float64
	truthNs  map[string]float64
	slower   map[string]float64 // by name and revision
	growth   float64            // by which share a run of 0.1 s is dearer for its length
	hampered map[string]int     // how many of the next runs, by name and revision, are five times as slow

	driftShare, driftPeriodNs            float64
	wanderShare, wanderNs, wander        float64 // a first-order autoregressive process
	burstsPerNs, burstNs, burstFactor    float64
	burstEndsNs                          float64
	modeShare, modeFactor, heavy, jitter float64 // of a process
}

// stepNs is the time for which the machine keeps its speed.
const stepNs = 5e6

// kindsOfNoise are drift, autocorrelated noise, bursts, processes of two speeds and with
// heavy tails, and all of them.
var kindsOfNoise = []string{"drift", "autocorrelated", "bursts", "two modes", "heavy tails", "all"}

// newNoisy is a machine with that kind of noise, a random amount of it up to strength.
func newNoisy(seed uint64, kind string, strength float64) *noisy {
	rng := rand.New(rand.NewPCG(seed, 0x5173))
	n := &noisy{rng: rng, truthNs: map[string]float64{}, slower: map[string]float64{}, driftPeriodNs: 1, wanderNs: 1, modeFactor: 1, burstFactor: 1}
	n.jitter = 0.01 * strength
	has := func(what string) bool { return kind == what || kind == "all" }
	if has("drift") {
		n.driftShare, n.driftPeriodNs = strength*0.3*rng.Float64(), logUniform(rng, 0.2e9, 60e9)
	}
	if has("autocorrelated") {
		n.wanderShare, n.wanderNs = strength*logUniform(rng, 0.02, 0.15), logUniform(rng, 10e6, 5e9)
	}
	if has("bursts") {
		n.burstsPerNs, n.burstNs, n.burstFactor = 1/logUniform(rng, 0.1e9, 3e9), logUniform(rng, 5e6, 1e9), 1+strength*logUniform(rng, 0.1, 2)
	}
	if has("two modes") {
		n.modeShare, n.modeFactor = 0.1+0.8*rng.Float64(), 1+strength*logUniform(rng, 0.02, 0.4)
	}
	if has("heavy tails") {
		n.heavy = strength * logUniform(rng, 0.005, 0.05)
	}
	return n
}

// Run implements Runner.
func (s *noisy) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	factor := 1 + s.jitter*s.rng.NormFloat64()
	if s.rng.Float64() < s.modeShare {
		factor *= s.modeFactor
	}
	if s.heavy > 0 { // the absolute value of a Cauchy variate
		factor *= 1 + math.Min(3, s.heavy*math.Abs(math.Tan(math.Pi*(s.rng.Float64()-0.5))))
	}
	if slower, ok := s.slower[b.Name+b.Revision]; ok {
		factor *= slower
	}
	startNs := s.pass(3e6)
	if s.hampered[b.Name+b.Revision] > 0 {
		s.hampered[b.Name+b.Revision]--
		factor *= 5
	}
	workNs := float64(n) * s.truthNs[b.Name]
	timedNs := s.pass(workNs * (1 + s.growth*workNs/100e6) * math.Max(0.5, factor))
	o := Observation{N: n, Procs: 1, WallNs: startNs + timedNs, CPUNs: startNs + timedNs}
	o.TimedNs, o.RoundingNs = printed(timedNs, n)
	if !traced {
		o.WaitNs = math.NaN()
	}
	return o, nil
}

// pass lets the machine work, and returns how long that takes.
func (s *noisy) pass(workNs float64) (tookNs float64) {
	for workNs > 0 {
		step := math.Min(stepNs, workNs)
		ns := step * s.slowness()
		workNs -= step
		tookNs += ns
		s.nowNs += ns
		keep := math.Exp(-ns / s.wanderNs)
		s.wander = keep*s.wander + math.Sqrt(1-keep*keep)*s.rng.NormFloat64()
		if s.nowNs > s.burstEndsNs && s.rng.Float64() < 1-math.Exp(-ns*s.burstsPerNs) {
			s.burstEndsNs = s.nowNs + s.burstNs*s.rng.ExpFloat64()
		}
	}
	return tookNs
}

func (s *noisy) slowness() float64 {
	f := (1 + s.driftShare*(1+math.Sin(2*math.Pi*s.nowNs/s.driftPeriodNs))) * math.Exp(s.wanderShare*s.wander)
	if s.nowNs < s.burstEndsNs {
		f *= s.burstFactor
	}
	return f
}

// compareSuite measures two revisions of the given number of benchmarks, as the command does.
func compareSuite(s *noisy, benchmarks int, plan Plan) []Judged {
	var groups [][]Benchmark
	for i := range benchmarks {
		name := fmt.Sprintf("Benchmark%d", i)
		s.truthNs[name] = logUniform(s.rng, 50, 5e6)
		groups = append(groups, []Benchmark{{Name: name, Revision: "old"}, {Name: name}})
	}
	var all []Comparison
	setting := Setting{CPUs: 2, Checks: env.ChecksOf(machine.Noise{WatchedNs: 1e9, SwitchNs: math.NaN()})}
	measured, err := Measure(background, s, groups, plan, setting, nil)
	if err != nil {
		panic(err)
	}
	for _, group := range measured {
		all = append(all, Compare(Conclude(group[0], plan, setting), Conclude(group[1], plan, setting), 2*plan.Precision, plan.Seed))
	}
	return Judge(all, plan)
}

// slowerThan is how many of the comparisons of a suite say that something takes longer than
// the limit.
func slowerThan(limit float64, suite []Judged) (n int) {
	for _, c := range suite {
		if c.Joint.Lo > limit {
			n++
		}
	}
	return n
}

// suitePlan has time for some twenty repetitions.
func suitePlan(seed int) Plan {
	plan := QuickPlan
	plan.Seed, plan.MaxTime = uint64(seed), 1500*time.Millisecond
	return plan
}

// cases is how many times as many cases a simulation has as make test can wait for.
func cases(t *testing.T) int {
	text := os.Getenv("CHRONOSCOPE_CASES")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("CHRONOSCOPE_CASES: %q is no count: give a whole number, 1 or more", text)
	}
	return n
}

// A suite whose two revisions are the same code is seldom failed, whatever the noise and
// however many benchmarks it has, also where nothing at all is allowed: 2 of 23 were with
// 3 % allowed, as each was looked at alone, by six pairs, with other iterations in each.
func TestEqualSuitesPass(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	failed, suites, covered, compared := 0, 0, 0, 0
	for _, c := range []struct{ benchmarks, suites int }{{4, 40 * cases(t)}, {8, 10 * cases(t)}, {40, 3 * cases(t)}} {
		for _, kind := range kindsOfNoise {
			all := make([][]Judged, c.suites)
			parallel(c.suites, func(i int) {
				plan := suitePlan(i)
				all[i] = compareSuite(newNoisy(uint64(i), kind, 1), c.benchmarks, plan)
			})
			beyond := map[float64]int{}
			for _, suite := range all {
				for _, limit := range []float64{1, 1.03} {
					if slowerThan(limit, suite) > 0 {
						beyond[limit]++
					}
				}
				for _, one := range suite {
					if one.Ratio.Value > 0 {
						compared++
					}
					if one.Ratio.Covers(1) {
						covered++
					}
				}
			}
			t.Logf("%d benchmarks, %s: %d of %d suites fail, %d of them by more than 3 %%", c.benchmarks, kind, beyond[1], c.suites, beyond[1.03])
			if most := atMost(c.suites, stats.FalseAlarms); beyond[1] > most {
				t.Errorf("%d benchmarks, %s: %d of %d suites of equal code fail, want at most %d", c.benchmarks, kind, beyond[1], c.suites, most)
			}
			failed, suites = failed+beyond[1], suites+c.suites
		}
	}
	t.Logf("%d of %d suites fail; %d of %d ratios cover 1", failed, suites, covered, compared)
	if most := atMost(suites, stats.FalseAlarms); failed > most {
		t.Errorf("%d of %d suites of equal code fail, want at most %d", failed, suites, most)
	}
	if covered < atLeast(compared) {
		t.Errorf("%d of %d ratios cover 1, want %d", covered, compared, atLeast(compared))
	}
}

// What slowed the machine while the iterations of one of two were chosen gave it a fifth of
// the other's, and a cost that isn't in proportion to them then looked like a difference
// (1.16 on a busy machine, of 35,784 and 5,572 iterations).
func TestComparedAlike(t *testing.T) {
	for seed := range uint64(20) {
		s := newNoisy(seed, "drift", 0.1)
		s.growth, s.hampered = 0.3, map[string]int{"Benchmark0": 10}
		c := compareSuite(s, 1, QuickPlan)[0]
		if c.A.Iterations != c.B.Iterations || c.Joint.Lo > 1 || c.Joint.Hi < 1 {
			t.Errorf("seed %d: %d and %d iterations of equal code, ratio %+v", seed, c.A.Iterations, c.B.Iterations, c.Ratio)
		}
	}
}

// atMost is how often what has that chance happens among n: a count that is exceeded in one of 1,000
// simulations.
func atMost(n int, chance float64) (most int) {
	for times := (distuv.Binomial{N: float64(n), P: chance}); times.CDF(float64(most)) < 0.999; {
		most++
	}
	return most
}

// One benchmark of a suite that takes a tenth longer is found at moderate noise, and no other
// is blamed.
func TestSlowerSuitesFail(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const limit, suites = 1.03, 50
	for _, benchmarks := range []int{4, 8} {
		for kind, least := range map[string]int{"drift": 45, "autocorrelated": 45, "bursts": 30, "two modes": 30, "heavy tails": 30} {
			found, blamed := make([]bool, suites), make([]bool, suites)
			parallel(suites, func(i int) {
				plan := suitePlan(i)
				s := newNoisy(uint64(i), kind, 0.3)
				s.slower["Benchmark1"] = 1.1
				suite := compareSuite(s, benchmarks, plan)
				found[i] = suite[1].Joint.Lo > limit
				blamed[i] = slowerThan(limit, append(suite[:1:1], suite[2:]...)) > 0
			})
			t.Logf("%d benchmarks, %s: found in %d of %d suites, another is blamed in %d", benchmarks, kind, trues(found), suites, trues(blamed))
			if trues(found) < least {
				t.Errorf("%d benchmarks, %s: found in %d of %d suites, want %d", benchmarks, kind, trues(found), suites, least)
			}
			if most := atMost(suites, stats.FalseAlarms); trues(blamed) > most {
				t.Errorf("%d benchmarks, %s: an equal one is blamed in %d of %d suites, want at most %d", benchmarks, kind, trues(blamed), suites, most)
			}
		}
	}
}

func trues(all []bool) (n int) {
	for _, one := range all {
		if one {
			n++
		}
	}
	return n
}
