package gobench

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chronoscope/clock/clocktest"
	"chronoscope/machine"
	"chronoscope/stats"
)

// recordedCore runs benchmarks on one of the recorded shared cores. Something else used it for three quarters of the time,
// from spells of 50 µs to phases of seconds, and all that runs meanwhile takes longer.
type recordedCore struct {
	core    clocktest.SharedCore
	rng     *rand.Rand
	atNs    float64
	slower  map[string]float64 // by name, of the new revision
	threads float64            // of either revision; 0 means 1
	more    float64            // threads of the new revision
	one     bool               // all of them but one collect garbage
	fails   int                // the duet in which the new revision fails, and all later ones; 0 for none
	sleeps  map[string]float64 // by which share of their time revisions wait for something else
	can     bool
	duets   int
}

// sliceNs is how long one of two processes on one CPU runs until the other has its turn.
const sliceNs = 3e6

// startNs is what the start of a process takes.
const startNs = 5e6

// opNs is the time of an iteration on a core that nothing shares.
const opNs = 20e3

// job is a process.
type job struct {
	startNs, leftNs float64
	cpuNs           float64 // without its start
	beganNs, endNs  float64 // of the iterations, by the clock
	sleepsNs        float64 // meanwhile
}

func (r *recordedCore) job(b Benchmark, n int) *job {
	ns := opNs * float64(n) * (1 + 0.005*r.rng.NormFloat64())
	if slower, ok := r.slower[b.Name]; ok && b.Revision == "" {
		ns *= slower
	}
	return &job{startNs: startNs * (0.8 + 0.4*r.rng.Float64()), leftNs: ns, sleepsNs: ns * r.sleeps[b.Revision]}
}

// slowed returns by what share independent instructions take longer now.
func (r *recordedCore) slowed() float64 {
	return r.core.Slowed[int(r.atNs/recordedNs)%len(r.core.Slowed)]
}

// recordedNs is the time between two values of a recording.
const recordedNs = 50e3

// work lets a process run until it ends, or its turn does.
func (r *recordedCore) work(j *job, turnNs float64) {
	for began := r.atNs; r.atNs < began+turnNs && j.leftNs > 0; {
		slower := 1 + r.slowed()
		left := &j.leftNs
		if j.startNs > 0 {
			left, j.beganNs = &j.startNs, r.atNs
		} else {
			j.cpuNs += math.Min(recordedNs, j.leftNs*slower)
		}
		ns := math.Min(recordedNs, *left*slower)
		*left -= ns / slower
		if *left < 1 {
			*left = 0
		}
		r.atNs += ns
		j.endNs = r.atNs
	}
}

// threadsOf returns how many threads of a benchmark run at once, on average, if it has two CPUs.
func (r *recordedCore) threadsOf(b Benchmark) float64 {
	if b.Revision == "" {
		return math.Max(1, math.Max(r.threads, r.more))
	}
	return math.Max(1, r.threads)
}

// observed returns what a process showed that had as many CPUs as it has threads, or just one.
func (r *recordedCore) observed(j *job, n int, wallNs, threads float64) Observation {
	timedNs, waitNs := j.endNs-j.beganNs, j.endNs-j.beganNs-j.cpuNs
	timedNs += j.sleepsNs
	return Observation{
		N: n, Procs: 2, OneGoroutine: r.one, TimedNs: timedNs, WallNs: timedNs, CPUNs: threads * j.cpuNs, WaitNs: waitNs, ProcessNs: wallNs,
		SlowedBefore: math.NaN(), SlowedAfter: math.NaN(), OthersNs: math.NaN(),
	}
}

func (r *recordedCore) Run(ctx context.Context, b Benchmark, n int, _ bool) (Observation, error) {
	if err := ctx.Err(); err != nil {
		return Observation{}, err
	}
	r.atNs += 1e6 * r.rng.ExpFloat64() // what the tool does between runs
	j, began, before := r.job(b, n), r.atNs, r.slowed()
	r.work(j, math.Inf(1))
	o := r.observed(j, n, r.atNs-began, r.threadsOf(b))
	o.SlowedBefore, o.SlowedAfter = before, r.slowed()
	return o, nil
}

