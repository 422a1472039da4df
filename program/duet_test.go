package program

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"chronoscope/clock/clocktest"
	"chronoscope/process"
	"chronoscope/stats"
)

// duetCase is two programs on a recorded core, which something else uses for most of the time.
type duetCase struct {
	core      clocktest.SharedCore
	seed      uint64
	workMs    float64
	slower    float64 // of the second
	blockedMs float64 // of each run of the second
	failsFrom int     // the duet from which on the second fails; 0 for none
	plan      Plan
	made      int
}

// run returns a run of a program that had the core for ranMs, and waited for it meanwhile.
func (c *duetCase) run(second bool, ranMs, keptMs float64) Run {
	if second && c.blockedMs > 0 {
		end := ranMs + c.blockedMs
		run := begun().at(ranMs/2, process.Blocked, 1, 1, 0).at(ranMs/2+c.blockedMs, process.SwitchedIn, 1, 1, 0).at(end, process.Exited, 1, 1, 0).run(end, ranMs, process.Thread{ID: 1, CPUNs: int64(ranMs * ms), ReadNs: int64(end * ms)})
		run.UserNs = int64(ranMs * ms)
		return run
	}
	run := keptFor(ranMs, keptMs)
	run.UserNs = int64(ranMs * ms)
	return run
}

// measure measures both programs, and returns their results.
func (c *duetCase) measure(t *testing.T) []*Result {
	t.Helper()
	setting := Setting{CPUs: 1}
	m := measurement{
		plan: c.plan, setting: setting, cpus: 1, rng: rand.New(rand.NewPCG(c.seed, 3)), checks: setting.checks(),
		all: []*series{{command: Command{Name: "old"}}, {command: Command{Name: "new"}}},
	}
	works := func(name string) float64 {
		ns := c.workMs * ms * (1 + 0.003*m.rng.NormFloat64())
		if name == "new" {
			ns *= c.slower
		}
		return ns
	}
	m.run = func(_ context.Context, command Command, traced bool) (Run, error) {
		w := c.core.Work(m.rng, 1, works(command.Name), 0, func(slowed float64) float64 { return slowed })[0]
		run := c.run(command.Name == "new", w.Ns/ms, 0)
		run.slowedBefore, run.slowedAfter = w.SlowedBefore, w.SlowedAfter
		if traced {
			run.Untraced = nil
		}
		return run, nil
	}
	m.runTogether = func(_ context.Context, both [2]Command) (runs [2]Run, errs [2]error) {
		c.made++
		ran := c.core.Turns(m.rng, 3*ms, works(both[0].Name), works(both[1].Name))
		for i, command := range both {
			if second := command.Name == "new"; second && c.failsFrom > 0 && c.made >= c.failsFrom {
				runs[i].ExitCode = 1
			} else {
				runs[i] = c.run(second, ran[i]/ms, ran[1-i]/ms)
			}
		}
		return runs, errs
	}
	if err := m.measure(background); err != nil {
		t.Fatal(err)
	}
	return []*Result{m.concluded(m.all[0]), m.concluded(m.all[1])}
}

// duetPlan ends by numbers of runs, as no time passes.
var duetPlan = Plan{Precision: 0.01, MinRuns: 10, MaxRuns: 60, MaxTime: time.Hour, Duets: AlsoDuets}

func sharedCores(t *testing.T) []clocktest.SharedCore {
	t.Helper()
	cores, err := clocktest.SharedCores()
	if err != nil || len(cores) == 0 {
		t.Fatalf("%d recordings: %v", len(cores), err)
	}
	return cores
}

// On cores that something else uses, the ratio of two builds by duets is a fraction as wide as that of runs one after the
// other, and holds the truth.
func TestDuetsOnSharedCores(t *testing.T) {
	const seeds = 50
	widths := map[Duets][]float64{}
	for _, duets := range []Duets{NoDuets, AlsoDuets, OnlyDuets} {
		for _, slower := range []float64{1, 1.03} {
			held, of := 0, 0
			for _, core := range sharedCores(t) {
				for seed := range uint64(seeds) {
					c := duetCase{core: core, seed: seed, workMs: 10, slower: slower, plan: duetPlan}
					c.plan.Duets = duets
					r := c.measure(t)
					ratio := Compare(r[0], r[1], 0, seed)
					widths[duets] = append(widths[duets], ratio.Ratio.RelativeHalfWidth())
					if of++; ratio.Ratio.Covers(slower) {
						held++
					}
					if p := ratio.Pair(1); p.Duets != (duets != NoDuets) || p.NoDuets != "" || (c.made > 0) != p.Duets {
						t.Fatalf("%d duets: %+v", c.made, p)
					}
					if own := len(r[1].Runs); duets == OnlyDuets && own > fewestOwn+3 {
						t.Fatalf("%d runs by itself", own)
					}
				}
			}
			if held < atLeast(of) {
				t.Errorf("duets %d: %d of %d ratios hold %v", duets, held, of, slower)
			}
		}
	}
	one, also, only := stats.Median(widths[NoDuets]), stats.Median(widths[AlsoDuets]), stats.Median(widths[OnlyDuets])
	t.Logf("half-widths: %.3f one after the other, %.4f in duets, %.4f in nothing else", one, also, only)
	if also > one/5 || only > one/5 {
		t.Errorf("half-widths: %.3f one after the other, %.4f in duets, %.4f in nothing else", one, also, only)
	}
}

