package gobench

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"chronoscope/env"
	"chronoscope/process"
	"chronoscope/stats"
)

// hidden is a runner on a machine that hides other processes, as a container does, in all runs or in most. The CPU time of
// all processes is known in steps of 10 ms if the file counts this one, too. others is how many CPUs other programs use
// meanwhile.
type hidden struct {
	Runner
	others             float64
	calm               func(run int) bool // in these runs nothing else runs, and that is known
	noFile, notCounted bool
	wallNs, ranNs      float64
	ownNs              float64
	runs               int
}

func (h *hidden) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	o, err := h.Runner.Run(ctx, b, n, traced)
	calm := h.calm != nil && h.calm(h.runs)
	h.runs++
	h.wallNs, h.ownNs = h.wallNs+o.WallNs, h.ownNs+o.CPUNs
	if o.OthersNs = 0; !calm {
		o.OthersNs = math.NaN()
		h.ranNs += h.others * o.WallNs
	}
	if h.noFile {
		return o, err
	}
	const stepNs = 10e6
	o.Around = Around{At: time.Unix(1, int64(h.wallNs)), RanNs: stepNs * math.Floor((h.ranNs+h.ownNs)/stepNs), OwnNs: h.ownNs}
	if h.notCounted {
		o.Around.RanNs = 0
	}
	return o, err
}

const saysNotKnown, saysOtherCPUs = "the CPU time of other programs is not known", "other programs used other CPUs"

