package gobench

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"chronoscope/clock/clocktest"
	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/stats"
)

// shared is a plain machine of that load.
func shared(load int) clocktest.Sharing {
	return clocktest.Sharing{
		Load: load, SliceNs: 3e6, SliceJitter: 0.2, LookNs: 1500, SwitchNs: clocktest.Above(1e3, 1e3, 0.4),
		Timers: []clocktest.Timer{{PeriodNs: 4e6, PhaseNs: 1e6, Kernel: true, Cost: clocktest.Above(2e3, 1e3, 0.4)}},
	}
}

func newShared(seed uint64, load int, truthNs float64) (*simulated, machine.Noise) {
	return simulatedCase{seed: seed, truthNs: truthNs, load: load, sharing: shared(load), watchNs: 0.5e9}.start()
}

// A benchmark that sleeps: nothing waits on a calm machine, and the timer is right;
// under load only bounds are known, which hold the truth, and no such figure is trusted.
func TestBlocking(t *testing.T) {
	for _, c := range []struct {
		load  int
		basis Basis
	}{{1, Timer}, {11, Bounds}} {
		for seed := range uint64(50) {
			s, noise := newShared(seed, c.load, 200e3)
			s.sleepNs = 800e3
			r := measureOne(s, noise, DefaultPlan)
			if r.Basis != c.basis {
				t.Fatalf("load %d, seed %d: it rests on %q, want %q: %+v", c.load, seed, r.Basis, c.basis, r)
			}
			if !(r.Estimate.Lo <= 1e6*1.005 && r.Estimate.Hi >= 1e6*0.995) {
				t.Errorf("load %d, seed %d: a millisecond measured as %+v", c.load, seed, r.Estimate)
			}
			if c.basis == Bounds && r.Verdict == stats.Trusted {
				t.Errorf("load %d, seed %d: bounds are trusted: %+v", c.load, seed, r.Estimate)
			}
		}
	}
}

// Work with the timer stopped is no part of the figure, and setup cancels.
func TestUntimed(t *testing.T) {
	for _, load := range []int{1, 11} {
		covered := 0
		for seed := range uint64(100) {
			s, noise := newShared(seed, load, 100e3)
			s.untimedNs, s.setupNs = 50e3, 5e6
			r := measureOne(s, noise, DefaultPlan)
			if r.Estimate.Covers(100e3) {
				covered++
			}
			if load > 1 && r.Verdict == stats.Trusted {
				t.Errorf("seed %d: trusted, though what was timed is not known under load", seed)
			}
		}
		if covered < 91 {
			t.Errorf("load %d: %d of 100 intervals cover", load, covered)
		}
	}
}

// A timer that shows less after many iterations than after few, by chance, once made its
// benchmark stand still "for 108 % of the time".
func TestUntimedIsAtMostAll(t *testing.T) {
	var used []Repetition
	for i := range 8 {
		used = append(used, Repetition{
			Few:  Observation{N: 1000, TimedNs: 2e3 + float64(i), WallNs: 1e6},
			Many: Observation{N: 100000, TimedNs: 1e3, WallNs: 2e6},
		})
	}
	if share := untimedOf(used); share != 1 {
		t.Errorf("its timer stands still for %v of the time, want all of it", share)
	}
}

// A benchmark without work stops no timer, and nothing says so.
func TestEmptyBenchmarkStopsNoTimer(t *testing.T) {
	s, noise := newShared(1, 1, 0)
	s.startNs = 2e6
	r := measureOne(s, noise, DefaultPlan)
	reasons := strings.Join(r.Reasons, "; ")
	if r.Verdict == stats.Trusted || !strings.Contains(reasons, saysOptimised) || strings.Contains(reasons, "StopTimer") {
		t.Errorf("%v %s: %s", r.Estimate, r.Verdict, reasons)
	}
}

