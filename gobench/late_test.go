package gobench

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"chronoscope/stats"
)

// changing is a benchmark on an idle machine whose iterations change what they cost at some
// iteration of a call: iteration i takes costNs(i).
type changing struct {
	rng    *rand.Rand
	jitter float64
	sumNs  func(n int) float64 // what the first n iterations take
	wallNs float64             // of all runs
}

func (c *changing) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	timedNs := c.sumNs(n) * (1 + c.jitter*c.rng.NormFloat64())
	all := timedNs + 3e6 + c.sumNs(1)
	c.wallNs += all
	o := Observation{N: n, Procs: 1, WallNs: all, CPUNs: all}
	o.TimedNs, o.RoundingNs = printed(timedNs, n)
	return o, nil
}

// memoised is a benchmark that computes missNs for each of the keys once, which it draws at
// random, and finds the others in hitNs.
func memoised(missNs, hitNs, keys float64) func(n int) float64 {
	return func(n int) float64 {
		return hitNs*float64(n) + (missNs-hitNs)*keys*-math.Expm1(float64(n)*math.Log1p(-1/keys))
	}
}

// from is a benchmark whose iterations take times as long from one of them on.
func from(first int, ns, times float64) func(n int) float64 {
	return func(n int) float64 { return ns*float64(n) + ns*(times-1)*math.Max(0, float64(n-first)) }
}

// A benchmark that fills a cache was trusted with 107.9 µs, of 552 iterations: go test, whose
// last run takes a second, says 27 ns.
func TestCostThatChangesLater(t *testing.T) {
	for name, c := range map[string]struct {
		sumNs  func(int) float64
		steady bool
	}{
		"a cache of 20,000 results":       {memoised(107e3, 27, 20e3), false},
		"a cache of 5,000 results":        {memoised(107e3, 27, 5e3), false},
		"a cache of 2,000 slow results":   {memoised(900e3, 100, 2e3), false},
		"dearer from the 20,000th on":     {from(20000, 20e3, 3), false},
		"a third cheaper from the 5000th": {from(5000, 100e3, 0.67), false},
		"as it was":                       {from(1, 100e3, 1), true},
		"a nanosecond":                    {from(1, 1, 1), true},
		"a tenth of a second":             {from(1, 100e6, 1), true},
	} {
		for plan, jitter := range map[Plan]float64{DefaultPlan: 0.002, QuickPlan: 0.006} {
			trusted := 0
			for seed := range uint64(20) {
				w := &changing{rng: rand.New(rand.NewPCG(seed, 7)), jitter: jitter, sumNs: c.sumNs}
				plan.Seed = seed
				all, err := Measure(background, w, [][]Benchmark{{{Name: "BenchmarkX"}}}, plan, quietSetting(), nil)
				if err != nil {
					t.Fatal(err)
				}
				if Conclude(all[0][0], plan, quietSetting()).Verdict == stats.Trusted {
					trusted++
				}
				if w.wallNs > 2*float64(plan.MaxTime) {
					t.Errorf("%s: it took %v of %v", name, time.Duration(w.wallNs), plan.MaxTime)
				}
			}
			if !c.steady && trusted > 0 || c.steady && trusted < 18 {
				t.Errorf("%s, %v: %d of 20 trusted", name, plan.MaxTime, trusted)
			}
		}
	}
}

// revised is a benchmark that is another one in each revision.
type revised map[string]Runner

func (r revised) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	return r[b.Revision].Run(ctx, b, n, traced)
}

// The runs of pairs are too short to show a cost that comes later, such as that of the garbage collector with a large heap: a
// gate passed though the new revision's late runs told of it. Where both revisions become as expensive, or the old one
// alone, nothing speaks against the pairs.
func TestCostThatComesLaterIsNotWithin(t *testing.T) {
	steady, grows := from(math.MaxInt, 1e5, 1), from(400, 1e5, 1.5)
	for name, c := range map[string]struct {
		then, now func(int) float64
		limit     float64
		want      stats.Side
		undecided bool // the outcome
	}{
		"the new one": {steady, grows, 0.05, stats.Open, true}, "by less than the limit": {steady, grows, 0.8, stats.Within, true},
		"both": {grows, grows, 0.05, stats.Within, false}, "the old one": {grows, steady, 0.05, stats.Within, false},
		"none": {steady, steady, 0.05, stats.Within, false},
	} {
		for seed := range uint64(5) {
			plan := quickGate(7*time.Second, c.limit)
			plan.Seed = seed
			of := func(sumNs func(int) float64) *changing {
				return &changing{rng: rand.New(rand.NewPCG(seed, 11)), jitter: 0.005, sumNs: sumNs}
			}
			all, err := Measure(background, revised{"then": of(c.then), "": of(c.now)}, [][]Benchmark{{{Name: "BenchmarkX", Revision: "then"}, {Name: "BenchmarkX"}}}, plan, quietSetting(), nil)
			if err != nil {
				t.Fatal(err)
			}
			j := Judge(CompareAll(Conclude(all[0][0], plan, quietSetting()), Conclude(all[0][1], plan, quietSetting()), plan), plan)[0]
			isOpen := c.want == stats.Open
			if j.Side != c.want || strings.Contains(j.WhyOpen, "times as long as those that were compared, and at the other revision") != isOpen || (j.Outcome == stats.Undecided) != c.undecided || j.FarBeyond {
				t.Errorf("%s, seed %d: %s, %s: %q", name, seed, j.Side, j.Outcome, j.WhyOpen)
			}
		}
	}
}