// In a container the CPU time of other processes is not known, and on other machines it is not of runs during which some came
// and went. That was taken for none, so that benchmarks beside a build were trusted however much it slowed them. What
// all processes used tells it. Where nothing ran, or hardly anything, the figure is trusted.
func TestHiddenNeighbours(t *testing.T) {
	fifth := func(run int) bool { return run/2%5 == 0 }
	for name, c := range map[string]struct {
		hidden
		says string // "" if it is trusted
	}{
		"nothing":             {hidden{}, ""},
		"hardly anything":     {hidden{others: 0.01}, ""},
		"a busy CPU":          {hidden{others: 1}, saysOtherCPUs},
		"mostly":              {hidden{others: 1, calm: fifth}, saysOtherCPUs},
		"never":               {hidden{others: 0, calm: fifth}, ""},
		"no file":             {hidden{noFile: true}, saysNotKnown},
		"not of this machine": {hidden{notCounted: true}, saysNotKnown},
		"no file, some known": {hidden{noFile: true, calm: fifth}, saysNotKnown},
	} {
		s, noise := newShared(3, 1, 1000)
		setting, plan := Setting{Checks: env.ChecksOf(noise), CPUs: 1}, DefaultPlan
		plan.LeastRepetitions = 24
		c.Runner = &beside{s, func(run int) bool { return c.others == 1 && (c.calm == nil || !c.calm(run)) }, false}
		all, err := Measure(background, &c.hidden, [][]Benchmark{{{Name: "BenchmarkWork"}}}, plan, setting, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := Conclude(all[0][0], plan, setting)
		if (r.Verdict == stats.Trusted) != (c.says == "") || !strings.Contains(strings.Join(r.Reasons, "\n"), c.says) {
			t.Errorf("%s: %s %q", name, r.Verdict, r.Reasons)
		}
	}
}

// Other programs that had the benchmark's own CPU, while it waited for that, were on no other one.
func TestHiddenProgramsOnItsOwnCPU(t *testing.T) {
	s, noise := newShared(4, 3, 1000)
	setting, plan := Setting{Checks: env.ChecksOf(noise), CPUs: 1}, DefaultPlan
	plan.LeastRepetitions = 24
	all, err := Measure(background, &hidden{Runner: s, others: 2. / 3}, [][]Benchmark{{{Name: "BenchmarkWork"}}}, plan, setting, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := Conclude(all[0][0], plan, setting); r.Verdict != stats.Trusted || r.Basis != CPUTime {
		t.Errorf("%s by %s: %q", r.Verdict, r.Basis, r.Reasons)
	}
}

// A benchmark waits for a server in a container of its own, which others keep from its CPU.
func TestHiddenProgramsDelayAServer(t *testing.T) {
	setting, plan := quietSetting(), DefaultPlan
	setting.CPUs, plan.MaxTime = 2, 5e9
	for _, others := range []float64{0, 0.3} {
		h := &helped{rng: rand.New(rand.NewPCG(1, 8)), workNs: 1e5, load: 1, sleeps: 2}
		all, err := Measure(background, &hidden{Runner: h, others: others}, [][]Benchmark{{{Name: "BenchmarkX"}}}, plan, setting, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := Conclude(all[0][0], plan, setting)
		if trusted := r.Verdict == stats.Trusted; trusted != (others == 0) || !r.Estimate.Covers(3e5*(1-0.9*others)) || !r.Estimate.Covers(3e5) {
			t.Errorf("others ran for %g: %s, %s: %q", others, r.Verdict, r.Estimate, r.Reasons)
		}
	}
}

// The average of what others used in a container was taken for the delay of each run of a benchmark that waits, so that on a
// machine of many busy CPUs it had no pairs, and a gate passed what became twice as slow. The same programs delay
// both revisions: their ratio is known, though the time of either is only known between bounds. Beside programs that are seen,
// a run is delayed for no longer than it waits.
func TestProgramsOnManyCPUsDelayAServer(t *testing.T) {
	setting, plan := quietSetting(), quickGate(7*time.Second, 0.05)
	setting.CPUs = 2
	for slower, want := range map[float64]stats.Side{1: stats.Within, 2: stats.Beyond} {
		for _, others := range []float64{0.3, 10} {
			rng := rand.New(rand.NewPCG(1, 12))
			of := func(workNs float64) *helped { return &helped{rng: rng, workNs: workNs, load: 1, sleeps: 2} }
			h := &hidden{Runner: revised{"then": of(1e5), "": of(slower * 1e5)}, others: others}
			all, err := Measure(background, h, [][]Benchmark{{{Name: "BenchmarkX", Revision: "then"}, {Name: "BenchmarkX"}}}, plan, setting, nil)
			if err != nil {
				t.Fatal(err)
			}
			then, now := Conclude(all[0][0], plan, setting), Conclude(all[0][1], plan, setting)
			if j := Judge(CompareAll(then, now, plan), plan)[0]; j.Side != want || !j.Ratio.Covers(slower) {
				t.Errorf("%v times slower beside %v CPUs: %s: %v: %q", slower, others, j.Side, j.Ratio, j.Why)
			}
			if then.Verdict == stats.Trusted {
				t.Errorf("beside %v CPUs: %s: %v", others, then.Verdict, then.Estimate)
			}
		}
	}
	for _, hides := range []bool{false, true} {
		var runner Runner = &helped{rng: rand.New(rand.NewPCG(1, 13)), workNs: 1e5, load: 1, sleeps: 2, others: 10}
		if hides {
			runner = &hidden{Runner: runner, others: 10}
		}
		all, err := Measure(background, runner, [][]Benchmark{{{Name: "BenchmarkX"}}}, DefaultPlan, setting, nil)
		if err != nil {
			t.Fatal(err)
		}
		// Its thread computes for a third of the time. The shorter run has at most a quarter of the iterations by which it differs.
		if r := Conclude(all[0][0], DefaultPlan, setting); !r.Estimate.Covers(1e5) || !r.Estimate.Covers(3e5) || !(r.Estimate.Lo > 0.49e5) || !(r.Estimate.Hi < 1.26*3e5) {
			t.Errorf("hidden: %v: %s: %v", hides, r.Verdict, r.Estimate)
		}
	}
}

// The own bounds of a benchmark that waits are wide beside unseen programs. So a late run that was slower did not count as one that
// shows it, none was made after it, and the gate passed what becomes slower later.
func TestServerThatBecomesSlowerLater(t *testing.T) {
	setting := quietSetting()
	setting.CPUs = 2
	for _, plan := range []Plan{QuickPlan, quickGate(7*time.Second, 0.05)} {
		for _, later := range []float64{1, 1.6} {
			of := func(later float64) Runner {
				sumNs := from(400, 1e5, later)
				h := &helped{rng: rand.New(rand.NewPCG(1, 12)), load: 1, sleeps: 2}
				return runnerOf(func(b Benchmark, n int, traced bool) Observation {
					h.workNs = sumNs(n) / float64(n)
					o, _ := h.Run(background, b, n, traced)
					return o
				})
			}
			h := &hidden{Runner: revised{"then": of(1), "": of(later)}, others: 0.5}
			all, err := Measure(background, h, [][]Benchmark{{{Name: "BenchmarkX", Revision: "then"}, {Name: "BenchmarkX"}}}, plan, setting, nil)
			if err != nil {
				t.Fatal(err)
			}
			j := Judge(CompareAll(Conclude(all[0][0], plan, setting), Conclude(all[0][1], plan, setting), plan), plan)[0]
			if says := strings.Contains(j.Why, "later iterations"); says != (later > 1) || plan.Gate != nil && (j.Side == stats.Within) == says {
				t.Errorf("%v times slower after %d iterations: %s, %s: %q", later, all[0][1].many, j.Side, j.Outcome, j.Why)
			}
		}
	}
}

// Of a benchmark that waits a little, one revision may seem to wait, and the other not. Only the first one was compared without what
// unseen programs used on average, so that equal code had a ratio from a half on.
func TestWaitsInOneOfTwo(t *testing.T) {
	of := func(waiting int) *Result {
		s := &Series{}
		var wallNs, ownNs float64
		for i := range 25 {
			run := func(n int) Observation {
				ns, busy := 1e5*float64(n), 1.
				if i < waiting {
					busy = 0.957
				}
				wallNs, ownNs = wallNs+ns, ownNs+busy*ns
				return Observation{N: n, Procs: 1, TimedNs: ns, WallNs: ns, CPUNs: busy * ns, OthersNs: math.NaN(), Around: Around{At: time.Unix(1, int64(wallNs)), RanNs: ownNs + wallNs, OwnNs: ownNs}}
			}
			s.Repetitions = append(s.Repetitions, Repetition{Few: run(100), Many: run(1100), Traced: true})
		}
		setting := quietSetting()
		setting.CPUs = 2
		return Conclude(s, DefaultPlan, setting)
	}
	for _, c := range []struct{ a, b *Result }{{of(8), of(6)}, {of(6), of(8)}} {
		if c.a.timed.kind.mayBlock == c.b.timed.kind.mayBlock {
			t.Fatal("both wait, or neither does")
		}
		if ratio := Compare(c.a, c.b, 0.02, 1).Ratio; !(ratio.Lo > 0.99) || !(ratio.Hi < 1.01) {
			t.Errorf("equal code: %v", ratio)
		}
	}
}

// Some kernels count no waits. What others are known to have used was forgotten there, as if it were unknown.
func TestOthersWhereWaitsAreUnknown(t *testing.T) {
	run := Observation{WallNs: 2e8, WaitNs: math.NaN(), OthersNs: 1e8}
	k := kind{waitShare: math.NaN(), othersAround: math.NaN()}
	if got := k.othersElsewhere(Repetition{Few: run, Many: run}); got != 0.5 {
		t.Errorf("others used %v CPUs, want 0.5", got)
	}
}

// stopped returns a series of a benchmark on an idle machine, in a group that has used up its quota of CPU time in each run.
// An iteration computes for cpuNs, is stopped for stoppedNs, and waits for something else for sleepNs.
func stopped(cpuNs, stoppedNs, sleepNs float64) *Series {
	s := &Series{}
	run := func(n float64) Observation {
		wallNs := n * (cpuNs + stoppedNs + sleepNs)
		o := Observation{N: int(n), Procs: 1, TimedNs: wallNs, WallNs: wallNs, CPUNs: n * cpuNs, WaitNs: n * stoppedNs, ProcessNs: wallNs + 3e6, Throttled: true, SlowedBefore: math.NaN(), SlowedAfter: math.NaN()}
		o.SelfWaitNs = o.selfWaitNs(process.OthersUse{Known: true, CPUNs: 1000}, 0)
		return o
	}
	for range 20 {
		s.Repetitions = append(s.Repetitions, Repetition{Few: run(100), Many: run(1100), Traced: true})
	}
	return s
}

// Nobody else had the CPU while a quota stopped the benchmark, so that the time was taken for waits of its own threads for
// one another, and counted in full: twice what it takes was trusted. The CPU time of one thread tells it. If the benchmark
// also waits for something, such as a process of the same group, that may have been stopped as well.
func TestQuotaIsUsedUp(t *testing.T) {
	for _, c := range []struct {
		stoppedNs, sleepNs float64
		trusted            bool
	}{{1e5, 0, true}, {0, 1e5, false}} {
		r := Conclude(stopped(1e5, c.stoppedNs, c.sleepNs), DefaultPlan, quietSetting())
		if says := strings.Contains(strings.Join(r.Reasons, "\n"), "40 of 40 runs"); (r.Verdict == stats.Trusted) != c.trusted || says == c.trusted || !r.Estimate.Covers(1e5+c.sleepNs) {
			t.Errorf("sleeps for %g ns: %s by %s, %s: %q", c.sleepNs, r.Verdict, r.Basis, r.Estimate, r.Reasons)
		}
	}
}