func (r *recordedCore) CanDuet() bool { return r.can }

func (r *recordedCore) RunDuet(_ context.Context, d Duet) (o [2]Observation, errs [2]error) {
	r.duets++
	r.atNs += 1e6 * r.rng.ExpFloat64()
	began := r.atNs
	jobs := [2]*job{r.job(d.Benchmarks[0], d.N), r.job(d.Benchmarks[1], d.N)}
	for i, b := range d.Benchmarks {
		jobs[i].leftNs *= r.threadsOf(b)
	}
	for i := 0; jobs[0].leftNs > 0 || jobs[1].leftNs > 0; i++ {
		r.work(jobs[i%2], sliceNs*(0.7+0.6*r.rng.Float64()))
	}
	for i, j := range jobs {
		o[i] = r.observed(j, d.N, r.atNs-began, 1)
		if r.fails > 0 && r.duets >= r.fails && d.Benchmarks[i].Revision == "" {
			errs[i] = &FailedError{Benchmark: d.Benchmarks[i], Why: "it fails"}
		}
	}
	return o, errs
}

// recordedCores returns a runner on each recorded core.
func recordedCores(t *testing.T, seed uint64) (all []*recordedCore) {
	t.Helper()
	cores, err := clocktest.SharedCores()
	if err != nil || len(cores) == 0 {
		t.Fatalf("%d recordings: %v", len(cores), err)
	}
	for _, core := range cores {
		rng := rand.New(rand.NewPCG(seed, 0xd0e7))
		all = append(all, &recordedCore{core: core, rng: rng, atNs: rng.Float64() * 10e9, can: true})
	}
	return all
}

// compareOn measures two revisions of benchmarks, as the command does.
func compareOn(runner Runner, names []string, plan Plan) ([]Judged, [][]*Series) {
	var groups [][]Benchmark
	for _, name := range names {
		groups = append(groups, []Benchmark{{Name: name, Revision: "then"}, {Name: name}})
	}
	measured, err := Measure(background, runner, groups, plan, quietSetting(), nil)
	if err != nil {
		panic(err)
	}
	var all []Comparison
	for _, group := range measured {
		all = append(all, Compare(Conclude(group[0], plan, quietSetting()), Conclude(group[1], plan, quietSetting()), 2*plan.Precision, plan.Seed))
	}
	return Judge(all, plan), measured
}

// On a core that something else uses too, a gate of 1 % sees 5 % within seconds if both revisions run in duets. It mostly
// does not if they run one after the other. Of equal code nothing is blamed.
func TestDuetsOnSharedCores(t *testing.T) {
	const seeds = 15
	plan := quickGate(2*time.Second, 0.01)
	for _, c := range []struct {
		name           string
		duets, planted bool
		least, most    float64 // share of the gates that find something
	}{
		{"equal, in duets", true, false, 0, 1. / 30},
		{"equal, one after the other", false, false, 0, 1. / 30},
		{"5 % planted, in duets", true, true, 0.9, 1},
		{"5 % planted, one after the other", false, true, 0, 0.5},
	} {
		found, gates, scatter := 0., 0., []float64{}
		for seed := range uint64(seeds) {
			for _, runner := range recordedCores(t, seed) {
				runner.can = c.duets
				gates++
				if c.planted {
					runner.slower = map[string]float64{"BenchmarkX": 1.05}
				}
				plan.Seed = seed
				j, _ := compareOn(runner, []string{"BenchmarkX"}, plan)
				if j[0].Side == stats.Beyond {
					found++
				}
				if (runner.duets > 0) != c.duets {
					t.Fatalf("%s: %d duets", c.name, runner.duets)
				}
				pairs := j[0].Pairs()
				scatter = append(scatter, pairs.Scatter())
			}
		}
		t.Logf("%s: %v of %v gates find something; the scatter of a pair is %.2g %% in the median", c.name, found, gates, 100*stats.Median(scatter))
		if found < c.least*gates || found > c.most*gates {
			t.Errorf("%s: %v of %v gates find something, want shares of %.2g to %.2g", c.name, found, gates, c.least, c.most)
		}
	}
}

