package program

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
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
	unnoted   float64 // the share of duets that the kernel does not note
	until     float64 // the share of its time for which the second works until some time, and reads clocks
	coldMs    float64 // by which the first runs of both take longer by the clock, before their programs begin
	breaks    int     // the run from which on the second fails by itself; 0 for none
	plan      Plan
	made      int
	own       int
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
		all:      []*series{{command: Command{Name: "old"}}, {command: Command{Name: "new"}, looksAtClock: c.until > 0}},
		progress: func(Progress) {},
	}
	var now time.Time
	m.now = func() time.Time { return now }
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
		now = now.Add(time.Duration(run.WallNs))
		if c.own < 2 {
			now = now.Add(time.Duration(c.coldMs * ms))
		}
		if c.own++; c.breaks > 0 && c.own >= c.breaks && command.Name == "new" {
			return Run{}, &FailedError{Name: command.Name, What: TheCommand, Err: errTimeout}
		}
		run.slowedBefore, run.slowedAfter = w.SlowedBefore, w.SlowedAfter
		if traced {
			run.Untraced = nil
		}
		return run, nil
	}
	m.runTogether = func(_ context.Context, both [2]Command) (runs [2]Run, errs [2]error) {
		c.made++
		ran := c.core.Turns(m.rng, 3*ms, works(both[0].Name), works(both[1].Name))
		now = now.Add(time.Duration(ran[0] + ran[1]))
		for i, command := range both {
			second := command.Name == "new"
			if second {
				ran[i] *= 1 - c.until/2
			}
			runs[i] = c.run(second, ran[i]/ms, ran[1-i]/ms)
			if second && c.failsFrom > 0 && c.made >= c.failsFrom {
				runs[i].ExitCode = 1
			}
			if m.rng.Float64() < c.unnoted {
				runs[i].Events = nil
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

func recordedCores(t *testing.T) []clocktest.SharedCore {
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
	const seeds = 25
	widths := map[Duets][]float64{}
	for _, duets := range []Duets{NoDuets, AlsoDuets, OnlyDuets} {
		for _, slower := range []float64{1, 1.03} {
			held, of := 0, 0
			for _, core := range recordedCores(t) {
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
	const seeds = 10
	for slower, want := range map[float64][2]float64{1: {0, 0.025}, 1.05: {0.95, 1}} {
		found, gates := 0., 0.
		for _, core := range recordedCores(t) {
			for seed := range uint64(seeds) {
				gates++
				c := duetCase{core: core, seed: seed, workMs: 10, slower: slower, plan: duetPlan}
				gate := stats.Gate{Limit: 0.01}
				c.plan.Gated = &Gated{gate, [][2]int{{0, 1}}}
				r := c.measure(t)
				if Judge([]Comparison{Compare(r[0], r[1], 0.02, seed)}, gate)[0].Joint.Side == stats.Beyond {
					found++
				}
			}
		}
		if found < want[0]*gates || found > want[1]*gates {
			t.Errorf("%v times as long: %v of %v found", slower, found, gates)
		}
	}
}

// Programs that don't suit duets, or fail in them, are compared by runs one after the other, and the pair says why. So is a
// search that wants nothing but duets, which gets its pairs all the same.
func TestNoDuets(t *testing.T) {
	core := recordedCores(t)[0]
	failed := "when both ran at the same time, new failed: exit status 1"
	for name, c := range map[string]struct {
		duetCase
		change func(*Plan)
		duets  bool
		why    string
		pairs  int // about
	}{
		"it blocks":                        {duetCase{blockedMs: 3}, nil, false, "new waits for something other than a CPU for", 60},
		"it works until some time":         {duetCase{until: 0.6}, nil, false, "new looks at clocks, and does less if another program has its CPU, too", 60},
		"it works until some time, cold":   {duetCase{until: 0.6, coldMs: 20_000}, nil, false, "new looks at clocks, and does less if another program has its CPU, too", 60},
		"it works until some time, a bit":  {duetCase{until: 0.05}, nil, true, "", 60},
		"the kernel never tells":           {duetCase{unnoted: 1}, nil, false, "the kernel did not tell when", 60},
		"the kernel often does not tell":   {duetCase{unnoted: 0.2}, nil, true, "", 60},
		"the third one fails":              {duetCase{failsFrom: 3}, nil, false, failed, 60},
		"the third one fails, in a search": {duetCase{failsFrom: 1}, func(p *Plan) { p.Duets = OnlyDuets }, false, failed, 60},
		"the 20th one fails":               {duetCase{failsFrom: 20}, nil, true, failed, 19},
		"it ignores the status":            {duetCase{failsFrom: 3}, func(p *Plan) { p.IgnoreFailure = true }, false, failed, 60},
		"it fails by itself":               {duetCase{breaks: 30}, nil, false, "", 0},
		"of another metric": {duetCase{}, func(p *Plan) {
			p.Gated = &Gated{stats.Gate{Limit: 0.01, Metrics: map[string]float64{"x": 0}}, [][2]int{{0, 1}}}
		}, false, "the gate has limits for other metrics", 60},
	} {
		c.core, c.workMs, c.slower, c.plan = core, 10, 1, duetPlan
		c.plan.Precision = 1e-4 // all runs are made
		if c.change != nil {
			c.change(&c.plan)
		}
		r := c.measure(t)
		pair := Compare(r[0], r[1], 0, 1)
		p, least := pair.Pair(1), c.pairs-3
		if !c.duets {
			least = c.pairs / 2 // of runs one after the other, those that shared the core may be left out
		}
		if p.Duets != c.duets || !strings.Contains(p.NoDuets, c.why) || (c.why == "") != (p.NoDuets == "") || pair.pairs.Len() > c.pairs || pair.pairs.Len() < least {
			t.Errorf("%s: %d pairs, want %d; %d duets; %+v", name, pair.pairs.Len(), c.pairs, c.made, p)
		}
	}
}

// Two programs that read the same open file would each read a part of it.
func TestDuetsOfOneInput(t *testing.T) {
	m := measurement{plan: duetPlan, all: []*series{{command: Command{Command: process.Command{Stdin: os.Stdin}}}, {command: Command{Command: process.Command{Stdin: os.Stdin}}}}}
	if err := m.suitPair(); err == nil || !strings.Contains(err.Error(), "both read the same open file") {
		t.Error(err)
	}
}

// Slow programs for which the time is too short have no duets, but the runs that they had without.
func TestSlowDuets(t *testing.T) {
	m := measurement{plan: duetPlan, all: []*series{{}, {}}}
	m.plan.MaxTime = 15 * time.Second
	for seconds, want := range map[float64]bool{0.5: true, 2.5: false} {
		for _, s := range m.all {
			s.runs, s.spentNs = nil, 0
			for i := range fewestOwn {
				run := keptFor(seconds*1e3, 0)
				run.UserNs = int64(seconds * 1e9)
				s.take(background, &run, 1)
				s.probed, s.runs, s.spentNs = true, append(s.runs, run), float64(i+1)*seconds*1e9
				s.runs[i].Rejected = false
			}
		}
		if err := m.suitPair(); (err == nil) != want {
			t.Errorf("%v s: %v", seconds, err)
		}
	}
}

// A traced run that took 2.5 s, of programs that take 0.5 s, leaves time for duets: at a mean of 1 s, which they were said to take,
// six would not fit.
func TestTracedRunsDoNotPreventDuets(t *testing.T) {
	m := measurement{plan: duetPlan, all: []*series{{}, {}}}
	m.plan.MaxTime = 15 * time.Second
	for _, s := range m.all {
		for i, seconds := range []float64{2.5, 0.5, 0.5, 0.5} {
			run := keptFor(seconds*1e3, 0)
			run.UserNs = int64(seconds * 1e9)
			if run.Untraced = errTimeout; i == 0 {
				run.Untraced = nil
			}
			s.take(background, &run, 1)
			s.probed, s.runs, s.spentNs = true, append(s.runs, run), s.spentNs+seconds*1e9
			s.runs[i].Rejected = false
		}
	}
	if err := m.suitPair(); err != nil {
		t.Error(err)
	}
}

// What a run saves by threads that run at once may be unknown of a single one: all duets then had no pair.
func TestDuetsAfterARunThatWasNotNoted(t *testing.T) {
	for unnoted, want := range map[int]bool{0: true, 1: true, 9: true, 10: false, 20: false} {
		s := series{}
		for i := range 20 {
			s.runs = append(s.runs, Run{noted: i >= unnoted, traced: trajectory{wallNs: 10 * ms, ranNs: 12.5 * ms}})
		}
		shares, isKnown := s.atOnceShares()
		if isKnown != want || len(shares) != 20-unnoted || want && math.Abs(stats.Median(shares)-0.2) > 1e-9 {
			t.Errorf("%d of 20 runs were not noted: %v, %v", unnoted, shares, isKnown)
		}
	}
}

// A program that waits within its duets is longer by that, and one whose threads run at once is shorter, unless both do.
func TestBoundsOfDuets(t *testing.T) {
	of := func(cpuMs, blockedMs, atOnce float64) *Result {
		r := &Result{}
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
	if p := c.Pair(1); strings.Contains(p.NoDuets, "the kernel d") {
		t.Skip(p.NoDuets)
	} else if n := c.pairs.Len(); !p.Duets || n < 6 || c.Ratio.Value < 1.3 || c.Ratio.Value > 2.7 {
		t.Errorf("%d pairs: %+v %q", n, c.Ratio, p.NoDuets)
	}
	if _, err := Measure(background, []Command{loop("one", 1)}, plan, Setting{}, nil); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("duets of one command: %v", err)
	}
}
