package gobench

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/stats"
)

// warming is a benchmark on an idle machine that spends onceNs and onceBytes in each process
// as its pools fill, or twice as much by chance, as fastjson's of canada.json does.
type warming struct {
	rng                    *rand.Rand
	iterationNs, onceNs    float64
	bytes, onceBytes, byNs float64 // an iteration takes in bytes; it is processed at byNs bytes a ns
	runs                   []int
}

func (w *warming) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	w.runs = append(w.runs, n)
	times := float64(1 + w.rng.IntN(2))
	timedNs := w.onceNs*times + float64(n)*w.iterationNs*(1+0.001*w.rng.NormFloat64())
	all := timedNs + 3e6 + w.iterationNs
	o := Observation{N: n, Procs: 1, WallNs: all, CPUNs: all}
	o.TimedNs, o.RoundingNs = printed(timedNs, n)
	o.Metrics = []Metric{
		{Unit: "MB/s", Value: w.byNs * 1e3 * w.iterationNs * float64(n) / timedNs},
		{Unit: "B/op", Value: math.Floor(w.bytes + times*w.onceBytes/float64(n))}, {Unit: "frogs/op", Value: 7},
	}
	return o, nil
}

func quietSetting() Setting {
	return Setting{CPUs: 1, Checks: env.ChecksOf(machine.Noise{WatchedNs: 1e9, SwitchNs: math.NaN()})}
}