// A ratio by duets holds the truth as often as it says, and rests on the CPU time.
func TestDuetsHold(t *testing.T) {
	held, n := 0, 0
	for seed := range uint64(50) {
		for _, runner := range recordedCores(t, seed) {
			runner.slower = map[string]float64{"BenchmarkX": 1.1}
			plan := QuickPlan
			plan.Seed = seed
			j, series := compareOn(runner, []string{"BenchmarkX"}, plan)
			if n++; j[0].Ratio.Covers(1.1) {
				held++
			}
			if j[0].Basis != CPUTime || j[0].pairs.Len() != len(series[0][1].Duets) {
				t.Errorf("seed %d: %d pairs of %d duets, by %s", seed, j[0].pairs.Len(), len(series[0][1].Duets), j[0].Basis)
			}
		}
	}
	t.Logf("%d of %d ratios hold the truth", held, n)
	if held < atLeast(n) {
		t.Errorf("%d of %d ratios hold the truth, want %d", held, n, atLeast(n))
	}
}

// Benchmarks of several threads, and gates of metrics other than the time and allocations, have no duets: the CPU time of
// one does not tell its time, and the other figure is not known to be the same in a duet.
func TestNoDuets(t *testing.T) {
	for name, change := range map[string]func(*recordedCore, *Plan){
		"two threads":     func(r *recordedCore, _ *Plan) { r.threads = 1.2 },
		"much garbage":    func(r *recordedCore, _ *Plan) { r.threads, r.one = 2, true },
		"it sleeps":       func(r *recordedCore, _ *Plan) { r.sleeps = map[string]float64{"then": 0.5, "": 0.5} },
		"a limit of ns/x": func(_ *recordedCore, p *Plan) { p.Gate.Metrics = map[string]float64{"ns/x": 0.1} },
		"can't":           func(r *recordedCore, _ *Plan) { r.can = false },
		"no time":         func(_ *recordedCore, p *Plan) { p.MaxTime = 200 * time.Millisecond },
	} {
		runner, plan := recordedCores(t, 1)[0], quickGate(6*time.Second, 0.01)
		change(runner, &plan)
		if j, _ := compareOn(runner, []string{"BenchmarkX"}, plan); runner.duets > 0 || j[0].duets {
			t.Errorf("%s: %d duets", name, runner.duets)
		}
	}
	runner, plan := recordedCores(t, 1)[0], quickGate(6*time.Second, 0.01)
	plan.Gate.Metrics = map[string]float64{AllocsUnit: 0, bytesUnit: 0.01}
	if compareOn(runner, []string{"BenchmarkX"}, plan); runner.duets == 0 {
		t.Error("a limit of allocations: no duets")
	}
}

// Threads that run at once on two CPUs, such as the garbage collector's, take their turns on the one CPU of a duet. The same
// share of them in both revisions cancels. A revision that has more of them takes more CPU time, but is not known to take
// longer.
func TestCollectorsInDuets(t *testing.T) {
	for name, c := range map[string]struct {
		threads, more, slower float64
		least, most           float64 // share of the gates that find something
	}{"alike": {1.15, 0, 1, 0, 0.025}, "alike, 5 % slower": {1.15, 0, 1.05, 0.9, 1}, "more in the new one": {1, 1.15, 1, 0, 0.025}} {
		beyond, gates := 0., 0.
		for seed := range uint64(10) {
			for _, runner := range recordedCores(t, seed) {
				plan := quickGate(6*time.Second, 0.01)
				runner.one = true
				gates++
				plan.Seed, runner.threads, runner.more, runner.slower = seed, c.threads, c.more, map[string]float64{"BenchmarkX": c.slower}
				j, _ := compareOn(runner, []string{"BenchmarkX"}, plan)
				if j[0].Side == stats.Beyond {
					beyond++
				}
				if !j[0].duets {
					t.Errorf("%s: no duets", name)
				}
			}
		}
		t.Logf("%s: %v of %v beyond the limit", name, beyond, gates)
		if beyond < c.least*gates || beyond > c.most*gates {
			t.Errorf("%s: %v of %v gates find something, want shares of %.2g to %.2g", name, beyond, gates, c.least, c.most)
		}
	}
}

