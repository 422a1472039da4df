package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/clock"
	"chronoscope/internal/load"
	"chronoscope/internal/probe"
	"chronoscope/internal/stops"
	"chronoscope/lateness"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
)

// latenessFlags are the flags of lateness.
type latenessFlags struct {
	lengths  []string
	wakes    int
	load     int
	runtimes []string
	plan     lateness.Plan
}

// newLateness returns the command that measures how late timers wake threads that wait for them.
func newLateness() *command {
	t := &latenessFlags{}
	return &command{Command: &cobra.Command{
		Use:   "lateness",
		Short: "How late timers wake those who wait for them",
		Long: `Waits for timers, again and again, and says how late they wake: Go's (time.Sleep, Timer, Ticker),
the kernel's (nanosleep, with the usual timer slack and without; absolute sleeps, timerfd, epoll_wait), and
with --runtime those of other runtimes (C, Java, .NET, Python, Node), whose sleeps take whole
milliseconds.

All take turns, at each length. Percentiles have 95 % intervals, and there is none that the
wake-ups are too few for: p99 takes 368 of them. The quality joins the p99 and what periodic timers
missed; 100 % is a timer that is never late. The drift of a periodic timer is against the clock, that
of the others in a loop that asks for them again and again.

The kernel's timers are waited for on the CPUs of --cpu; with --load threads compete for these.`,
		Example: `  chronoscope lateness
  chronoscope lateness --length 1ms,20ms --load 4 --cpu 1
  chronoscope lateness --runtime c,java --length 1ms --html lateness.html`,
	}, flags: t.register, check: t.check, measure: t.measure,
		values: map[string][]string{"runtime": append(probe.Runtimes(), allRuntimes)}}
}

func (t *latenessFlags) register(set *pflag.FlagSet, _ *flags) {
	set.StringSliceVar(&t.lengths, "length", nil, "how long to wait, a `list` such as 100us,1ms (default 100us,1ms,5ms); Ctrl-C takes effect when the current sleep ends")
	set.IntVar(&t.wakes, "wakes", lateness.DefaultPlan.Wakes, "wake-ups of each timer at each length (--quick: 40, --thorough: 4000)")
	set.IntVar(&t.load, "load", 1, "how many threads want the CPU, including the waiting one")
	set.StringSliceVar(&t.runtimes, "runtime", nil, "timers of these runtimes as well, a `list` of "+strings.Join(probe.Runtimes(), ", ")+", or all")
}

// mostLoad is the largest load.
const mostLoad = 100

// check returns an error that says which flag is wrong, and what is allowed.
func (t *latenessFlags) check(c *call) error {
	var err error
	t.plan = lateness.DefaultPlan
	t.plan.Seed = c.seed
	t.plan.Lengths, err = durations("--length", t.lengths, t.plan.Lengths, "100us,1ms")
	if err != nil {
		return err
	}
	t.plan.Wakes = t.wakes
	if !c.given("wakes") {
		t.plan.Wakes = of(c.effort, 40, t.wakes, 4000)
	}
	if err := t.plan.Check(); err != nil {
		return usagef("%v", err)
	}
	if t.load < 1 || t.load > mostLoad {
		return usagef("--load: %d threads: give 1 to %d, including the waiting one", t.load, mostLoad)
	}
	chosen, err := clockChoice{runtimes: t.runtimes}.check()
	t.runtimes = chosen.runtimes
	return err
}

// measure waits for the timers, and returns how late they were.
func (t *latenessFlags) measure(ctx context.Context, c *call) (found, error) {
	if len(c.cpus) > 0 { // Go's timers may wake any thread, and other runtimes are processes
		if err := machine.SetProcessAffinity(c.cpus); err != nil {
			return found{}, err
		}
	}
	timers := append(lateness.GoTimers(), lateness.KernelTimers(c.cpus...)...)
	foreign, closeAll := foreignTimers(ctx, c, t.runtimes)
	defer closeAll()
	competitors, err := load.Start(ctx, t.load-1, load.Registers, c.cpus)
	if err != nil {
		return found{}, err
	}
	defer competitors.Stop()
	t.plan.Progress = func(share float64, timer string) { c.bar.show(share, timer) }
	stopped := stops.Begin()
	report, err := lateness.Measure(ctx, t.plan, append(timers, foreign...))
	if err != nil && ctx.Err() == nil {
		return found{}, err
	}
	if n := stopped.Count(); n > 0 {
		discarded := 0
		for _, r := range report.Timers {
			discarded += r.Discarded
		}
		c.caveat("this command was stopped %d times while it measured (Ctrl-Z or a signal): wake-ups left out: %d", n, discarded)
	}
	if lost := competitors.Lost(); lost > 0 {
		c.caveat("%d of %d competitors ended before the measurement did: the load was less than asked for", lost, t.load-1)
	}
	d := record.Lateness{Header: c.finish(ctx), Report: report, Load: t.load}
	verdicts := map[string]stats.Verdict{}
	for _, r := range report.Timers {
		verdicts[fmt.Sprintf("%s, %v", r.Name, time.Duration(r.RequestedNs))] = r.Verdict
	}
	return found{document: d, verdicts: verdicts}, nil
}

// foreignTimers returns the sleeps of other runtimes. A caveat names each one that is not
// available.
func foreignTimers(ctx context.Context, c *call, runtimes []string) (all []lateness.Timer, closeAll func()) {
	var probes []*probe.Probe
	for _, family := range runtimes {
		for _, kit := range probe.Kits(family) {
			p, err := kit.Start(ctx, probe.DefaultLimits)
			if err != nil {
				c.caveat("%s: its timers were left out: %v", kit.Name, err)
				continue
			}
			probes = append(probes, p)
			all = append(all, foreignSleep(p))
		}
	}
	return all, func() {
		for _, p := range probes {
			p.Close()
		}
	}
}

// foreignSleep returns the sleep of a runtime, timed by the finest of its own clocks.
func foreignSleep(p *probe.Probe) lateness.Timer {
	return lateness.Timer{Name: p.Runtime + "/sleep", Unit: time.Millisecond, Waker: func(length time.Duration) (lateness.Wake, func(), error) {
		finest := finestWallTimer(p)
		if finest == nil {
			return nil, nil, fmt.Errorf("%s has no timer that shows time", p.Runtime)
		}
		return func(ctx context.Context) (float64, int, error) {
			durations, err := finest.Sandwiches(ctx, finest.Name, "sleep", int(length/time.Millisecond), 1)
			if err != nil {
				return 0, 0, err
			}
			return float64(durations[1])*finest.TickNs - float64(length), 0, nil
		}, func() {}, nil
	}}
}

// finestWallTimer returns the timer of a probe with the smallest unit, among those that nobody
// sets; nil if there is none.
func finestWallTimer(p *probe.Probe) (finest *probe.Timer) {
	for _, t := range p.Timers {
		if t.Kind == clock.KindWall && !t.Settable && (finest == nil || t.UnitNs < finest.UnitNs) {
			finest = t
		}
	}
	return finest
}
