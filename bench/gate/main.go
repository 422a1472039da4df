// Command gate measures how often the gate of chronoscope bench is wrong, and which slowdowns it sees. It
// simulates suites of benchmarks on what a CPU of a real machine lost (the recordings of clock/clocktest). Both
// revisions of a suite are the same, or one benchmark takes longer.
//
//	go run ./gate -suites 1000
//	go run ./gate -suites 1000 -planted 0.05 -limit 0.01
//	go run ./gate -suites 100 -planted 0.05 -layouts 4 -noise quiet
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"chronoscope/bench/internal/command"
	"chronoscope/clock/clocktest"
	"chronoscope/env"
	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/stats"
)

// experiment describes the suites to simulate.
type experiment struct {
	suites, benchmarks int
	planted, limit     float64
	falseAlarms        float64
	deviation          float64 // share by which processes differ from one another
	layouts            int     // of each revision
	placement          float64 // share by which layouts differ from one another
	noise              string  // part of the names of the recordings
	maxTime            time.Duration
}

func main() { command.Main("gate", run) }

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var e experiment
	flags := flag.NewFlagSet("gate", flag.ContinueOnError)
	flags.IntVar(&e.suites, "suites", 100, "how many suites with each recording")
	flags.IntVar(&e.benchmarks, "benchmarks", 40, "how many benchmarks a suite has")
	flags.Float64Var(&e.planted, "planted", 0, "by which share one benchmark takes longer")
	flags.Float64Var(&e.limit, "limit", 0, "which share is allowed")
	flags.Float64Var(&e.falseAlarms, "false-alarms", stats.FalseAlarms, "the chance of a false alarm")
	flags.Float64Var(&e.deviation, "deviation", 0.02, "by which share processes differ from one another")
	flags.IntVar(&e.layouts, "layouts", 1, "how many layouts of each revision are run in turn")
	flags.Float64Var(&e.placement, "placement", 0, "by which share layouts differ from one another")
	flags.StringVar(&e.noise, "noise", "", "only the recordings whose names contain this `word`")
	flags.DurationVar(&e.maxTime, "max-time", 7*time.Second, "how long a benchmark is measured")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return e.run(ctx, stdout)
}

// outcome is what the gate says about some suites.
type outcome struct {
	failed, blamed int // suites that fail, and suites that fail because of unchanged benchmarks
	found          int // suites whose planted slowdown is found
	visible, seen  int // suites whose planted slowdown the plan calls visible, and those of them in which it is found
	minutes        []float64
}

func (o *outcome) add(p outcome) {
	o.failed, o.blamed, o.found = o.failed+p.failed, o.blamed+p.blamed, o.found+p.found
	o.visible, o.seen, o.minutes = o.visible+p.visible, o.seen+p.seen, append(o.minutes, p.minutes...)
}

func (o outcome) print(w io.Writer, name string, suites int) {
	slices.Sort(o.minutes)
	fmt.Fprintf(w, "%-14s %6d %8d %8d %8d %10d %6d %10.1f\n", name, suites, o.failed, o.blamed, o.found, o.visible, o.seen, stats.Median(o.minutes))
}

// run prints a line for each recording, and one for all of them. If ctx ends, it prints those that are complete.
func (e experiment) run(ctx context.Context, w io.Writer) error {
	recordings, err := clocktest.Recordings()
	if err != nil {
		return err
	}
	var names []string
	for _, r := range recordings {
		names = append(names, r.Name)
	}
	recordings = slices.DeleteFunc(recordings, func(r clocktest.Recording) bool { return !strings.Contains(r.Name, e.noise) })
	if len(recordings) == 0 {
		return fmt.Errorf("-noise %s: no recording has this in its name: choose of %s", e.noise, strings.Join(names, ", "))
	}
	fmt.Fprintf(w, "%d benchmarks, processes differ by %g %%, %d layouts by %g %%, %g %% planted, %g %% allowed, %g %% false alarms, %v each\n",
		e.benchmarks, 100*e.deviation, e.layouts, 100*e.placement, 100*e.planted, 100*e.limit, 100*e.falseAlarms, e.maxTime)
	fmt.Fprintf(w, "%-14s %6s %8s %8s %8s %10s %6s %10s\n", "noise", "suites", "failed", "wrongly", "found", "visible", "seen", "minutes")
	var all outcome
	for _, r := range recordings {
		o, failed := e.on(ctx, &r)
		if failed != nil {
			err = failed
			break
		}
		o.print(w, r.Name, e.suites)
		all.add(o)
	}
	all.print(w, "all", len(all.minutes))
	return err
}

// on simulates suites on a recording.
func (e experiment) on(ctx context.Context, r *clocktest.Recording) (outcome, error) {
	outcomes := make([]outcome, e.suites)
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i := range e.suites {
		workers.Go(func() (err error) {
			outcomes[i], err = e.suite(ctx, r, uint64(i))
			return err
		})
	}
	err := workers.Wait()
	var sum outcome
	for _, o := range outcomes {
		sum.add(o)
	}
	return sum, err
}

// slowed is the name of the benchmark that takes longer if a slowdown is planted.
const slowed = "Benchmark0"

