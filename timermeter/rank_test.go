package timermeter

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/clock/check"
	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// candidate returns a candidate for a simulated clock, with a good reference on the same machine.
func candidate(name string, c *clocktest.Clock, timer *clocktest.Clock) Candidate {
	return Candidate{
		Clock: clock.Clock{Name: name, Kind: clock.KindWall, Scope: clock.ScopeMachine},
		Subject: Subject{
			UnitNs: c.UnitNs, Chain: c.Chain, Calls: c.Calls(timer), Frames: frames(c.Calls(timer)),
			Reference: Reference{UnitNs: timer.UnitNs, AccuracyNs: timer.QuantumNs},
		},
		ReferenceTickNs: timer.UnitNs,
		Pair: func() clock.Sandwich {
			return clock.Sandwich{Before: timer.Read(), Counter: c.Read(), After: timer.Read()}
		},
		HandOver: func(_ context.Context, n int) ([]check.Handed, error) {
			threads := []*clocktest.Clock{c.OnThread(0), c.OnThread(1)}
			var handed []check.Handed
			for i := range n {
				handed = append(handed, check.Handed{Thread: i % 2, Ticks: threads[i%2].Read()})
				c.Machine.Idle(100)
			}
			return handed, nil
		},
	}
}

// bench returns the simulated environment of a ranking: a core of 3 GHz.
func bench(m *clocktest.Machine, timer *clocktest.Clock, seed uint64) Bench {
	return Bench{
		NowNs:    m.NowNs,
		Wait:     func(d time.Duration) { m.Idle(float64(d)) },
		CoreHz:   3e9,
		Rand:     rand.New(rand.NewPCG(seed, 4)),
		Tidy:     func() {},
		Progress: func(float64, string) {},
	}
}

// rankOne ranks one simulated clock.
func rankOne(t *testing.T, c *clocktest.Clock, seed uint64) Rating {
	t.Helper()
	timer := counter(c.Machine)
	ratings, err := Rank(background, []Candidate{candidate("clock", c, timer)}, QuickPlan, bench(c.Machine, timer, seed))
	if err != nil || len(ratings) != 1 {
		t.Fatalf("%d ratings, %v", len(ratings), err)
	}
	return ratings[0]
}

func nanosecondClock(seed uint64) *clocktest.Clock {
	return &clocktest.Clock{
		Machine: clocktest.NewMachine(seed), QuantumNs: 10, UnitNs: 1, PhaseNs: 3,
		Cost: clocktest.WithOutliers(clocktest.Jittered(25, 0.05), 0.01, 50),
	}
}

// Each planted fault gets its verdict, and a clock without a fault is trusted.
func TestRankFindsPlantedFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for _, c := range []struct {
		name   string
		spoil  func(*clocktest.Clock)
		want   stats.Verdict
		reason string // a part of the expected reason
		// zero: the quality must be 0, as section 4.4 of Kuperberg 2011a requires
		zero bool
	}{
		{"none", func(*clocktest.Clock) {}, stats.Trusted, "", false},
		{"slewed by 400 ppm, as NTP may", func(c *clocktest.Clock) { c.Faults.RatePPM = 400 }, stats.Trusted, "", false},
		{"constant", func(c *clocktest.Clock) { c.Faults.StuckFromNs, c.Faults.StuckToNs = -1, math.Inf(1) }, stats.Unusable, "never changed", false},
		{"back steps", func(c *clocktest.Clock) { c.Faults.BackStepEvery, c.Faults.BackStepNs = 300, 5000 }, stats.Unusable, "step back", true},
		{"offset between threads", func(c *clocktest.Clock) { c.Faults.ThreadOffsetNs = []float64{0, -400} }, stats.Unusable, "from one thread", true},
		{"offset the other way", func(c *clocktest.Clock) { c.Faults.ThreadOffsetNs = []float64{0, 400} }, stats.Unusable, "from one thread", true},
		{"drift", func(c *clocktest.Clock) { c.Faults.DriftPPMPerSecond = 50e3 }, stats.Unusable, "rate changed", true},
		{"jump", func(c *clocktest.Clock) { c.Faults.JumpAtNs, c.Faults.JumpNs = 20e6, 30e6 }, stats.Unusable, "stepped by 30.00 ms", true},
		{"one step back of 20 µs", func(c *clocktest.Clock) { c.Faults.JumpAtNs, c.Faults.JumpNs = 60e6, -20e3 }, stats.Unusable, "stepped by -", true},
		{"stuck for a while", func(c *clocktest.Clock) { c.Faults.StuckFromNs, c.Faults.StuckToNs = 12e6, 30e6 }, stats.Unusable, "rate changed", true},
		{"wrong rate", func(c *clocktest.Clock) { c.Faults.RatePPM = 20e3 }, stats.Suspect, "times the rate", false},
		{"wraps at 16 bits", func(c *clocktest.Clock) { c.Faults.WrapBits = 16 }, stats.Unusable, "step back", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(10) {
				sim := nanosecondClock(seed)
				c.spoil(sim)
				r := rankOne(t, sim, seed)
				if r.Verdict != c.want {
					t.Fatalf("seed %d: %s %v, want %s", seed, r.Verdict, r.Reasons, c.want)
				}
				if c.reason == "" && len(r.Reasons) > 0 || !strings.Contains(strings.Join(r.Reasons, "; "), c.reason) {
					t.Errorf("seed %d: reasons %v, want one with %q", seed, r.Reasons, c.reason)
				}
				if c.zero && r.Quality.Value() != 0 {
					t.Errorf("seed %d: quality %v, want 0", seed, r.Quality)
				}
				if c.want == stats.Trusted && !(r.Quality.Value() > 0) {
					t.Errorf("seed %d: quality %v of a good clock", seed, r.Quality)
				}
			}
		})
	}
}