// Two revisions of one benchmark: equal ones are seldom told apart, and one that takes
// 5 % longer is seen, at any load, with an interval that covers the ratio.
func TestCompareRevisions(t *testing.T) {
	for _, c := range []struct {
		load  int
		ratio float64
	}{{1, 1}, {11, 1}, {1, 1.05}, {11, 1.05}, {11, 0.9}} {
		const n = 100
		outcomes, covered := map[stats.Outcome]int{}, 0
		for seed := range uint64(n) {
			s, noise := newShared(seed, c.load, 10e3)
			s.slower = map[string]float64{"": c.ratio}
			setting := Setting{Checks: env.ChecksOf(noise), CPUs: 1}
			plan := DefaultPlan
			plan.Seed = seed
			all, err := Measure(background, s, [][]Benchmark{{{Name: "BenchmarkX", Revision: "old"}, {Name: "BenchmarkX"}}}, plan, setting, nil)
			if err != nil {
				t.Fatal(err)
			}
			group := all[0]
			if len(group[0].Repetitions) != len(group[1].Repetitions) {
				t.Fatalf("%d and %d repetitions are no pairs", len(group[0].Repetitions), len(group[1].Repetitions))
			}
			got := Compare(Conclude(group[0], plan, setting), Conclude(group[1], plan, setting), 0.02, 1)
			outcomes[got.Outcome]++
			if got.Ratio.Covers(c.ratio) {
				covered++
			}
		}
		t.Logf("load %d, ratio %v: %v, %d of %d covered", c.load, c.ratio, outcomes, covered, n)
		if covered < 91 {
			t.Errorf("load %d, ratio %v: %d of %d intervals cover", c.load, c.ratio, covered, n)
		}
		switch {
		case c.ratio == 1 && outcomes[stats.Slower]+outcomes[stats.Faster] > 9:
			t.Errorf("load %d: equal benchmarks are told apart: %v", c.load, outcomes)
		case c.ratio > 1 && outcomes[stats.Slower] < 90, c.ratio < 1 && outcomes[stats.Faster] < 90:
			t.Errorf("load %d, ratio %v: it is not seen: %v", c.load, c.ratio, outcomes)
		}
	}
}

// What can't be had of a result that was not measured is no number, and it is never
// better than unusable.
func TestNothingMeasured(t *testing.T) {
	failed := &FailedError{Benchmark: Benchmark{Name: "BenchmarkX"}, Why: "exit status 2", Output: "panic: no\n\tgoroutine 1"}
	r := Conclude(&Series{Failure: failed}, DefaultPlan, Setting{})
	if r.Verdict != stats.Unusable || !math.IsNaN(r.Estimate.Value) || !strings.Contains(r.Reasons[0], "panic: no") {
		t.Errorf("%+v", r)
	}
	if c := Compare(r, r, 0.01, 1); c.Outcome != stats.Undecided || !math.IsNaN(c.P) {
		t.Errorf("%+v", c)
	}
}

// A panic is the reason of a failure also where it stands on the line that the benchmark's result was to have.
func TestPanicOnTheLineOfAResult(t *testing.T) {
	failed := &FailedError{Benchmark: Benchmark{Name: "BenchmarkX"}, Why: "exit status 2", Output: "BenchmarkX-2 \tpanic: no\n\ngoroutine 6 [running]:\n\tx_test.go:301 +0x66\n"}
	if got, want := failed.Error(), "BenchmarkX: exit status 2; it printed: panic: no"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// failing fails at one run, and ends ctx at another.
type failing struct {
	*simulated
	failAt, cancelAt int
	cancel           context.CancelFunc
}

func (f *failing) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	if f.runs+1 == f.cancelAt {
		f.cancel()
	}
	if f.runs+1 == f.failAt {
		f.runs++
		return Observation{}, &FailedError{Benchmark: b, Why: "it fails"}
	}
	return f.simulated.Run(ctx, b, n, traced)
}

