package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/activity"
	"chronoscope/clock"
	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/render"
)

// newActivity returns the command that says how noisy the machine is, and why.
func newActivity() *command {
	t := &traceFlags{}
	return &command{Command: &cobra.Command{
		Use:   "activity",
		Short: "Trace when a thread is kept from running, and say why",
		Long: `A thread reads the counter without pause. Where two readings lie further apart
than reading takes, it was inactive, and each such gap is put down to a cause:

` + causeList() + `
After Bryant, O'Hallaron: Computer Systems (2003), sections 9.1 and 9.4. No
rights are needed; as root, or with CAP_PERFMON and CAP_DAC_READ_SEARCH, the
kernel's events also name the threads and interrupts that took the time. Gaps
have no verdict, so --require is refused.`,
		Example: `  chronoscope activity                          one CPU, for a second
  chronoscope activity --cpu all --duration 10s  every CPU at once
  chronoscope activity --cpu 1 --periods 20 --list
  sudo chronoscope activity --by cgroup
  chronoscope activity --duration 100ms --plot trace.svg --export chrome-trace:trace.json
  chronoscope activity --format json | jq '.traces[0].causes'`,
	}, flags: t.register, check: t.check, measure: t.measure,
		refused: map[string]string{"require": "records gaps, and gaps have no verdict that could be required"},
		exports: map[string]string{"chrome-trace": "which Perfetto opens"},
	}
}

// traceFlags are the flags of activity.
type traceFlags struct {
	duration  time.Duration
	threshold time.Duration
	gaps      int
	list      bool
	by        string
	until     time.Duration
}

// causeList describes the causes.
func causeList() string {
	var b strings.Builder
	for _, c := range activity.Causes() {
		fmt.Fprintf(&b, "  %-12s %s\n", c, c.Meaning())
	}
	return b.String()
}

func (t *traceFlags) register(set *pflag.FlagSet, _ *flags) {
	set.DurationVar(&t.duration, "duration", time.Second, "how long to record, such as 500ms or 10s (--quick: 250ms, --thorough: 10s)")
	set.DurationVar(&t.threshold, "threshold", 0, "shortest gap that counts, such as 1us (default: what the clock's own cost allows)")
	set.IntVar(&t.gaps, "periods", 0, "end after this `number` of inactive periods")
	set.DurationVar(&t.until, "until", 0, "end with status 4 after a gap as long as this, such as 5ms; what is shown is of the last 5 to 10 seconds (--duration: how long to wait for it, by default a day)")
	set.StringVar(&t.by, "by", "thread", "where the kernel tells it, name who took the time: each `thread`, each cgroup, or irq for interrupts alone")
	set.BoolVar(&t.list, "list", false, "list every period first, as json and csv always do")
}

// usualDuration returns the duration of a recording without --duration.
func usualDuration(e effort) time.Duration {
	return of(e, 250*time.Millisecond, time.Second, 10*time.Second)
}

// check returns an error that says which flag is wrong, and what is allowed.
func (t *traceFlags) check(c *call) error {
	if !c.given("duration") {
		t.duration = usualDuration(c.effort)
		if t.until > 0 {
			t.duration = activity.LongestWatch
		}
	}
	longest := activity.LongestDuration
	if t.until > 0 {
		longest = activity.LongestWatch
	}
	switch {
	case !slices.Contains([]string{"thread", "cgroup", "irq"}, t.by):
		return usagef("--by: %.40q is unknown: give thread, cgroup or irq", t.by)
	case t.duration <= 0 || t.duration > longest:
		return usagef("--duration: %v can't be recorded: give more than 0 and at most %v", t.duration, longest)
	case t.until < 0:
		return usagef("--until: %v is no length of a gap: give more than 0", t.until)
	case t.threshold < 0:
		return usagef("--threshold: %v is no length of a gap: give more than 0", t.threshold)
	case t.gaps < 0:
		return usagef("--periods: %d can't be recorded: give 1 or more", t.gaps)
	}
	return nil
}

// measure records and analyses.
func (t *traceFlags) measure(ctx context.Context, c *call) (found, error) {
	traces, events, switching, err := t.trace(ctx, c)
	if err != nil && ctx.Err() == nil {
		return found{}, err
	}
	d := record.Activity{Header: c.finish(ctx), Traces: []activity.Analysis{}, Switching: switching}
	var analyses []*activity.Analysis
	for _, trace := range traces {
		a := activity.Analyse(trace)
		analyses = append(analyses, a)
		a.Periods, a.Accounting = trace.TimedPeriods(), trace.Accounting(a.Tick)
		if a.Named = trace.Name(events); a.Named != nil {
			a.Named.Parts = a.Named.By(t.by)
		}
		d.Traces = append(d.Traces, *a)
	}
	r := found{document: d, exports: map[string]func(io.Writer) error{
		"chrome-trace": func(w io.Writer) error { return render.ChromeTrace(w, traces, analyses...) },
	}}
	for _, trace := range traces {
		if trace.LateNs > 0 {
			r.failed = &lateError{"a thread was kept from its CPU", time.Duration(trace.LateNs), t.until}
		}
	}
	if t.list {
		r.text = func(w io.Writer, style render.Style) error {
			for _, trace := range traces {
				activity.WriteList(w, trace) // writes to memory, which can't fail
			}
			fmt.Fprintln(w)
			return render.Write(w, render.TextFormat, d, style)
		}
	}
	return r, err
}