// disturbed is a benchmark whose first runs of more than so many iterations take twice as long.
type disturbed struct {
	*changing
	beyond, runs int
}

func (d *disturbed) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	o, err := d.changing.Run(ctx, b, n, traced)
	if n > d.beyond && d.runs > 0 {
		d.runs--
		o.TimedNs, o.WallNs, o.CPUNs = 2*o.TimedNs, 2*o.WallNs, 2*o.CPUNs
	}
	return o, err
}

// What disturbs a late run of unchanged code may last for some of them. Another one tells when the gate would end, also where
// another benchmark would take the time.
func TestDisturbedLateRunsAreNotTheCode(t *testing.T) {
	for _, runs := range []int{1, 2, 3} {
		for seed := range uint64(5) {
			plan := quickGate(7*time.Second, 0.05)
			plan.Seed = seed
			of := func(runs int) *disturbed {
				return &disturbed{&changing{rng: rand.New(rand.NewPCG(seed, 11)), jitter: 0.005, sumNs: from(1, 1e5, 1)}, 400, runs}
			}
			quiet, noisy := revised{"then": of(0), "": of(runs)}, suiteOf(seed, 0.5)
			suite := runnerOf(func(b Benchmark, n int, traced bool) Observation {
				var runner Runner = quiet
				if b.Name != "BenchmarkX" {
					runner = noisy
				}
				o, _ := runner.Run(background, b, n, traced)
				return o
			})
			groups := [][]Benchmark{{{Name: "BenchmarkX", Revision: "then"}, {Name: "BenchmarkX"}}, {{Name: "Benchmark0", Revision: "then"}, {Name: "Benchmark0"}}}
			if runs < 3 || seed%2 == 1 { // to save time
				groups = groups[:1]
			}
			all, err := Measure(background, suite, groups, plan, quietSetting(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(all[0][0].Repetitions) != len(all[0][1].Repetitions) {
				t.Errorf("%d and %d repetitions", len(all[0][0].Repetitions), len(all[0][1].Repetitions))
			}
			j := Judge(CompareAll(Conclude(all[0][0], plan, quietSetting()), Conclude(all[0][1], plan, quietSetting()), plan), plan)[0]
			if j.Side != stats.Within {
				t.Errorf("%d disturbed runs, seed %d: %s: %q", runs, seed, j.Side, j.WhyOpen)
			}
		}
	}
}

// A benchmark that became much faster, and is slower later, made the old revision run for as many iterations, and
// many times as long as a late run may. Without such a run it was undecided, though it is faster later, too.
func TestSlowRevisionConfirmsNothing(t *testing.T) {
	plan := quickGate(7*time.Second, 0.05)
	of := func(ns float64, later float64) *changing {
		return &changing{rng: rand.New(rand.NewPCG(1, 11)), jitter: 0.005, sumNs: from(1100, ns, later)}
	}
	then := of(1.5e6, 1)
	all, err := Measure(background, revised{"then": then, "": of(1e5, 2)}, [][]Benchmark{{{Name: "BenchmarkX", Revision: "then"}, {Name: "BenchmarkX"}}}, plan, quietSetting(), nil)
	if err != nil {
		t.Fatal(err)
	}
	j := Judge(CompareAll(Conclude(all[0][0], plan, quietSetting()), Conclude(all[0][1], plan, quietSetting()), plan), plan)[0]
	if j.Side != stats.Within || j.Outcome != stats.Faster {
		t.Errorf("%s, %s: %q", j.Side, j.Outcome, j.Why)
	}
	if took := time.Duration(then.wallNs); took > plan.MaxTime/2 || len(all[0][1].late) == 0 {
		t.Errorf("the old revision took %v, with %d late runs of the new one", took, len(all[0][1].late))
	}
}

// A late run that no other one confirms, for want of time, tells nothing. Two tell that a cost rises.
func TestOneLateRunIsNotEnough(t *testing.T) {
	rising := func(Observation) stats.Estimate { return stats.Estimate{Value: 2, Lo: 1.9, Hi: 2.1} }
	of := func(runs ...int) *Result {
		r := &Result{late: rising(Observation{}), lateCostBy: rising}
		for _, n := range runs {
			r.lateRuns = append(r.lateRuns, Observation{N: n})
		}
		return r
	}
	for _, c := range []struct {
		runs        []int
		unconfirmed bool
	}{{[]int{400}, true}, {[]int{100, 100, 400}, true}, {[]int{400, 400}, false}} {
		compared := Comparison{A: &Result{}, B: of(c.runs...), Comparison: stats.Comparison{Ratio: stats.Estimate{Value: 1}}}
		if compared.later = laterRatio(compared.A, compared.B); !compared.mayExceedLater(0.05) || compared.exceedsLater(0.05) == c.unconfirmed {
			t.Errorf("late runs of %v iterations: %v", c.runs, compared.later)
		}
	}
}

// A single late run, after which there was no time for more, was not confirmed, so that a cost that rises later was within the limit.
func TestOneLateRunIsConfirmed(t *testing.T) {
	plan := quickGate(7*time.Second, 0.05)
	of := func(sumNs func(int) float64) *changing {
		return &changing{rng: rand.New(rand.NewPCG(1, 11)), jitter: 0.005, sumNs: sumNs}
	}
	all, err := Measure(background, revised{"then": of(from(1, 1e5, 1)), "": of(from(400, 1e5, 1.5))}, [][]Benchmark{{{Name: "BenchmarkX", Revision: "then"}, {Name: "BenchmarkX"}}}, plan, quietSetting(), nil)
	if err != nil {
		t.Fatal(err)
	}
	m := measurement{plan: plan, setting: quietSetting(), least: plan.leastOf(1)}
	for _, s := range all[0] {
		s.Repetitions = s.Repetitions[:m.least]
	}
	rising := all[0][1].late
	all[0][1].late = rising[len(rising)-1:]
	known := standing{}
	if m.settled(all[0], &known, 1, 0) || !known.wantsLate || known.quiet {
		t.Errorf("after one late run: %+v", known)
	}
}

// The old revision may have more iterations than the late runs of one that became much slower. It was run for fewer than its timed
// runs, which tells nothing of later ones.
func TestNoLateRunOfTimedIterations(t *testing.T) {
	runs := 0
	runner := runnerOf(func(_ Benchmark, n int, _ bool) Observation {
		runs++
		return Observation{N: n, TimedNs: 1e5 * float64(n)}
	})
	m := measurement{runner: runner, settle: func() {}, plan: quickGate(7*time.Second, 0.05), places: rand.New(rand.NewPCG(1, 2))}
	then, now := &Series{many: 8000}, &Series{many: 100, late: []Observation{{N: 400}}}
	for _, s := range []*Series{then, now} {
		s.Repetitions = []Repetition{{Many: Observation{N: s.many, WallNs: 1e3 * float64(s.many)}}}
	}
	if err := m.confirmLate(background, []*Series{then, now}); err != nil || len(then.late) != 0 || len(now.late) != 2 || runs != 1 {
		t.Errorf("%d late runs of the old revision, and %d of the new one: %v", len(then.late), len(now.late), err)
	}
}

// The same with a real benchmark.
func TestMemoIsNotTrusted(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	built, err := Compile(background, "testdata/memo", t.TempDir(), []string{"."}, Building{})
	if err != nil || len(built.Tests) != 1 {
		t.Fatalf("%+v, %v", built, err)
	}
	found, err := Processes{}.Discover(background, built.Tests[0], "Memo")
	if err != nil || len(found.Benchmarks) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	all, err := Measure(background, Processes{}, [][]Benchmark{found.Benchmarks}, QuickPlan, quietSetting(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := Conclude(all[0][0], QuickPlan, quietSetting())
	t.Logf("%d iterations: %v, %s: %q", r.Iterations, r.Estimate, r.Verdict, r.Reasons)
	if r.Verdict == stats.Trusted {
		t.Errorf("%d iterations, trusted: %+v", r.Iterations, r.Estimate)
	}
}