// A gate of 1 % finds 5 % by duets, and blames no equal program.
func TestGatedDuets(t *testing.T) {
	const seeds = 20
	for slower, want := range map[float64][2]int{1: {0, 1}, 1.05: {2*seeds - 2, 2 * seeds}} {
		found := 0
		for _, core := range sharedCores(t) {
			for seed := range uint64(seeds) {
				c := duetCase{core: core, seed: seed, workMs: 10, slower: slower, plan: duetPlan}
				gate := stats.Gate{Limit: 0.01}
				c.plan.Gated = &Gated{gate, [][2]int{{0, 1}}}
				r := c.measure(t)
				if Judge([]Comparison{Compare(r[0], r[1], 0.02, seed)}, gate)[0].Joint.Side == stats.Beyond {
					found++
				}
			}
		}
		if found < want[0] || found > want[1] {
			t.Errorf("%v times as long: %d of %d found", slower, found, 2*seeds)
		}
	}
}

// Programs that wait, or whose duets fail, are compared by runs one after the other, and the pair says why.
func TestNoDuets(t *testing.T) {
	core := sharedCores(t)[0]
	for name, c := range map[string]struct {
		duetCase
		duets bool
		why   string
	}{
		"it blocks":           {duetCase{blockedMs: 3}, false, "new waits for something other than a CPU for"},
		"the third one fails": {duetCase{failsFrom: 3}, false, "when both ran at the same time, new failed: exit status 1"},
		"the 20th one fails":  {duetCase{failsFrom: 20}, true, "when both ran at the same time, new failed: exit status 1"},
	} {
		c.core, c.workMs, c.slower, c.plan = core, 10, 1, duetPlan
		c.plan.Precision = 1e-4 // all runs are made
		r := c.measure(t)
		pair := Compare(r[0], r[1], 0, 1)
		p, want := pair.Pair(1), c.plan.MaxRuns
		if c.duets {
			want = c.failsFrom - 1
		}
		if p.Duets != c.duets || !strings.Contains(p.NoDuets, c.why) || pair.pairs.Len() > want || pair.pairs.Len() < want-1 {
			t.Errorf("%s: %d pairs of %d, %+v", name, pair.pairs.Len(), want, p)
		}
	}
}

// A program that waits within its duets is longer by that, and one whose threads run at once is shorter, unless both do.
func TestBoundsOfDuets(t *testing.T) {
	of := func(cpuMs, blockedMs, atOnce float64) *Result {
		r := &Result{inDuets: true}
		for i := range 20 {
			r.Duets = append(r.Duets, DuetRun{CPUNs: (cpuMs + 1e-4*float64(i)) * ms, BlockedNs: blockedMs * ms})
			r.atOnce = append(r.atOnce, atOnce)
		}
		return r
	}
	for name, c := range map[string]struct {
		a, b   *Result
		lo, hi float64
	}{
		"nothing":             {of(10, 0, 0), of(10, 0, 0), 1, 1},
		"both wait":           {of(10, 1, 0), of(10, 1, 0), 1, 1},
		"one waits":           {of(10, 0, 0), of(10, 1, 0), 1, 1.1},
		"the first waits":     {of(10, 1, 0), of(10, 0, 0), 1 / 1.1, 1},
		"both at once":        {of(10, 0, 0.2), of(10, 0, 0.2), 1, 1},
		"one runs in part so": {of(10, 0, 0), of(10, 0, 0.2), 0.8, 1},
	} {
		ratio := Compare(c.a, c.b, 0, 1).Ratio
		if math.Abs(ratio.Lo-c.lo) > 1e-3 || math.Abs(ratio.Hi-c.hi) > 1e-3 {
			t.Errorf("%s: %v to %v, want %v to %v", name, ratio.Lo, ratio.Hi, c.lo, c.hi)
		}
	}
}

// Real programs run at the same time on one CPU: each waits while the other runs.
func TestRealDuets(t *testing.T) {
	loop := func(name string, n int) Command {
		return Command{Name: name, Command: process.Command{Path: "sh", Args: []string{"-c", "i=0; while [ $i -lt " + map[int]string{1: "40000", 2: "80000"}[n] + " ]; do i=$((i+1)); done"}}}
	}
	plan := Plan{Precision: 0.5, MinRuns: 6, MaxRuns: 8, MaxTime: time.Minute, Duets: OnlyDuets}
	results, err := Measure(background, []Command{loop("one", 1), loop("two", 2)}, plan, Setting{CPUs: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := Compare(results[0], results[1], 0, 1)
	if p := c.Pair(1); p.NoDuets != "" {
		t.Skip(p.NoDuets) // the kernel does not tell when it ran
	}
	if n := c.pairs.Len(); n < 6 || c.Ratio.Value < 1.3 || c.Ratio.Value > 2.7 {
		t.Errorf("%d pairs: %+v", n, c.Ratio)
	}
	if _, err := Measure(background, []Command{loop("one", 1)}, plan, Setting{}, nil); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("duets of one command: %v", err)
	}
}