// A benchmark that fails in a duet, as where both want the same port, goes on without duets.
func TestFailureInADuet(t *testing.T) {
	runner, plan := recordedCores(t, 1)[0], quickGate(6*time.Second, 0.05)
	runner.fails = 1
	j, series := compareOn(runner, []string{"BenchmarkX", "BenchmarkY"}, plan)
	if runner.duets != 2 {
		t.Errorf("%d duets after the failures of both benchmarks, want 2", runner.duets)
	}
	for i, group := range series {
		if group[0].Failure != nil || group[1].Failure != nil || len(group[1].Duets) != 0 || j[i].duets || j[i].pairs.Len() < leastPairs {
			t.Errorf("%s: failures %v and %v, %d duets, %d pairs", group[0].Benchmark.Name, group[0].Failure, group[1].Failure, len(group[1].Duets), j[i].pairs.Len())
		}
	}
}

// A benchmark that fails in a duet after the gate looked at its duets ends with them: other pairs would be a second try of the
// gate.
func TestFailureInALateDuet(t *testing.T) {
	const ran = 40 // of which two make a pair
	runner, plan := recordedCores(t, 1)[0], quickGate(time.Minute, 0.01)
	runner.fails, runner.slower = ran+1, map[string]float64{"BenchmarkX": 1.01}
	j, series := compareOn(runner, []string{"BenchmarkX"}, plan)
	if runner.duets != ran+1 || j[0].pairs.Len() != ran/2 || !j[0].duets || j[0].Side != stats.Open || series[0][1].Failure != nil {
		t.Errorf("%d duets ran, %d pairs, duets %v, %s, failure %v", runner.duets, j[0].pairs.Len(), j[0].duets, j[0].Side, series[0][1].Failure)
	}
}

// crashing is a runner whose new revision also fails by itself from its first failure in a duet on.
type crashing struct{ *recordedCore }

func (c crashing) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	if c.duets >= c.fails && b.Revision == "" {
		return Observation{}, &FailedError{Benchmark: b, Why: "it crashes"}
	}
	return c.recordedCore.Run(ctx, b, n, traced)
}

// A benchmark that fails in a late duet, and then by itself, fails. The gate passed with the duets before that.
func TestCrashInALateDuet(t *testing.T) {
	runner, plan := crashing{recordedCores(t, 1)[0]}, quickGate(time.Minute, 0.01)
	runner.fails, runner.slower = 41, map[string]float64{"BenchmarkX": 1.01}
	_, series := compareOn(runner, []string{"BenchmarkX"}, plan)
	then, now := series[0][0], series[0][1]
	if then.Failure != nil || now.Failure == nil || now.Failure.Why != "it crashes" || !Conclude(now, plan, quietSetting()).Failed || len(now.Duets) != 20 {
		t.Errorf("%d duets, failures %v and %v", len(now.Duets), then.Failure, now.Failure)
	}
}

// reporting is a runner whose benchmarks wait for a CPU, and report a time of their own as ns/op: a multiple of their time that
// depends on the revision. A revision without a factor reports its time.
type reporting struct {
	*recordedCore
	factors map[string]float64
}

func (r reporting) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	o, err := r.recordedCore.Run(ctx, b, n, traced)
	waitNs := (0.2 + 0.2*r.rng.Float64()) * o.CPUNs
	o.WaitNs, o.WallNs, o.ProcessNs = o.WaitNs+waitNs, o.WallNs+waitNs, o.ProcessNs+waitNs
	if factor, ok := r.factors[b.Revision]; ok {
		o.TimedNs, o.OwnTime = factor*o.TimedNs, true
	} else {
		o.TimedNs += waitNs
	}
	return o, err
}

// A time of the benchmark's own is compared as it was reported, and not by CPU times or duets, which say nothing of it.
func TestOwnTimeHasNoDuets(t *testing.T) {
	for name, c := range map[string]struct {
		factors map[string]float64
		want    float64
	}{"both": {map[string]float64{"then": 3, "": 3.3}, 1.1}, "the new one": {map[string]float64{"": 3}, 3}} {
		for _, core := range recordedCores(t, 1) {
			j, _ := compareOn(reporting{core, c.factors}, []string{"BenchmarkX"}, quickGate(6*time.Second, 0.01))
			if core.duets > 0 || j[0].Basis != Timer || j[0].B.Basis != Timer || math.Abs(j[0].Ratio.Value/c.want-1) > 0.3 || j[0].Ratio.Hi < c.want {
				t.Errorf("%s: %d duets, by %s, ratio %+v, the new time by %s", name, core.duets, j[0].Basis, j[0].Ratio, j[0].B.Basis)
			}
		}
	}
}

