package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/clock"
	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/slowclock"
	"chronoscope/stats"
)

// slowFlags are the flags of slowclock.
type slowFlags struct {
	clock       string
	tick, event time.Duration
	digits      int
	methods     []string
	plan, tight bool
	maxTime     time.Duration
}

// newSlowClock returns the command that times an event with a clock that is too slow for it.
func newSlowClock() *command {
	t := &slowFlags{}
	return &command{Command: &cobra.Command{
		Use:   "slowclock",
		Short: "Time an event with a clock that is far too slow for it",
		Long: `Times a known event with a slow clock, by each of the methods, and compares with the truth from a
fine clock that watches the same executions:

  bernoulli  how many of many trials see the clock tick (Lambert and Power)
  discrete   how many ticks the trials see in all (Falco)
  classic    a loop between two edges of the clock
  counter    a second thread counts; the edges of the clock say how fast

The slow clock is one of this machine's, with --clock, or a fine one whose readings are
divided so that it ticks every --tick. A method ends when its interval is as narrow as
--digits asks (3 are ± 1 %), or when --max-time is spent.

With --plan it prints how many trials, and how much time, each number of digits takes, by
what readings cost here and by a first short measurement with a counting thread.`,
		Example: `  chronoscope slowclock                                 10 µs by a clock of 1 ms
  chronoscope slowclock --clock monotonic-coarse --event 100us
  chronoscope slowclock --tick 16ms --event 50us --method discrete,counter
  chronoscope slowclock --plan --event 10us --tick 1ms --digits 6`,
	}, flags: t.register, check: t.check, measure: t.measureOrPlan}
}

func (t *slowFlags) register(set *pflag.FlagSet, _ *flags) {
	set.StringVar(&t.clock, "clock", "", "slow `clock` of this machine (default: the finest one, divided)")
	set.DurationVar(&t.tick, "tick", 0, "divide the clock's readings so that it ticks every `duration` (default: 1ms without --clock)")
	set.DurationVar(&t.event, "event", 10*time.Microsecond, "length of the event, 1ns to 100ms")
	set.IntVar(&t.digits, "digits", 3, "significant digits to measure to, 1 to 9; with --plan to plan for, 6 if not given")
	set.StringSliceVar(&t.methods, "method", nil, "`name` of a method, may be repeated (default: all)")
	set.BoolVar(&t.plan, "plan", false, "print what each number of digits takes, instead of measuring to it")
	set.BoolVar(&t.tight, "tight", false, "no pauses of random length between trials: the loop may then keep step with the clock")
	set.DurationVar(&t.maxTime, "max-time", slowTime, "how long each method may take, with what prepares all of them, or a tenth more (--quick: 1s, --thorough: 3m)")
}

const slowTime = 5 * time.Second

// check returns an error that says which flag is wrong, and what is allowed.
func (t *slowFlags) check(c *call) error {
	if t.plan && !c.given("digits") {
		t.digits = 6
	}
	if !c.given("max-time") {
		t.maxTime = of(c.effort, time.Second, slowTime, 3*time.Minute)
	}
	switch {
	case t.clock != "" && !slices.Contains(clock.Names(), t.clock):
		return usagef("--clock: no clock is called %q: use one of %s", t.clock, strings.Join(clock.Names(), ", "))
	case t.tick < 0 || t.tick == 0 && c.given("tick") || t.tick > time.Minute:
		return usagef("--tick: invalid value %v: give 1ns to 1m, such as 1ms", t.tick)
	case t.event < 1 || t.event > 100*time.Millisecond:
		return usagef("--event: %v can't be made: give 1ns to 100ms, such as 10us", t.event)
	case t.digits < 1 || t.digits > 9:
		return usagef("--digits: %d can't be had: give 1 to 9", t.digits)
	case t.maxTime <= 0:
		return usagef("--max-time: %v is too little: give more than 0, such as 5s", t.maxTime)
	}
	known := texts(slowclock.Methods())
	if err := allKnown("--method", t.methods, known); err != nil {
		return err
	}
	if len(t.methods) == 0 {
		t.methods = known
	}
	if t.clock == "" && t.tick == 0 {
		t.tick = time.Millisecond
	}
	return nil
}

// measureOrPlan measures or plans.
func (t *slowFlags) measureOrPlan(ctx context.Context, c *call) (found, error) {
	e := &slowExperiment{flags: t, call: c, time: t.budget(time.Now)}
	d := record.SlowClock{Estimates: []slowclock.Result{}, Plan: []slowclock.Row{}}
	if err := e.run(ctx, &d); err != nil && ctx.Err() == nil {
		return found{}, err
	}
	d.Header = c.finish(ctx)
	verdicts := map[string]stats.Verdict{}
	for _, r := range d.Estimates {
		verdicts[string(r.Method)] = r.Verdict
	}
	return found{document: d, verdicts: verdicts}, nil
}