// A counter of a thread's events does not count time. It stands still while the thread sleeps, and
// that does not lower its verdict.
func TestRankOfClocksWithoutRate(t *testing.T) {
	c := nanosecondClock(1)
	timer := counter(c.Machine)
	events := candidate("events", c, timer)
	events.Pair = nil
	ratings, err := Rank(background, []Candidate{events}, QuickPlan, bench(c.Machine, timer, 1))
	if err != nil || ratings[0].Stable != nil || ratings[0].Verdict != stats.Trusted {
		t.Errorf("%+v, %v; want a trusted clock whose stability is not known", ratings, err)
	}
}

// A clock of scope thread is not compared between threads, a clock of scope machine is.
func TestRankKnowsScopes(t *testing.T) {
	for scope, want := range map[clock.Scope]bool{clock.ScopeThread: true, clock.ScopeMachine: false} {
		c := nanosecondClock(1)
		c.Faults.ThreadOffsetNs = []float64{0, 5e6}
		timer := counter(c.Machine)
		one := candidate("clock", c, timer)
		one.Clock.Scope = scope
		ratings, err := Rank(background, []Candidate{one}, QuickPlan, bench(c.Machine, timer, 1))
		if err != nil || ratings[0].ThreadSafe == nil || *ratings[0].ThreadSafe != want {
			t.Errorf("scope %s: %+v, %v; want thread safety %v", scope, ratings, err, want)
		}
	}
}

// A thread's CPU time can't pass twice as fast as real time, but may pass more slowly.
func TestRankOfCPUClocks(t *testing.T) {
	for ppm, want := range map[float64]bool{1e6: false, -5e5: true} {
		c := nanosecondClock(1)
		c.Faults.RatePPM = ppm
		timer := counter(c.Machine)
		cpu := candidate("clock", c, timer)
		cpu.Clock.Kind, cpu.Clock.Scope = clock.KindCPU, clock.ScopeThread
		ratings, err := Rank(background, []Candidate{cpu}, QuickPlan, bench(c.Machine, timer, 1))
		if err != nil || ratings[0].Stable == nil || *ratings[0].Stable != want {
			t.Errorf("%v ppm: %+v, %v; want stability %v", ppm, ratings, err, want)
		}
	}
}

// The interval of the accuracy includes the error of the calibration.
func TestRankCarriesTheErrorOfTheUnit(t *testing.T) {
	c := nanosecondClock(1)
	timer := counter(c.Machine)
	one := candidate("clock", c, timer)
	one.Subject.UnitError = 1e-3
	ratings, err := Rank(background, []Candidate{one}, QuickPlan, bench(c.Machine, timer, 1))
	if a := ratings[0].Accuracy; err != nil || a.Lo > 10*(1-0.99e-3) || a.Hi < 10*(1+0.99e-3) {
		t.Errorf("%v [%v, %v], %v; want 1000 ppm to either side", a.Value, a.Lo, a.Hi, err)
	}
}

// The quality of a clock without faults is that of Formula (1) for its true accuracy, cost and
// spread.
func TestRankedQualityIsThatOfTheTruth(t *testing.T) {
	for seed := range uint64(20) {
		c := nanosecondClock(seed)
		c.Cost = clocktest.Jittered(25, 0.02)
		r := rankOne(t, c, seed)
		want := math.Pow(10*3, -0.1) * math.Pow(25*3, -0.1) * math.Sqrt(r.Spread.Value())
		if !(math.Abs(r.Quality.Value()-want) <= 0.005) {
			t.Errorf("seed %d: quality %v, want %.4f", seed, r.Quality, want)
		}
	}
}