// fastjson's BenchmarkParse/canada/fastjson was measured with 4 iterations, since 2 took
// long as its pools filled: a negative time, and 18.5 MB/op where go test says 2 B/op.
func TestWhatIsSpentOnceHidesNoIteration(t *testing.T) {
	for seed := range uint64(20) {
		w := &warming{rng: rand.New(rand.NewPCG(seed, 1)), iterationNs: 4e6, onceNs: 120e6, bytes: 2, onceBytes: 74e6, byNs: 0.5}
		all, err := Measure(background, w, [][]Benchmark{{{Name: "BenchmarkX"}}}, DefaultPlan, quietSetting(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r := Conclude(all[0][0], DefaultPlan, quietSetting())
		if r.Iterations < 8 || !(r.Estimate.Lo <= 4.05e6 && r.Estimate.Hi >= 3.95e6) {
			t.Errorf("seed %d: %d iterations of 4 ms measured as %+v", seed, r.Iterations, r.Estimate)
		}
		if r.Verdict == stats.Trusted && math.Abs(r.Estimate.Value/4e6-1) > 0.05 {
			t.Errorf("seed %d: wrongly trusted: %+v", seed, r.Estimate)
		}
	}
}

// The part that is spent once cancels in bytes and rates as it does in the time; a figure of
// the benchmark's own stays.
func TestMetricsAreSlopes(t *testing.T) {
	w := &warming{rng: rand.New(rand.NewPCG(1, 1)), iterationNs: 4e6, onceNs: 120e6, bytes: 2, onceBytes: 74e6, byNs: 0.5}
	var reps []Repetition
	for len(reps) < 6 {
		few, _ := w.Run(background, Benchmark{}, 10, true)
		many, _ := w.Run(background, Benchmark{}, 50, true)
		for _, o := range []*Observation{&few, &many} { // both with one pool
			total := 120e6 + 4e6*float64(o.N)
			o.TimedNs, o.Metrics[0].Value, o.Metrics[1].Value = total, 500*4e6*float64(o.N)/total, math.Floor(2+74e6/float64(o.N))
		}
		reps = append(reps, Repetition{Few: few, Many: many, Traced: true})
	}
	r := Conclude(&Series{Repetitions: reps}, DefaultPlan, quietSetting())
	for i, want := range []float64{500, 2, 7} {
		if got := r.Metrics[i].Value; math.Abs(got-want) > 1 {
			t.Errorf("%s: %g, want %g", r.Metrics[i].Unit, got, want)
		}
	}
	for _, c := range []struct{ few, many, want float64 }{{1, 0, 0}, {16, 16, 16}, {3, 2, 2}, {100, 10, 0}} {
		of := func(n int, v float64) Observation {
			return Observation{N: n, Metrics: []Metric{{Unit: "allocs/op", Value: v}}}
		}
		if got := (Repetition{Few: of(10, c.few), Many: of(50, c.many)}).metric(0); got != c.want {
			t.Errorf("%g and %g allocs/op: %g, want %g", c.few, c.many, got, c.want)
		}
	}
}

// A time is never below 0, whatever chance makes of a difference of runs.
func TestNoNegativeTime(t *testing.T) {
	for _, slope := range []float64{-1e6, -1e3, 0, 1e3} {
		s := &Series{}
		for i := range 6 {
			of := func(n int) Observation {
				ns := 200e6 + slope*float64(n) + 1e6*float64(i%3-1)*float64(n%4)
				return Observation{N: n, Procs: 1, TimedNs: ns, WallNs: ns + 3e6, CPUNs: ns + 3e6}
			}
			s.Repetitions = append(s.Repetitions, Repetition{Few: of(2), Many: of(4), Traced: true})
		}
		r := Conclude(s, DefaultPlan, quietSetting())
		for _, e := range []stats.Estimate{r.Estimate, r.Wall, r.CPU} {
			if e.Value <= 0 || e.Lo < 0 || e.Hi < 0 {
				t.Errorf("slope %g: %+v", slope, e)
			}
		}
		if slope <= 0 && r.Verdict != stats.Unusable {
			t.Errorf("slope %g: %s", slope, r.Verdict)
		}
	}
}

// --quick took 53 s for one repetition of 4 s an iteration, without a word: what can't be
// repeated within the time is run once, and told so with the time that it needs.
func TestTooSlowIsRunOnce(t *testing.T) {
	layouts := make([]string, 8)
	for _, revisions := range [][]Benchmark{{{Name: "BenchmarkX"}}, {{Name: "BenchmarkX", Revision: "old"}, {Name: "BenchmarkX"}}, {{Name: "BenchmarkX", Revision: "old", Layouts: layouts}, {Name: "BenchmarkX", Layouts: layouts}}} {
		w := &warming{rng: rand.New(rand.NewPCG(1, 1)), iterationNs: 4e9}
		all, err := Measure(background, w, [][]Benchmark{revisions}, QuickPlan, quietSetting(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(w.runs) != len(revisions) {
			t.Errorf("%d benchmarks: runs of %v iterations", len(revisions), w.runs)
		}
		var results []*Result
		for _, s := range all[0] {
			r := Conclude(s, QuickPlan, quietSetting())
			results = append(results, r)
			if r.Verdict != stats.Unusable || len(r.Repetitions) != 1 || math.Abs(r.Estimate.Value/4e9-1) > 0.05 || !math.IsNaN(r.Estimate.Lo) || !math.IsNaN(r.Estimate.Hi) {
				t.Errorf("%s: %+v", r.Verdict, r.Estimate)
			}
			if text := strings.Join(r.Reasons, "; "); !strings.Contains(text, "an iteration takes 4") || !strings.Contains(text, "MaxTime") || !strings.Contains(text, "run once") {
				t.Errorf("%q", r.Reasons)
			}
		}
		if len(results) == 2 {
			c := Compare(results[0], results[1], 0.02, 1)
			if c.Outcome != stats.Undecided || c.pairs.Len() != 1 || !math.IsNaN(c.Ratio.Lo) || !math.IsNaN(c.Ratio.Hi) || c.Why == "" {
				t.Errorf("one run each: %+v, %s: %q", c.Ratio, c.Outcome, c.Why)
			}
		}
	}
}

// A single repetition of 386 µs for 220 ns, beside others that made it wait for 97.8 % of its time, was
// suspect: nothing tells how far it is off.
func TestOneRepetitionIsUnusable(t *testing.T) {
	of := func(n int) Observation {
		const perNs = 386e3
		return Observation{N: n, Procs: 2, TimedNs: perNs * float64(n), WallNs: perNs * float64(n), CPUNs: 220 * float64(n), WaitNs: 0.978 * perNs * float64(n)}
	}
	r := Conclude(&Series{Repetitions: []Repetition{{Few: of(100), Many: of(500), Traced: true}}}, DefaultPlan, quietSetting())
	if r.Verdict != stats.Unusable || !strings.Contains(strings.Join(r.Reasons, "; "), "a single repetition") {
		t.Errorf("%s %q", r.Verdict, r.Reasons)
	}
}

// Only every other repetition of a benchmark that the tracer slows counts: it was ended with
// 5 of them after 5 s of 60, and told that 6 are needed and that more time helps.
func TestTimeIsUsedUp(t *testing.T) {
	for _, signals := range []int{0, 1e6} {
		w := &warming{rng: rand.New(rand.NewPCG(1, 1)), iterationNs: 1e6}
		slowedByTracing := runnerOf(func(b Benchmark, n int, traced bool) Observation {
			o, _ := w.Run(background, b, n, traced)
			o.Signals = signals
			if w.iterationNs = 1e6 * (1 + 0.05*w.rng.NormFloat64()); !traced {
				o.WaitNs = math.NaN()
			}
			return o
		})
		plan := DefaultPlan
		plan.MaxTime = 60 * time.Second
		all, err := Measure(background, slowedByTracing, [][]Benchmark{{{Name: "BenchmarkX"}}}, plan, quietSetting(), nil)
		if err != nil {
			t.Fatal(err)
		}
		s := all[0][0]
		r := Conclude(s, plan, quietSetting())
		if r.Estimate.N < plan.LeastRepetitions {
			t.Errorf("%d signals: %d repetitions count after %v of 1m", signals, r.Estimate.N, s.spent)
		}
		if text := strings.Join(r.Reasons, "; "); strings.Contains(text, "more time") && s.spent < plan.MaxTime {
			t.Errorf("%d signals: after %v of 1m: %q", signals, s.spent, text)
		}
	}
}

type runnerOf func(b Benchmark, n int, traced bool) Observation

func (f runnerOf) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	return f(b, n, traced), nil
}

// The timer of a loop stands still for most of an iteration: the search for iterations goes by the clock. Its third run was to
// take 20 s of 5 s.
func TestSearchForIterationsGoesByTheClock(t *testing.T) {
	const timedNs, clockNs, startNs = 100, 1e6, 5e6
	for name, start := range map[string]float64{"with its own counters": 0, "with those of the process": startNs} {
		longest := 0.
		runner := runnerOf(func(b Benchmark, n int, traced bool) Observation {
			ns := clockNs * float64(n)
			longest = math.Max(longest, ns+startNs)
			return Observation{N: n, Procs: 1, TimedNs: timedNs * float64(n), WallNs: ns + start, CPUNs: ns + start, ProcessNs: ns + startNs}
		})
		m := measurement{runner: runner, settle: func() {}, plan: QuickPlan, setting: quietSetting(), least: QuickPlan.LeastRepetitions, places: rand.New(rand.NewPCG(1, 2))}
		s := &Series{Benchmark: Benchmark{Name: "BenchmarkX"}}
		if err := m.choose(background, s); err != nil {
			t.Fatal(err)
		}
		if most := float64(m.plan.MaxTime); longest > most/8 || float64(s.spent) > most/4 || s.many < 100 {
			t.Errorf("%s: the longest run of the search took %.3g s, all %v; %d iterations", name, longest/1e9, s.spent, s.many)
		}
	}
}

// A process that is slow to start does not end the search with its first runs.
func TestSearchForIterationsBehindASlowStart(t *testing.T) {
	runner := runnerOf(func(b Benchmark, n int, traced bool) Observation {
		ns := 1e3 * float64(n)
		return Observation{N: n, Procs: 1, TimedNs: ns, WallNs: ns, CPUNs: ns, ProcessNs: ns + 2e9}
	})
	all, err := Measure(background, runner, [][]Benchmark{{{Name: "BenchmarkX"}}}, DefaultPlan, quietSetting(), nil)
	if err != nil || all[0][0].many < 50_000 {
		t.Errorf("%d iterations of 1 µs: %v", all[0][0].many, err)
	}
}

// A benchmark with b.StopTimer in its loop was said to have waited 483.5 % of its time, and
// one of several threads 899.6 %: the shares are of all of the threads' time.
func TestWaitedAtMostAll(t *testing.T) {
	for name, c := range map[string]struct{ timed, wall, cpu, wait float64 }{
		"StopTimer": {7e3, 100e3, 60e3, 34e3}, "nine threads": {1e6, 1e6, 1e6, 9e6},
	} {
		s := &Series{}
		for i := range 6 {
			of := func(n int) Observation {
				scale := float64(n) * (1 + 0.001*float64(i))
				return Observation{N: n, Procs: 1, TimedNs: c.timed * scale * (1 + 0.5*float64(i%3)), WallNs: c.wall * scale, CPUNs: c.cpu * scale, WaitNs: c.wait * scale}
			}
			s.Repetitions = append(s.Repetitions, Repetition{Few: of(10), Many: of(50), Traced: true})
		}
		r := Conclude(s, DefaultPlan, quietSetting())
		want := c.wait / math.Max(c.wall, c.cpu+c.wait)
		if math.Abs(r.WaitShare.Value()-want) > 1e-9 || r.Verdict == stats.Trusted {
			t.Errorf("%s: waited %.1f %%, want %.1f %%; %s", name, 100*r.WaitShare.Value(), 100*want, r.Verdict)
		}
	}
}

// Two runs far apart are undecided for want of pairs, and say so.
func TestTooFewPairs(t *testing.T) {
	result := func(ns float64) *Result {
		s := &Series{}
		for range 3 {
			of := func(n int) Observation {
				return Observation{N: n, Procs: 1, TimedNs: ns * float64(n), WallNs: ns*float64(n) + 3e6, CPUNs: ns*float64(n) + 3e6}
			}
			s.Repetitions = append(s.Repetitions, Repetition{Few: of(10), Many: of(50), Traced: true})
		}
		return Conclude(s, DefaultPlan, quietSetting())
	}
	c := Compare(result(1e6), result(330e6), 0.02, 1)
	if want := "3 pairs of repetitions are too few to tell, 6 are needed"; c.Outcome != stats.Undecided || c.Why != want {
		t.Errorf("%s, %q, want %q", c.Outcome, c.Why, want)
	}
}

// Iterations of 2 to 30 ms within 5 s, in processes that spend up to 30 times, or twice 30 times, as much
// once: no time is below 0, and what the difference of two runs does not carry is unusable.
func TestSlowIterationsInLittleTime(t *testing.T) {
	plan := QuickPlan
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 2))
		w := &warming{rng: rng, iterationNs: logUniform(rng, 2e6, 30e6), bytes: 2, onceBytes: 74e6, byNs: 0.5}
		w.onceNs = w.iterationNs * logUniform(rng, 1, 30)
		all, err := Measure(background, w, [][]Benchmark{{{Name: "BenchmarkX"}}}, plan, quietSetting(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r := Conclude(all[0][0], plan, quietSetting())
		off, bytes := math.Abs(r.Estimate.Value/w.iterationNs-1), r.Metrics[1].Value
		if r.Estimate.Value <= 0 || r.Estimate.Lo < 0 || r.Verdict != stats.Unusable && (off > 0.05 || bytes > 3) {
			t.Errorf("seed %d: %.3g ms and 2 B measured as %+v and %g B, %s", seed, w.iterationNs/1e6, r.Estimate, bytes, r.Verdict)
		}
	}
}
