package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"chronoscope/clock"
	"chronoscope/clock/check"
	"chronoscope/fidelity"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// fidelityFlags are those of the command that tests counters.
type fidelityFlags struct {
	counter, reference string
	workloads          []string
	child              bool
}

// newFidelity is the command that says whether counters can be trusted.
func newFidelity(f *flags, s Streams) *cobra.Command {
	t := &fidelityFlags{}
	cmd := &cobra.Command{
		Use:   "fidelity",
		Short: "Test whether the intervals that a counter measures are true",
		Long: `Reads a proven reference and the counter, runs a workload, reads both again, and
compares the two durations: the sandwich experiment of Kuperberg and Reussner
(Analysing the Fidelity of Measurements Performed with Hardware Performance
Counters, ICPE 2011), who found a counter that fell short after every sleep.

` + workloadList() + `
Then every clock of this process is checked for itself: does it ever step back,
within a thread or from one CPU to another; do all CPUs show the same; does it
stand still, jump, wrap, or change its rate.

Where the reference rests on the counter's own oscillator, agreement shows that
the counter is read faithfully, and nothing of its rate; the output says so.`,
		Example: `  chronoscope fidelity                              the processor's counter, all workloads
  chronoscope fidelity --quick
  chronoscope fidelity --workload sleep --plot sleep.svg
  chronoscope fidelity --counter process-cputime --workload fibonacci
  chronoscope fidelity --format csv -o samples.csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("%q takes no arguments, and got %q", cmd.CommandPath(), args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if t.child {
				return fidelity.ServeChild(os.Stdin, os.Stdout)
			}
			return testFidelity(cmd.Context(), f, t, s)
		},
	}
	cmd.Flags().StringVar(&t.counter, "counter", "", "`clock` to test (default: the processor's counter)")
	cmd.Flags().StringVar(&t.reference, "reference", "", "`clock` to test it by (default: an independent one, or else monotonic-raw)")
	cmd.Flags().StringSliceVar(&t.workloads, "workload", nil, "`name` of a workload, may be repeated (default: all)")
	cmd.Flags().BoolVar(&t.child, "child", false, "")
	cmd.Flags().MarkHidden("child")
	return cmd
}

// workloadList says what the workloads do.
func workloadList() string {
	var b strings.Builder
	b.WriteString("The workloads:\n")
	for _, w := range fidelity.Workloads(nil) {
		fmt.Fprintf(&b, "  %-10s %s\n", w.Name, w.Does)
	}
	return b.String()
}

// independentNames are the references that rest on an oscillator of their own.
func independentNames() []string {
	return []string{fidelity.PTPKVM, fidelity.RTC, fidelity.Synchronised}
}

// child starts this program as the child that the workload stop stops.
func child() *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return exec.Command(self, "fidelity", "--child")
}

// check says which flag is wrong, and what is allowed.
func (t *fidelityFlags) check() ([]fidelity.Workload, error) {
	for _, named := range []struct {
		flag, name string
		known      []string
	}{
		{"--counter", t.counter, clock.Names()},
		{"--reference", t.reference, append(independentNames(), clock.Names()...)},
	} {
		if named.name != "" && !slices.Contains(named.known, named.name) {
			return nil, usagef("%s: no clock is called %q: use one of %s", named.flag, named.name, strings.Join(named.known, ", "))
		}
	}
	workloads, err := fidelity.Select(fidelity.Workloads(child), t.workloads)
	if err != nil {
		return nil, usagef("--workload: %v", err)
	}
	return workloads, nil
}

// testFidelity measures, judges and writes.
func testFidelity(ctx context.Context, f *flags, t *fidelityFlags, s Streams) error {
	set, err := f.check()
	if err != nil {
		return err
	}
	workloads, err := t.check()
	if err != nil {
		return err
	}
	header := record.NewHeader("fidelity", machine.Identify(), set.seed)
	quick := set
	quick.plan = timermeter.QuickPlan
	local, err := measureClocks(ctx, quick, s, &header, nil)
	if err != nil && !errors.Is(err, errInterrupted) {
		return err
	}
	trust := trustExperiment{plan: fidelity.DefaultPlan, checks: check.DefaultPlan, workloads: workloads, flags: t}
	switch {
	case f.quick:
		trust.plan, trust.checks = fidelity.QuickPlan, check.QuickPlan
	case f.thorough:
		trust.plan, trust.checks = fidelity.ThoroughPlan, check.ThoroughPlan
	}
	found := record.NoTrust()
	if err == nil {
		found, err = trust.run(ctx, set, s, local, &header)
	}
	if err != nil && !errors.Is(err, errInterrupted) {
		return err
	}
	header.Finish(err != nil)
	d := record.Fidelity{Header: header, Trust: found}
	if written := set.show(s.Out, d); written != nil {
		return written
	}
	if err != nil {
		return err
	}
	return set.met(trustVerdicts(d.Trust))
}

// trustExperiment is what is asked of the counters.
type trustExperiment struct {
	plan      fidelity.Plan
	checks    check.Plan
	workloads []fidelity.Workload
	flags     *fidelityFlags
}

// run takes the sandwiches, and checks every clock by itself. With errInterrupted
// comes what was found so far.
func (e trustExperiment) run(ctx context.Context, set settings, s Streams, local *timermeter.Local, header *record.Header) (record.Trust, error) {
	trust := record.NoTrust()
	// Clocks of a thread have to be opened and read by the same one.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if len(set.cpus) > 0 {
		restore, err := machine.Pin(set.cpus)
		if err != nil {
			return trust, fmt.Errorf("--cpu: %w", err)
		}
		defer restore()
	}
	clocks, missing := openRated(local)
	defer func() {
		for _, c := range clocks {
			c.Close()
		}
	}()
	bar := newProgress(s.Err)
	defer bar.end()
	results, err := e.sandwiches(ctx, clocks, missing, bar, header)
	if err != nil && ctx.Err() == nil {
		return trust, err
	}
	trust.Sandwiches = append(trust.Sandwiches, results...)
	if ctx.Err() == nil {
		found, _ := check.Local(ctx, check.Request{
			Clocks: clocks, Plan: e.checks, CPUs: set.cpus, Seed: set.seed,
			Progress: func(share float64, doing string) { bar.show(share, doing) },
		})
		trust.Checks = append(trust.Checks, found.Findings...)
		header.Caveats = append(header.Caveats, found.Caveats()...)
	}
	if ctx.Err() != nil {
		return trust, errInterrupted
	}
	return trust, nil
}

// openRated opens the rated clocks, with what the rating says of them.
func openRated(local *timermeter.Local) (clocks []clock.Rated, missing []*clock.Unavailable) {
	var rate *clock.Rate
	if len(local.Counters) > 0 {
		rate = &local.Counters[0].Rate
	}
	missing = local.Unavailable
	for _, rating := range local.Ratings {
		c, err := clock.Open(rating.Clock.Name)
		var unavailable *clock.Unavailable
		if errors.As(err, &unavailable) {
			missing = append(missing, unavailable)
		} else if err == nil {
			clocks = append(clocks, rating.Rated(c, rate))
		}
	}
	return clocks, missing
}

// sandwiches takes them with the counter and the reference that are asked for.
func (e trustExperiment) sandwiches(ctx context.Context, clocks []clock.Rated, missing []*clock.Unavailable, bar *progress, header *record.Header) ([]fidelity.Result, error) {
	counter, err := pick(clocks, missing, "--counter", e.flags.counter, "tsc", "cntvct", "monotonic")
	if err != nil {
		return nil, err
	}
	independent, lacking := fidelity.References(os.DirFS("/"), e.plan.Lasts(e.workloads))
	defer func() {
		for _, r := range independent {
			r.Close()
		}
	}()
	reference, err := e.reference(counter, clocks, append(lacking, missing...), independent)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(independentNames(), reference.Name) {
		for _, u := range lacking {
			header.Caveats = append(header.Caveats, fmt.Sprintf("no independent reference: %v", u))
		}
	}
	apart, why := fidelity.Independence(counter.Clock, reference.Clock, header.Machine)
	outcome, err := fidelity.Run(ctx, fidelity.Request{
		Counter: counter, Reference: reference, Independent: apart, Why: why,
		Workloads: e.workloads, Plan: e.plan, Progress: bar.show,
		Clocksource: func() string { return string(machine.Identify().Clocksource) },
	})
	var refused *fidelity.Refused
	switch {
	case errors.As(err, &refused):
		return nil, usagef("%v", refused)
	case outcome == nil:
		return nil, err
	}
	for _, u := range outcome.Unavailable {
		header.Caveats = append(header.Caveats, u.Error())
	}
	for _, r := range outcome.Refused {
		header.Caveats = append(header.Caveats, r.Error())
	}
	header.Caveats = append(header.Caveats, outcome.Caveats...)
	if len(outcome.Results) == 0 && len(outcome.Refused) > 0 && ctx.Err() == nil {
		return nil, usagef("%v", outcome.Refused[0])
	}
	return outcome.Results, err
}

// reference is the clock to judge the counter by: the one that is asked for, an
// independent one where the plan is long enough for it, or else the one that
// nobody disciplines.
func (e trustExperiment) reference(counter clock.Rated, clocks []clock.Rated, missing []*clock.Unavailable, independent []fidelity.Reference) (clock.Rated, error) {
	if e.flags.reference == "" {
		for _, r := range independent {
			if fidelity.CheckPair(counter, r.Rated, e.plan.LongestNs(e.workloads)) == nil {
				return r.Rated, nil
			}
		}
	}
	others := slices.DeleteFunc(slices.Clone(clocks), func(c clock.Rated) bool { return c.Name == counter.Name })
	for _, r := range independent {
		others = append(others, r.Rated)
	}
	return pick(others, missing, "--reference", e.flags.reference, "monotonic-raw", "monotonic", "go-time-now")
}

// pick is the clock of that name or, without one, the first of the usual ones that
// can be read.
func pick(clocks []clock.Rated, missing []*clock.Unavailable, flag, name string, usual ...string) (clock.Rated, error) {
	if name != "" {
		usual = []string{name}
	}
	for _, wanted := range usual {
		for _, c := range clocks {
			if c.Name == wanted {
				return c, nil
			}
		}
	}
	for _, u := range missing {
		if u.Name == name {
			return clock.Rated{}, fmt.Errorf("%s: %w", flag, u)
		}
	}
	if name != "" {
		return clock.Rated{}, usagef("%s: %s can't be compared with itself: choose another clock", flag, name)
	}
	return clock.Rated{}, fmt.Errorf("%s: none of %s can be read here: name another clock", flag, strings.Join(usual, ", "))
}

// trustVerdicts are those of all sandwiches and checks.
func trustVerdicts(t record.Trust) map[string]stats.Verdict {
	v := map[string]stats.Verdict{}
	for _, s := range t.Sandwiches {
		name := s.Counter + " beside " + s.Workload
		if before, twice := v[name]; !twice || s.Verdict.WorseThan(before) {
			v[name] = s.Verdict
		}
	}
	for _, c := range t.Checks {
		v[c.Clock+", "+string(c.Check)] = c.Verdict
	}
	return v
}