// Ten rankings of the same three clocks have the same order and nearly the same qualities.
func TestRankIsRepeatable(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	type clockOf struct {
		name          string
		quantum, unit float64
		cost          float64
	}
	clocks := []clockOf{{"fine", 10, 0.4, 8}, {"middle", 10, 1, 25}, {"coarse", 4e6, 1, 5}, {"one second", 1e9, 1e9, 5}}
	lowest, highest := map[string]float64{}, map[string]float64{}
	slices.Reverse(clocks) // they are measured in the reverse order of their ranks
	for seed := range uint64(10) {
		m := clocktest.NewMachine(seed)
		m.Preemption = &clocktest.Preemption{EveryNs: 4e6, ForNs: 1e5}
		timer := counter(m)
		var all []Candidate
		for _, c := range clocks {
			sim := &clocktest.Clock{Machine: m, QuantumNs: c.quantum, UnitNs: c.unit, Cost: clocktest.WithOutliers(clocktest.Jittered(c.cost, 0.1), 0.01, 50)}
			all = append(all, candidate(c.name, sim, timer))
		}
		ratings, err := Rank(background, all, DefaultPlan, bench(m, timer, seed))
		if err != nil || len(ratings) != len(clocks) {
			t.Fatalf("%d ratings, %v", len(ratings), err)
		}
		for i, r := range ratings {
			if want := clocks[len(clocks)-1-i].name; r.Name != want {
				t.Errorf("seed %d: place %d is %s, want %s", seed, i, r.Name, want)
			}
			if l, seen := lowest[r.Name]; !seen || r.Quality.Value() < l {
				lowest[r.Name] = r.Quality.Value()
			}
			highest[r.Name] = math.Max(highest[r.Name], r.Quality.Value())
		}
	}
	for _, c := range clocks {
		if highest[c.name]-lowest[c.name] > 0.06 {
			t.Errorf("%s: quality from %.3f to %.3f, want within 3 percentage points to either side", c.name, lowest[c.name], highest[c.name])
		}
	}
}

// A clock that is too slow for a sample of its own is watched while the others are measured. Its
// interval shows that only a few ticks were seen.
func TestRankWatchesSlowClocks(t *testing.T) {
	m := clocktest.NewMachine(1)
	timer := counter(m)
	slow := &clocktest.Clock{Machine: m, QuantumNs: 1e9, UnitNs: 1e9, PhaseNs: 4e8, Cost: clocktest.Constant(5)}
	ratings, err := Rank(background, []Candidate{candidate("slow", slow, timer)}, DefaultPlan, bench(m, timer, 1))
	if err != nil {
		t.Fatal(err)
	}
	a := ratings[0].Accuracy
	if a.Value != 1e9 || !(a.Hi > 1e9 && a.Hi < 1.6e9) || ratings[0].Verdict != stats.Suspect {
		t.Errorf("accuracy %v [%v, %v], %s; want 1 s with a bound that is not far, suspect", a.Value, a.Lo, a.Hi, ratings[0].Verdict)
	}
}

// An interrupted ranking keeps what was measured so far.
func TestRankKeepsWhatWasMeasured(t *testing.T) {
	m := clocktest.NewMachine(1)
	timer := counter(m)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	b := bench(m, timer, 1)
	b.Progress = func(share float64, _ string) {
		if share > 0.6 {
			cancel()
		}
	}
	var all []Candidate
	for _, name := range []string{"one", "two"} {
		all = append(all, candidate(name, &clocktest.Clock{Machine: m, QuantumNs: 10, UnitNs: 1, Cost: clocktest.Constant(25)}, timer))
	}
	ratings, err := Rank(ctx, all, DefaultPlan, b)
	if !errors.Is(err, context.Canceled) || len(ratings) == 0 {
		t.Fatalf("%d ratings, %v; want some, and that it was cancelled", len(ratings), err)
	}
	for _, r := range ratings {
		if math.Abs(r.Accuracy.Value-10) > 0.1 {
			t.Errorf("%s: accuracy %v ns, want 10", r.Name, r.Accuracy.Value)
		}
		if r.ThreadSafe != nil {
			t.Errorf("%s: thread safety %v, though it was not reached", r.Name, *r.ThreadSafe)
		}
	}
}

// Without the core's rate, the quality is missing and not guessed. The clocks are still ordered, the
// fit ones first.
func TestRankWithoutCoreRate(t *testing.T) {
	c := nanosecondClock(1)
	timer := counter(c.Machine)
	b := bench(c.Machine, timer, 1)
	b.CoreHz = math.NaN()
	broken, coarse := *c, *c
	broken.Faults.BackStepEvery, broken.Faults.BackStepNs = 300, 5000
	coarse.QuantumNs = 1e4
	candidates := []Candidate{candidate("broken", &broken, timer), candidate("coarse", &coarse, timer), candidate("clock", c, timer)}
	ratings, err := Rank(background, candidates, QuickPlan, b)
	if err != nil || len(ratings) != 3 {
		t.Fatalf("%d ratings, %v", len(ratings), err)
	}
	for i, name := range []string{"clock", "coarse", "broken"} {
		if ratings[i].Name != name || ratings[i].Quality.Value() > 0 {
			t.Errorf("place %d: %s with quality %v, want %s and none", i+1, ratings[i].Name, ratings[i].Quality, name)
		}
	}
	if math.Abs(ratings[0].Accuracy.Value-10) > 0.1 {
		t.Errorf("accuracy %v ns, want 10", ratings[0].Accuracy.Value)
	}
	for i := range ratings {
		ratings[i].Runtime = "go"
	}
	if wall := BestOf(ratings).Wall; or(wall) != "clock" {
		t.Errorf("%s is recommended, want clock", or(wall))
	}
	if wall := BestOf(ratings[2:]).Wall; wall != nil {
		t.Errorf("%s is recommended, though it steps back", *wall)
	}
}