// A revision that also waits for 3 % of its time, for something other than a CPU, is not within 2 %: its CPU time tells
// nothing of that. If both wait, that cancels.
func TestWaitsInDuets(t *testing.T) {
	for name, c := range map[string]struct {
		then, now float64
		within    bool
	}{"neither waits": {0, 0, true}, "one waits": {0, 0.03, false}, "both wait": {0.03, 0.03, true}} {
		for _, runner := range recordedCores(t, 1) {
			runner.sleeps = map[string]float64{"then": c.then, "": c.now}
			j, _ := compareOn(runner, []string{"BenchmarkX"}, quickGate(time.Minute, 0.02))
			if within := j[0].Side == stats.Within; within != c.within || !j[0].duets || c.within != (j[0].Ratio.Hi < 1.02) {
				t.Errorf("%s: %s, ratio %v, duets %v", name, j[0].Side, j[0].Ratio, j[0].duets)
			}
		}
	}
}

// On a shared core runs of many iterations may take less time for each, or more, than runs of few. That was put down to the
// code: "fill caches before b.ResetTimer, and let nothing grow".
func TestSharingIsNoFaultOfTheCode(t *testing.T) {
	for seed := range uint64(10) {
		for _, runner := range recordedCores(t, seed) {
			plan := quickGate(2*time.Second, 0.01)
			plan.Seed = seed
			j, _ := compareOn(runner, []string{"BenchmarkX"}, plan)
			for _, r := range []*Result{j[0].A, j[0].B} {
				if reasons := strings.Join(r.Reasons, "\n"); strings.Contains(reasons, "b.N") || strings.Contains(reasons, "ResetTimer") {
					t.Errorf("seed %d: %s", seed, reasons)
				}
			}
		}
	}
}

// Where only pairs matter, as in a search, there are as many as were asked for, and no late runs.
func TestPairsOnly(t *testing.T) {
	for _, can := range []bool{true, false} {
		runner, plan := recordedCores(t, 1)[0], DefaultPlan.WithGate(nil)
		runner.can, plan.PairsOnly, plan.MostRepetitions = can, true, 20
		j, series := compareOn(runner, []string{"BenchmarkX"}, plan)
		if n := j[0].pairs.Len(); n != 20 || len(series[0][0].late)+len(series[0][1].late) > 0 || j[0].duets != can {
			t.Errorf("duets %v: %d pairs, want 20; %d late runs", can, n, len(series[0][0].late))
		}
	}
}