// suite measures one suite, and judges it by the gate. If a slowdown is to be planted, a few pairs of equal code
// first show whether --plan would call it visible.
func (e experiment) suite(ctx context.Context, r *clocktest.Recording, seed uint64) (o outcome, err error) {
	m := newSimulated(r, seed, e)
	plan := gobench.QuickPlan
	plan.Seed, plan.MaxTime, plan.Precision = seed, e.maxTime, 0.001
	plan = plan.WithGate(&gobench.Gate{Limit: e.limit, FalseAlarms: e.falseAlarms})
	var groups [][]gobench.Benchmark
	for i := range e.benchmarks {
		name := fmt.Sprintf("Benchmark%d", i)
		group := []gobench.Benchmark{{Name: name, Revision: "then"}, {Name: name}}
		for k := range group {
			binary := fmt.Sprintf("%s %s", name, group[k].Revision)
			group[k].Binary, group[k].Orders = binary, &gobench.Orders{First: e.layouts, Link: func(_ context.Context, layout int) (string, error) {
				return fmt.Sprintf("%s %d", binary, layout), nil
			}}
		}
		if err := gobench.Arrange(ctx, group); err != nil {
			return o, err
		}
		groups = append(groups, group)
	}
	if e.planted > 0 {
		pilot := plan
		pilot.MostRepetitions = max(16, 2*e.layouts) // as with --plan
		all, err := m.compare(ctx, groups, pilot)
		if err != nil {
			return o, err
		}
		if planned := gobench.NewGateReport(all, plan, e.planted, false).Visible[0]; planned.NeededNs <= 2*float64(e.maxTime) {
			o.visible = 1
		}
		m.slower = 1 + e.planted
	}
	began := m.machine.NowNs()
	all, err := m.compare(ctx, groups, plan)
	if err != nil {
		return o, err
	}
	o.minutes = []float64{(m.machine.NowNs() - began) / 60e9}
	for _, j := range gobench.Judge(all, plan) {
		switch {
		case j.Side == stats.Beyond && e.planted > 0 && j.B.Name == slowed:
			o.found = 1
		case j.Side == stats.Beyond:
			o.blamed = 1
		}
	}
	o.failed, o.seen = max(o.found, o.blamed), min(o.found, o.visible)
	return o, nil
}

// compare measures and compares both revisions of some benchmarks.
func (s *simulated) compare(ctx context.Context, groups [][]gobench.Benchmark, plan gobench.Plan) (all []gobench.Comparison, err error) {
	measured, err := gobench.Measure(ctx, s, groups, plan, s.setting, nil)
	if err != nil {
		return nil, err
	}
	for _, group := range measured {
		all = append(all, gobench.Compare(gobench.Conclude(group[0], plan, s.setting), gobench.Conclude(group[1], plan, s.setting), 2*plan.Precision, plan.Seed))
	}
	return all, nil
}

// simulated runs benchmarks of 1 µs to 10 ms on one CPU of a machine that was recorded.
type simulated struct {
	machine   *clocktest.Machine
	scheduler *clocktest.Scheduler
	setting   gobench.Setting
	rng       *rand.Rand
	opNs      map[string]float64
	placed    map[string]float64 // the factor of each layout of a benchmark
	placement float64
	slower    float64 // the factor of the slowed benchmark's new revision
	deviation float64
}

// startNs is the time that a process takes before its benchmark.
const startNs = 3e6

func newSimulated(r *clocktest.Recording, seed uint64, e experiment) *simulated {
	s := &simulated{machine: clocktest.NewMachine(seed), rng: rand.New(rand.NewPCG(seed, 0x6a7e)), opNs: map[string]float64{}, placed: map[string]float64{}, placement: e.placement, slower: 1, deviation: e.deviation}
	s.scheduler = clocktest.Share(s.machine, clocktest.Sharing{LookNs: 1500, Recorded: r})
	lost := 0.
	for _, g := range r.Gaps {
		if !g.Preempted {
			lost += g.Ns
		}
	}
	s.setting = gobench.Setting{CPUs: 1, Checks: env.ChecksOf(machine.Noise{WatchedNs: r.Ns, LostShare: lost / r.Ns, SwitchNs: math.NaN()})}
	for i := range e.benchmarks {
		s.opNs[fmt.Sprintf("Benchmark%d", i)] = 1e3 * math.Pow(1e4, s.rng.Float64())
	}
	return s
}

// Run implements [gobench.Runner]. The process reads its own counters before and after the iterations, as on
// Linux.
func (s *simulated) Run(ctx context.Context, b gobench.Benchmark, n int, traced bool) (gobench.Observation, error) {
	if err := ctx.Err(); err != nil {
		return gobench.Observation{}, err
	}
	if _, known := s.placed[b.Binary]; !known {
		s.placed[b.Binary] = math.Exp(s.placement * s.rng.NormFloat64())
	}
	opNs := s.opNs[b.Name] * s.placed[b.Binary] * math.Exp(s.deviation*s.rng.NormFloat64())
	if b.Name == slowed && b.Revision == "" {
		opNs *= s.slower
	}
	began := s.machine.NowNs()
	s.machine.Run(startNs*(0.9+0.2*s.rng.Float64()) + opNs)
	before, _ := s.scheduler.Use()
	from := s.machine.NowNs()
	s.machine.Run(float64(n) * opNs)
	timedNs := s.machine.NowNs() - from
	after, _ := s.scheduler.Use()
	use := after.Since(before)
	o := gobench.Observation{
		N: n, Procs: 1, TimedNs: timedNs, RoundingNs: 0.5, WallNs: timedNs, ProcessNs: s.machine.NowNs() - began, WaitNs: math.NaN(),
		CPUNs: float64(use.CPUNs), InvoluntarySwitches: float64(use.InvoluntarySwitches),
		SlowedBefore: math.NaN(), SlowedAfter: math.NaN(), OthersNs: math.NaN(),
	}
	if traced {
		o.WaitNs = float64(use.WaitNs)
	}
	return o, nil
}