// slowExperiment is one call of the command.
type slowExperiment struct {
	flags *slowFlags
	*call

	fine clock.Rated
	slow slowclock.Clock
	// source is the clock from which the slow clock is made.
	source *clock.Clock
	// measuring and counting are the CPUs of the two threads. counting is empty if the system does
	// not bind threads; none says why there is no second CPU.
	measuring, counting []int
	none                *clock.Unavailable

	time *budget
}

// run opens the clocks, and measures or plans with them.
func (e *slowExperiment) run(ctx context.Context, d *record.SlowClock) error {
	d.EventNs = float64(e.flags.event)
	e.bar.show(0, "calibrating")
	e.seat()
	if len(e.measuring) > 0 {
		restore, err := machine.Pin(e.measuring)
		if err != nil {
			return err
		}
		defer restore()
	}
	defer e.close()
	if err := e.open(ctx); err != nil {
		return err
	}
	if e.flags.plan {
		if d.EventNs >= e.slow.TickNs {
			e.caveat("no plan for Bernoulli trials: an event of a tick or more is seen by every one of them; count all ticks (discrete), or name a longer tick")
		}
		d.Plan = slowclock.MakePlan(d.EventNs, e.slow.TickNs, e.flags.digits, e.costs(ctx))
		return ctx.Err()
	}
	results, err := e.measure(ctx)
	d.Estimates = append(d.Estimates, results...)
	return err
}

// seat selects the CPUs for the measuring and the counting thread.
func (e *slowExperiment) seat() {
	allowed, err := machine.Affinity()
	if err != nil {
		e.measuring = e.cpus
		return
	}
	e.measuring, e.counting = seats(allowed, e.cpus)
	if len(e.counting) == 0 || len(e.measuring) == 0 {
		e.none = &clock.Unavailable{
			Name: string(slowclock.CounterClock), Reason: clock.NotSupportedHere,
			Detail: "a thread that counts needs another CPU than the measuring thread, and this process may use no other",
			Remedy: "allow it two CPUs, or leave one with --cpu",
		}
	}
}

// seats divides the allowed CPUs: the measuring thread gets the requested ones and the counting thread the
// others. If none are requested, the counting thread gets the last one, and the measuring thread the others.
func seats(allowed, asked []int) (measuring, counting []int) {
	measuring = slices.Clone(asked)
	if len(measuring) == 0 && len(allowed) > 1 {
		measuring = slices.Clone(allowed[:len(allowed)-1])
	}
	for _, cpu := range allowed {
		if !slices.Contains(measuring, cpu) {
			counting = append(counting, cpu)
		}
	}
	return measuring, counting
}

// open opens the fine clock and the slow one.
func (e *slowExperiment) open(ctx context.Context) error {
	var err error
	if e.fine, err = e.rated(ctx, env.Clocks()...); err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return fmt.Errorf("--max-time: %v is over before the fine clock is calibrated: give more", e.flags.maxTime)
		}
		return fmt.Errorf("no fine clock to compare with: %w", err)
	}
	source := e.fine
	if e.flags.clock != "" {
		if source, err = e.rated(ctx, e.flags.clock); err != nil {
			return fmt.Errorf("--clock: %w", err)
		}
	}
	e.source = source.Clock
	if e.flags.tick > 0 {
		if e.slow, err = slowclock.Coarsened(source, float64(e.flags.tick)); err != nil {
			return usagef("--tick: %v", err)
		}
		return nil
	}
	watching, cancel := e.time.within(ctx, min(slowTime, e.time.left()))
	defer cancel()
	if e.slow, err = slowclock.FindTick(watching, source.Clock); ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// close closes the clocks.
func (e *slowExperiment) close() {
	for _, c := range []*clock.Clock{e.fine.Clock, e.source} {
		if c != nil {
			c.Close()
		}
	}
}

// rated opens the first usable clock of those named, and measures the length of its ticks.
func (e *slowExperiment) rated(ctx context.Context, names ...string) (clock.Rated, error) {
	calibrating, cancel := e.time.within(ctx, e.time.left())
	defer cancel()
	c, err := env.Open(calibrating, min(100*time.Millisecond, e.time.left()/4), names...)
	if err != nil {
		return c, err
	}
	e.header.Caveats = append(e.header.Caveats, c.Rate.Caveats...)
	c.UnitNs = c.TickNs.Value // known now, even for a counter
	return c, nil
}