// trace records the CPUs, and measures the cost of a context switch.
func (t *traceFlags) trace(ctx context.Context, c *call) (traces []*activity.Trace, events activity.KernelEvents, w *activity.Switching, err error) {
	c.bar.show(0, "calibrating")
	clock, tickNs, err := c.traceClock(ctx)
	if err != nil {
		return nil, events, nil, err
	}
	defer clock.Close()
	c.bar.show(0.1, "recording")
	stop, err := activity.WatchKernel(c.tracedCPUs(), t.until > 0, os.DirFS("/"))
	if err != nil {
		c.caveat("who or what took the time is not known: %v", err)
		stop = func() activity.KernelEvents { return events }
	}
	traces, err = t.recordAll(ctx, c, clock, tickNs)
	if events = stop(); events.Lost > 0 || events.Full {
		c.caveat("not all events of the kernel could be kept (%d were lost): what they would have told stays with the causes that are found without them; record for a shorter time", events.Lost)
	}
	if err != nil {
		return traces, events, nil, err
	}
	c.bar.show(0.8, "switching between threads")
	return traces, events, t.measureSwitching(ctx, c, clock, tickNs), ctx.Err()
}

// tracedCPUs returns the CPUs to trace: the named ones, or else the last one that the process may
// use, since the first serves most of a machine's interrupts. -1 leaves the thread free to move.
func (c *call) tracedCPUs() []int {
	if len(c.cpus) > 0 {
		return c.cpus
	}
	allowed, err := machine.Affinity()
	if err != nil {
		return []int{-1}
	}
	return allowed[len(allowed)-1:]
}

// measureSwitching measures the cost of a context switch, in at most a fifth of the time of the
// recording. If that can't be done, there is a caveat.
func (t *traceFlags) measureSwitching(ctx context.Context, c *call, clock *clock.Clock, tickNs float64) *activity.Switching {
	measured, err := activity.MeasureSwitching(ctx, clock, tickNs, activity.SwitchingOptions{
		CPU: c.tracedCPUs()[0], Duration: min(max(t.duration/5, 60*time.Millisecond), 2*time.Second), Root: os.DirFS("/"), Seed: c.seed,
	})
	if err != nil {
		c.caveat("what a context switch costs is not known: %v", err)
	}
	return measured
}

// recordAll records all CPUs at once.
func (t *traceFlags) recordAll(ctx context.Context, c *call, clock *clock.Clock, tickNs float64) ([]*activity.Trace, error) {
	o := activity.Options{
		Duration: t.duration, Until: t.until, MostGaps: t.gaps, ThresholdNs: float64(t.threshold.Nanoseconds()), Root: os.DirFS("/"),
	}.On(c.header.Machine)
	cpus := c.tracedCPUs()
	traces, errs := make([]*activity.Trace, len(cpus)), make([]error, len(cpus))
	var all sync.WaitGroup
	recording, end := context.WithCancel(ctx)
	defer end()
	for i, cpu := range cpus {
		all.Go(func() {
			here := o
			here.CPU = cpu
			traces[i], errs[i] = activity.Record(recording, clock, tickNs, here)
			if traces[i] != nil && traces[i].LateNs > 0 {
				end() // ends the recordings of the other CPUs, too
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil && !activity.Interrupted(err) {
			return nil, err
		}
	}
	return traces, ctx.Err()
}

// traceClock returns the finest clock to trace with, and the length of its tick: the processor's
// counter or, if there is none, the system's monotonic clock.
func (c *call) traceClock(ctx context.Context) (*clock.Clock, float64, error) {
	counter, err := c.openCounter(ctx)
	if counter.Clock != nil || err != nil {
		return counter.Clock, counter.TickNs.Value, err
	}
	c.caveat("the processor's counter can't be read here: gaps are seen with go-time-now, only as finely as that allows")
	slow, err := clock.Open("go-time-now")
	if err != nil {
		return nil, 0, err
	}
	return slow, slow.UnitNs, nil
}

// openCounter opens and calibrates the processor's counter; its clock is nil if there is none.
func (c *call) openCounter(ctx context.Context) (clock.Rated, error) {
	counter, err := env.Open(ctx, 100*time.Millisecond, clock.BareCounters()...)
	if err != nil {
		return clock.Rated{}, ctx.Err()
	}
	c.header.Machine.TSCHz = orNil(counter.Rate.Hz.Value)
	c.header.Caveats = append(c.header.Caveats, counter.Rate.Caveats...)
	return counter, nil
}