// The processes of a duet share one CPU and have the GOMAXPROCS that was asked for. The iterations of either begin when both
// have set up. If one of them fails before that, the other one goes on.
func TestProcessesInADuet(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	allowed, err := machine.Affinity()
	if err != nil {
		t.Skip(err)
	}
	into := t.TempDir()
	built, err := Compile(background, "testdata/duet", into, []string{"."}, Building{})
	if err != nil || len(built.Tests) != 1 {
		t.Fatalf("%+v: %v", built, err)
	}
	p, b := Processes{DuetCPUs: allowed, Timeout: time.Minute}, built.Tests[0]
	b.Accounts = true
	starts := map[string]int{"BenchmarkPanics": 2} // known from runs by themselves
	run := func(name string, number int) ([2]Observation, [2]error) {
		t.Setenv("DUET_FOLDER", t.TempDir())
		b.Name = name
		longer := b
		longer.Padding = 3000
		return p.RunDuet(background, Duet{Benchmarks: [2]Benchmark{b, longer}, Starts: [2]int{starts[name], starts[name]}, N: 3, Procs: 2, Turn: number})
	}
	for number := range 8 {
		names := []string{"BenchmarkMeets", "BenchmarkMeetsInLoop", "BenchmarkMeetsLate", "BenchmarkPart/meets"}
		name := names[number%len(names)]
		if b.Name = name; starts[name] == 0 {
			t.Setenv("DUET_FOLDER", t.TempDir())
			alone, err := p.Run(background, b, 3, false)
			if starts[name] = alone.Starts; err != nil || alone.Starts < 2 {
				t.Fatalf("%s: its timer starts %d times: %v", name, alone.Starts, err)
			}
		}
		o, errs := run(name, number)
		var metrics [2]map[string]float64
		for i, err := range errs {
			metrics[i] = map[string]float64{}
			for _, m := range o[i].Metrics {
				metrics[i][m.Unit] = m.Value
			}
			if err != nil || o[i].N != 3 || metrics[i]["procs"] != 2 || metrics[i]["cpus"] != 1 || metrics[i]["padding"] != float64(3000*i) {
				t.Errorf("%s, process %d: %d iterations, %v: %v", name, i, o[i].N, metrics[i], err)
			}
		}
		if both := max(metrics[0]["ready"], metrics[1]["ready"]); min(metrics[0]["began"], metrics[1]["began"]) < both || both == 0 {
			t.Errorf("%s: %v: one began before the other was ready", name, metrics)
		}
	}
	o, errs := run("BenchmarkPanics", 0)
	failed := 0
	for i, err := range errs {
		if why := (*FailedError)(nil); errors.As(err, &why) {
			failed++
		} else if err != nil || o[i].N != 3 {
			t.Errorf("%d iterations beside a process that fails: %v", o[i].N, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(into, "duet*")); failed != 1 || err != nil || len(left) > 0 {
		t.Errorf("%d of 2 failed; left behind: %q, %v", failed, left, err)
	}
}

// So does the ratio of runs one after the other. Where one of two equal revisions left out the repetitions that shared their
// core, and the other one did not, all pairs were shifted.
func TestPairsHoldOnSharedCores(t *testing.T) {
	held, n := 0, 0
	for seed := range uint64(50) {
		for _, runner := range recordedCores(t, seed) {
			runner.can = false
			plan := QuickPlan
			plan.Seed = seed
			j, _ := compareOn(runner, []string{"BenchmarkX"}, plan)
			if n++; j[0].Ratio.Covers(1) {
				held++
			}
		}
	}
	t.Logf("%d of %d ratios hold the truth", held, n)
	if held < atLeast(n) {
		t.Errorf("%d of %d ratios hold the truth, want %d", held, n, atLeast(n))
	}
}

// A measurement that goes on adds pairs of the kind that there are, in the layouts whose turn it is, and learns nothing anew.
func TestResume(t *testing.T) {
	for _, can := range []bool{true, false} {
		runner, plan := recordedCores(t, 1)[0], DefaultPlan.WithGate(nil)
		runner.can, plan.PairsOnly, plan.MostRepetitions = can, true, 20
		layouts := []string{"a", "b", "c"}
		group := []Benchmark{{Name: "BenchmarkX", Revision: "then", Layouts: layouts, Binary: "usual"}, {Name: "BenchmarkX", Layouts: layouts, Binary: "usual"}}
		series, err := Measure(background, runner, [][]Benchmark{group}, plan, Setting{CPUs: 2}, nil)
		if err != nil {
			t.Fatal(err)
		}
		alone, many := len(series[0][0].Repetitions), series[0][0].many
		plan.MostRepetitions, runner.can = 3, true
		for range 2 {
			if err := Resume(background, runner, series, plan, Setting{CPUs: 2}, nil); err != nil {
				t.Fatal(err)
			}
		}
		c := Compare(Conclude(series[0][0], plan, Setting{CPUs: 2}), Conclude(series[0][1], plan, Setting{CPUs: 2}), 0, 1)
		if n := pairsOf(series[0], can); n != 26 || c.pairs.Len() != 26 || c.duets != can || can && len(series[0][0].Repetitions) != alone || !can && len(series[0][0].Repetitions) < alone+6 || series[0][0].many != many {
			t.Errorf("duets %v: %d pairs, want 26; %d repetitions, %d before; %d iterations, %d before", can, n, len(series[0][0].Repetitions), alone, series[0][0].many, many)
		}
	}
}