// eventOf returns a busy loop that takes about ns nanoseconds at the core's present speed.
func (e *slowExperiment) eventOf(ns float64) func() {
	const trial, tries = 100_000, 5
	least := math.Inf(1)
	for range tries {
		start := e.fine.Start()
		clock.Spin(trial)
		least = math.Min(least, e.fine.Ns(e.fine.End()-start))
	}
	work := max(1, int(ns*trial/math.Max(1, least)))
	return func() { clock.Spin(work) }
}

// measure runs the requested methods.
func (e *slowExperiment) measure(ctx context.Context) ([]slowclock.Result, error) {
	lab := slowclock.Lab{
		Clock: e.slow, Event: e.eventOf(float64(e.flags.event)), Fine: &e.fine,
		Dither: !e.flags.tight, Seed: e.seed, Progress: e.bar.show,
	}
	wants := func(m slowclock.Method) bool { return slices.Contains(e.flags.methods, string(m)) }
	counter, fallBack := e.startCounting(wants(slowclock.CounterClock))
	if fallBack && (wants(slowclock.Bernoulli) || wants(slowclock.Discrete)) {
		e.time.methods--
	}
	alone := func(r slowclock.Result, err error) ([]slowclock.Result, error) { return []slowclock.Result{r}, err }
	var all []slowclock.Result
	var err error
	for _, method := range []struct {
		wanted bool
		run    func(context.Context, slowclock.Plan) ([]slowclock.Result, error)
	}{
		{counter != nil, func(ctx context.Context, p slowclock.Plan) ([]slowclock.Result, error) {
			defer counter.Stop()
			return alone(lab.Counter(ctx, counter.Clock(), p))
		}},
		{wants(slowclock.Bernoulli) || wants(slowclock.Discrete) || fallBack, func(ctx context.Context, p slowclock.Plan) ([]slowclock.Result, error) {
			both, err := lab.Bernoulli(ctx, p)
			return slices.DeleteFunc(both[:], func(r slowclock.Result) bool {
				return !wants(r.Method) && !(fallBack && r.Method == slowclock.Discrete)
			}), err
		}},
		{wants(slowclock.Classic), func(ctx context.Context, p slowclock.Plan) ([]slowclock.Result, error) {
			return alone(lab.Classic(ctx, p))
		}},
	} {
		if method.wanted && err == nil {
			err = e.time.share(ctx, func(ctx context.Context, d time.Duration) error {
				results, err := method.run(ctx, slowclock.Plan{Duration: d, Precision: math.Pow(10, float64(1-e.flags.digits))})
				all = append(all, results...)
				return err
			})
		}
	}
	order := slowclock.Methods()
	slices.SortStableFunc(all, func(a, b slowclock.Result) int {
		return slices.Index(order, a.Method) - slices.Index(order, b.Method)
	})
	return all, err
}

// startCounting starts the counting thread if it is wanted. If that fails, it adds a caveat, and
// fallBack says that the discrete method is used instead.
func (e *slowExperiment) startCounting(wanted bool) (counter *slowclock.Counting, fallBack bool) {
	if !wanted {
		return nil, false
	}
	none := cmp.Or(e.none, e.slow.CounterUnavailable())
	err := error(none)
	if none == nil {
		counter, err = slowclock.StartCounting(e.counting)
	}
	if err != nil {
		e.caveat("the discrete method stands in for the counter: %v", err)
	}
	return counter, err != nil
}

// costs measures what readings cost here, and how long a counting thread takes for a first result.
func (e *slowExperiment) costs(ctx context.Context) slowclock.Costs {
	const readings = 2000
	start := e.fine.Start()
	for range readings {
		e.slow.Read()
	}
	read := e.fine.Ns(e.fine.End()-start) / readings
	c := slowclock.Costs{OverheadNs: read, BetweenNs: read, Dither: !e.flags.tight}
	counter, _ := e.startCounting(true)
	if counter == nil {
		return c
	}
	defer counter.Stop()
	const leastFirst, events = 500 * time.Millisecond, 50
	lab := slowclock.Lab{Clock: e.slow, Event: e.eventOf(float64(e.flags.event)), Seed: e.seed, Progress: e.bar.show}
	var first slowclock.Result
	err := e.time.share(ctx, func(ctx context.Context, d time.Duration) (err error) {
		first, err = lab.Counter(ctx, counter.Clock(), slowclock.Plan{Duration: min(max(leastFirst, events*e.flags.event), d)})
		return err
	})
	if err != nil || first.Verdict == stats.Unusable {
		e.caveat("no first result of a counting thread, and so no plan for it: %s", strings.Join(first.Reasons, "; "))
		return c
	}
	c.CounterNs, c.CounterHalfNs = first.ElapsedNs, first.Estimate.HalfWidth()
	return c
}
