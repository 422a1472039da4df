package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"chronoscope/activity"
	"chronoscope/clock"
	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/render"
	"chronoscope/stats"
)

// traceFlags are those of the command that traces activity.
type traceFlags struct {
	duration  time.Duration
	threshold time.Duration
	gaps      int
	list      bool
	export    string
}

// newActivity is the command that says how noisy the machine is, and why.
func newActivity(f *flags, s Streams) *cobra.Command {
	t := &traceFlags{}
	cmd := &cobra.Command{
		Use:   "activity",
		Short: "Trace when a thread is kept from running, and say why",
		Long: `A thread reads the counter without pause. Where two readings lie further apart
than reading takes, it was inactive, and each such gap is put down to a cause:

  timer-tick   this kernel's timer interrupt, found as the regular comb in the gaps
  hypervisor   the host took the CPU: a comb, or time, that no counter here knows
  interrupt    as many of the other gaps as the kernel counted other interrupts
  preempted    another thread had the CPU, as the kernel's run-queue wait says
  throttled, page-fault, migrated, stopped   as the kernel counted
  runtime      the measurement itself, which looks at the kernel's counters
  unexplained  the rest

After Bryant, O'Hallaron: Computer Systems (2003), sections 9.1 and 9.4. No
rights are needed. Gaps have no verdict, so --require is refused.`,
		Example: `  chronoscope activity                          one CPU, for a second
  chronoscope activity --cpu all --duration 10s  every CPU at once
  chronoscope activity --cpu 1 --periods 20 --list
  chronoscope activity --duration 100ms --plot trace.svg --export chrome-trace:trace.json
  chronoscope activity --format json | jq '.traces[0].causes'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("%q takes no arguments, and got %q", cmd.CommandPath(), args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("duration") {
				t.duration = usualDuration(f)
			}
			return traceActivity(cmd.Context(), f, t, s)
		},
	}
	cmd.Flags().DurationVar(&t.duration, "duration", time.Second, "how long to record, such as 500ms or 10s (--quick: 250ms, --thorough: 10s)")
	cmd.Flags().DurationVar(&t.threshold, "threshold", 0, "shortest gap that counts, such as 1us (default: what the clock's own cost allows)")
	cmd.Flags().IntVar(&t.gaps, "periods", 0, "end after so many inactive periods")
	cmd.Flags().BoolVar(&t.list, "list", false, "list every period first, as json and csv always do")
	cmd.Flags().StringVar(&t.export, "export", "", "write chrome-trace:`FILE`, which Perfetto opens")
	return cmd
}

// usualDuration is how long is recorded where nobody says.
func usualDuration(f *flags) time.Duration {
	switch {
	case f.quick:
		return 250 * time.Millisecond
	case f.thorough:
		return 10 * time.Second
	}
	return time.Second
}

// check says which flag is wrong, and what is allowed.
func (t *traceFlags) check(set settings) error {
	switch {
	case set.require != "":
		return usagef("--require: gaps have no verdict that could be required")
	case t.duration <= 0 || t.duration > activity.LongestDuration:
		return usagef("--duration: %v can't be recorded: give more than 0 and at most %v", t.duration, activity.LongestDuration)
	case t.threshold < 0:
		return usagef("--threshold: %v is no length of a gap: give more than 0", t.threshold)
	case t.gaps < 0:
		return usagef("--periods: %d can't be recorded: give 1 or more", t.gaps)
	}
	if t.export != "" {
		file, ok := strings.CutPrefix(t.export, "chrome-trace:")
		if !ok || file == "" {
			return usagef("--export: %q can't be written: give chrome-trace:FILE", t.export)
		}
		return checkPlace(file)
	}
	return nil
}

// text lists the periods first, where that is asked for.
func (t *traceFlags) text(d record.Activity, traces []*activity.Trace) func(io.Writer, render.Style) error {
	return func(w io.Writer, style render.Style) error {
		if t.list {
			for _, trace := range traces {
				activity.WriteList(w, trace) // into memory, which takes it
			}
			fmt.Fprintln(w)
		}
		return render.Write(w, render.TextFormat, d, style)
	}
}

// write writes the document and the export. An export that can't be written does not keep the
// user from the result.
func (t *traceFlags) write(d record.Activity, traces []*activity.Trace, analyses []*activity.Analysis, set settings, out io.Writer) error {
	err := set.showWith(out, d, t.text(d, traces))
	if file, ok := strings.CutPrefix(t.export, "chrome-trace:"); ok {
		err = errors.Join(err, writeFile(file, func(w io.Writer) error { return render.ChromeTrace(w, traces, analyses...) }))
	}
	return err
}

// traceActivity records, analyses and writes.
func traceActivity(ctx context.Context, f *flags, t *traceFlags, s Streams) error {
	set, err := f.check()
	if err != nil {
		return err
	}
	if err := t.check(set); err != nil {
		return err
	}
	header := record.NewHeader("activity", machine.Identify(), set.seed)
	cpus := t.cpus(set.cpus)
	bar := newProgress(s.Err)
	defer bar.end()
	bar.show(0, "calibrating")
	c, tickNs, err := traceClock(ctx, &header)
	if activity.Interrupted(err) {
		bar.end()
		header.Finish(true)
		d := record.Activity{Header: header, Traces: []record.Trace{}}
		if err := set.show(s.Out, d); err != nil {
			return err
		}
		return errInterrupted
	}
	if err != nil {
		return err
	}
	defer c.Close()
	bar.show(0.1, "recording")
	traces, err := recordAll(ctx, t, c, tickNs, cpus, &header)
	var switching *record.Switching
	if err == nil {
		bar.show(0.8, "switching between threads")
		switching = measureSwitching(ctx, set, t, c, tickNs, cpus[0], &header)
		err = ctx.Err()
	}
	bar.end()
	if err != nil && !activity.Interrupted(err) {
		var unbound *machine.AffinityError
		if errors.As(err, &unbound) {
			return cpuError(unbound, header.Machine)
		}
		return err
	}
	header.Finish(err != nil)
	d := record.Activity{Header: header, Traces: []record.Trace{}, Switching: switching}
	var analyses []*activity.Analysis
	for _, trace := range traces {
		a := activity.Analyse(trace)
		analyses = append(analyses, a)
		d.Traces = append(d.Traces, record.NewTrace(trace, a, true))
	}
	if err := t.write(d, traces, analyses, set, s.Out); err != nil {
		return err
	}
	if d.Interrupted {
		return errInterrupted
	}
	return nil
}

// cpus are those to trace: the named ones, or else the last one that the process
// may use, since the first serves most of a machine's interrupts. -1 stands for
// wherever the thread is.
func (t *traceFlags) cpus(named []int) []int {
	if len(named) > 0 {
		return named
	}
	allowed, err := machine.Affinity()
	if err != nil {
		return []int{-1}
	}
	return allowed[len(allowed)-1:]
}

// measureSwitching measures what a context switch costs, for a fifth of the time
// that was recorded at most. A machine where that can't be done has traces with a
// caveat.
func measureSwitching(ctx context.Context, set settings, t *traceFlags, c *clock.Clock, tickNs float64, cpu int, header *record.Header) *record.Switching {
	d := min(max(t.duration/5, 60*time.Millisecond), 2*time.Second)
	measured, err := activity.MeasureSwitching(ctx, c, tickNs, activity.SwitchingOptions{
		CPU: cpu, Duration: d, Root: os.DirFS("/"), Seed: set.seed,
	})
	if err != nil {
		header.Caveats = append(header.Caveats, fmt.Sprintf("what a context switch costs is not known: %v", err))
	}
	if measured == nil {
		return nil
	}
	return record.NewSwitching(measured)
}

// recordAll records all CPUs at once.
func recordAll(ctx context.Context, t *traceFlags, c *clock.Clock, tickNs float64, cpus []int, header *record.Header) ([]*activity.Trace, error) {
	o := activity.Options{
		Duration: t.duration, MostGaps: t.gaps, ThresholdNs: float64(t.threshold.Nanoseconds()),
		Root: os.DirFS("/"), Virtual: header.Machine.Hypervisor != "" && header.Machine.Hypervisor != "none",
	}
	if header.Machine.TickHz != nil {
		o.TickHz = *header.Machine.TickHz
	}
	traces, errs := make([]*activity.Trace, len(cpus)), make([]error, len(cpus))
	var all sync.WaitGroup
	for i, cpu := range cpus {
		all.Go(func() {
			here := o
			here.CPU = cpu
			traces[i], errs[i] = activity.Record(ctx, c, tickNs, here)
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

// traceClock is the finest clock to trace with, and the length of its tick: the
// processor's counter or, where there is none, the system's monotonic clock.
func traceClock(ctx context.Context, header *record.Header) (*clock.Clock, float64, error) {
	counter, err := env.Open(ctx, 100*time.Millisecond, env.Counters()...)
	if err == nil {
		header.Caveats = append(header.Caveats, counter.Rate.Caveats...)
		header.Machine.TSCHz = stats.Finite(counter.Rate.Hz.Value)
		return counter.Clock, counter.TickNs.Value, nil
	}
	if ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	header.Caveats = append(header.Caveats, "the processor's counter can't be read here: gaps are seen with go-time-now, only as finely as that allows")
	c, err := clock.Open("go-time-now")
	if err != nil {
		return nil, 0, err
	}
	return c, c.UnitNs, nil
}