func TestFailureLater(t *testing.T) {
	s, noise := newShared(1, 1, 1e3)
	all, err := Measure(background, &failing{simulated: s, failAt: 20}, [][]Benchmark{{{Name: "BenchmarkA"}}, {{Name: "BenchmarkB"}}}, DefaultPlan, Setting{Checks: env.ChecksOf(noise), CPUs: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	failures := 0
	for _, group := range all {
		r := Conclude(group[0], DefaultPlan, Setting{Checks: env.ChecksOf(noise), CPUs: 1})
		if failed := group[0].Failure != nil; r.Failed != failed {
			t.Errorf("failed: %v, and its result says %v", failed, r.Failed)
		}
		if group[0].Failure != nil {
			failures++
		} else if len(group[0].Repetitions) < DefaultPlan.LeastRepetitions {
			t.Errorf("the other has %d repetitions", len(group[0].Repetitions))
		}
	}
	if failures != 1 {
		t.Errorf("%d failed, want 1", failures)
	}
}

// Interrupted, what was measured stays, and is not trusted.
func TestInterrupted(t *testing.T) {
	s, noise := newShared(1, 1, 1e3)
	ctx, cancel := context.WithCancel(background)
	setting := Setting{Checks: env.ChecksOf(noise), CPUs: 1}
	all, err := Measure(ctx, &failing{simulated: s, cancelAt: 12, cancel: cancel}, [][]Benchmark{{{Name: "BenchmarkA"}}}, DefaultPlan, setting, nil)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	r := Conclude(all[0][0], DefaultPlan, setting)
	if len(r.Repetitions) == 0 || len(r.Repetitions) >= DefaultPlan.LeastRepetitions || r.Verdict == stats.Trusted {
		t.Errorf("%d repetitions, %s", len(r.Repetitions), r.Verdict)
	}
}

// Where the first run of the search for the iterations takes all the time, it stands for a
// repetition.
func TestOneRepetitionInAnyCase(t *testing.T) {
	s, noise := newShared(1, 1, 2e9)
	plan := DefaultPlan
	plan.MaxTime = time.Millisecond
	r := measureOne(s, noise, plan)
	if len(r.Repetitions) != 1 || r.Verdict == stats.Trusted || math.Abs(r.Estimate.Value/2e9-1) > 0.01 {
		t.Errorf("%d repetitions, %+v", len(r.Repetitions), r)
	}
}

// A benchmark whose repetitions don't fit into twice the time has a value and no trust.
func TestTooSlow(t *testing.T) {
	s, noise := newShared(1, 1, 2e9)
	plan := DefaultPlan
	plan.MaxTime = 10 * time.Second
	r := measureOne(s, noise, plan)
	if len(r.Repetitions) >= plan.LeastRepetitions || r.Verdict == stats.Trusted || math.Abs(r.Estimate.Value/2e9-1) > 0.01 {
		t.Errorf("%d repetitions, %+v", len(r.Repetitions), r)
	}
}

// Threads that wait in vain in the shorter run, as the collector's do beside other programs, do not make a benchmark
// that computes all the time look as if it blocked.
func TestVainWaitsOfTheShorterRun(t *testing.T) {
	s := &Series{Benchmark: Benchmark{Name: "BenchmarkX"}, few: 200, many: 1000}
	of := func(n int, wallMs, cpuMs, waitMs float64) Observation {
		return Observation{N: n, Procs: 2, TimedNs: wallMs * 1e6, WallNs: wallMs * 1e6, CPUNs: cpuMs * 1e6, WaitNs: waitMs * 1e6, ProcessNs: (wallMs + 5) * 1e6}
	}
	for i := range 12 {
		vain := float64(15 + i%5)
		s.Repetitions = append(s.Repetitions, Repetition{Few: of(200, 20, 5, 15+vain), Many: of(1000, 81, 25, 56+float64(i%3)), Traced: true})
	}
	if k := kindOf(s, 2, nil); k.mayBlock || k.blocks || !k.alone {
		t.Errorf("blocks: %v, %v, alone: %v; missing %v", k.mayBlock, k.blocks, k.alone, each(k.used, Repetition.missing))
	}
}
