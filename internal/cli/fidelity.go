package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/clock"
	"chronoscope/clock/check"
	"chronoscope/fidelity"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// fidelityFlags are the flags of fidelity.
type fidelityFlags struct {
	counter, reference string
	names              []string // of workloads
	workloads          []fidelity.Workload
}

// newFidelity returns the command that says whether counters can be trusted.
func newFidelity() *command {
	t := &fidelityFlags{}
	return &command{Command: &cobra.Command{
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
	}, flags: t.register, check: t.check, measure: t.measure}
}

func (t *fidelityFlags) register(set *pflag.FlagSet, _ *flags) {
	set.StringVar(&t.counter, "counter", "", "`clock` to test (default: the processor's counter)")
	set.StringVar(&t.reference, "reference", "", "`clock` to test it by: ptp-kvm (the host's), rtc (the real-time clock), realtime-synchronised (the system's, where the network keeps it), or one that \"clocks\" names (default: an independent one that is fine enough, or else monotonic-raw)")
	set.StringSliceVar(&t.names, "workload", nil, "`name` of a workload, may be repeated (default: all)")
}

// workloadList describes the workloads.
func workloadList() string {
	var b strings.Builder
	b.WriteString("The workloads:\n")
	for _, w := range fidelity.Workloads(nil) {
		fmt.Fprintf(&b, "  %-10s %s\n", w.Name, w.Does)
	}
	return b.String()
}

// independentNames returns the references that have an oscillator of their own.
func independentNames() []string {
	return []string{fidelity.PTPKVM, fidelity.RTC, fidelity.Synchronised}
}

// childMarker is the environment variable that turns a process into the child of the workload stop.
const childMarker = "CHRONOSCOPE_FIDELITY_CHILD"

// child returns a command that starts this program as the child which the workload stop stops.
func child() *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), childMarker+"=1")
	return c
}

// check returns an error that says which flag is wrong, and what is allowed.
func (t *fidelityFlags) check(*call) (err error) {
	for _, named := range []struct {
		flag, name string
		known      []string
	}{
		{"--counter", t.counter, clock.Names()},
		{"--reference", t.reference, append(independentNames(), clock.Names()...)},
	} {
		if named.name != "" && !slices.Contains(named.known, named.name) {
			return usagef("%s: no clock is called %q: use one of %s", named.flag, named.name, strings.Join(named.known, ", "))
		}
	}
	if t.counter != "" && t.counter == t.reference {
		return usagef("--reference: %s can't be compared with itself: choose another clock", t.counter)
	}
	if t.workloads, err = fidelity.Select(fidelity.Workloads(child), t.names); err != nil {
		return usagef("--workload: %v", err)
	}
	return nil
}

// measure ranks the clocks, and tests them.
func (t *fidelityFlags) measure(ctx context.Context, c *call) (found, error) {
	local, err := c.rank(ctx, quick, timermeter.Request{})
	if local == nil {
		return found{}, err
	}
	trust := record.NoTrust()
	if err == nil {
		trust, err = trustExperiment{
			plan:   of(c.effort, fidelity.QuickPlan, fidelity.DefaultPlan, fidelity.ThoroughPlan),
			checks: of(c.effort, check.QuickPlan, check.DefaultPlan, check.ThoroughPlan),
			flags:  t,
		}.run(ctx, c, local)
	}
	return found{document: record.Fidelity{Header: c.finish(ctx), Trust: trust}, verdicts: trustVerdicts(trust)}, err
}

// trustExperiment describes the tests to make of the counters.
type trustExperiment struct {
	plan   fidelity.Plan
	checks check.Plan
	flags  *fidelityFlags
}

// run takes the sandwiches, and checks each clock separately. If ctx ends, it returns what was
// found so far with the error.
func (e trustExperiment) run(ctx context.Context, c *call, local *timermeter.Local) (record.Trust, error) {
	trust := record.NoTrust()
	// Clocks of a thread have to be opened and read by the same thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if len(c.cpus) > 0 {
		restore, err := machine.Pin(c.cpus)
		if err != nil {
			return trust, fmt.Errorf("--cpu: %w", err)
		}
		defer restore()
	}
	clocks, missing := openRated(local)
	defer func() {
		for _, opened := range clocks {
			opened.Close()
		}
	}()
	results, err := e.sandwiches(ctx, c, clocks, missing)
	trust.Sandwiches = append(trust.Sandwiches, results...)
	if err != nil || ctx.Err() != nil {
		return trust, cmp.Or(ctx.Err(), err)
	}
	checked, _ := check.Local(ctx, check.Request{Clocks: clocks, Plan: e.checks, CPUs: c.cpus, Seed: c.seed, Progress: c.bar.show})
	trust.Checks = append(trust.Checks, checked.Findings...)
	c.header.Caveats = append(c.header.Caveats, checked.Caveats()...)
	return trust, ctx.Err()
}

// openRated opens the clocks of a ranking, with the properties that it found.
func openRated(local *timermeter.Local) (clocks []clock.Rated, missing []*clock.Unavailable) {
	var rate *clock.Rate
	if len(local.Counters) > 0 {
		rate = &local.Counters[0].Rate
	}
	missing = local.Unavailable
	for _, rating := range local.Ratings {
		c, err := clock.Open(rating.Name)
		if unavailable, ok := errors.AsType[*clock.Unavailable](err); ok {
			missing = append(missing, unavailable)
		} else if err == nil {
			clocks = append(clocks, rating.Rated(c, rate))
		}
	}
	return clocks, missing
}

// sandwiches takes sandwiches with the requested counter and reference.
func (e trustExperiment) sandwiches(ctx context.Context, c *call, clocks []clock.Rated, missing []*clock.Unavailable) ([]fidelity.Result, error) {
	counter, err := pick(clocks, missing, "--counter", e.flags.counter, append(clock.BareCounters(), "monotonic")...)
	if err != nil {
		return nil, err
	}
	independent, lacking := fidelity.References(os.DirFS("/"), e.plan.Lasts(e.flags.workloads))
	defer func() {
		for _, r := range independent {
			r.Close()
		}
	}()
	reference, err := e.reference(c, counter, clocks, append(lacking, missing...), independent)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(independentNames(), reference.Name) {
		for _, u := range lacking {
			c.caveat("no independent reference: %v", u)
		}
	}
	apart, why := fidelity.Independence(counter.Clock, reference.Clock, c.header.Machine)
	outcome, err := fidelity.Run(ctx, fidelity.Request{
		Counter: counter, Reference: reference, Independent: apart, Why: why,
		Workloads: e.flags.workloads, Plan: e.plan, Progress: c.bar.show,
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
		c.caveat("%v", u)
	}
	for _, r := range outcome.Refused {
		c.caveat("%v", r)
	}
	c.header.Caveats = append(c.header.Caveats, outcome.Caveats...)
	if len(outcome.Results) == 0 && len(outcome.Refused) > 0 && ctx.Err() == nil {
		return nil, usagef("%v", outcome.Refused[0])
	}
	return outcome.Results, err
}

// reference returns the clock by which the counter is judged: the requested one; or an independent
// one, if the plan is long enough to tell a rate by it; or else one that no time daemon adjusts.
func (e trustExperiment) reference(c *call, counter clock.Rated, clocks []clock.Rated, missing []*clock.Unavailable, independent []fidelity.Reference) (clock.Rated, error) {
	if e.flags.reference == "" {
		for _, r := range independent {
			apart, _ := fidelity.Independence(counter.Clock, r.Clock, c.header.Machine)
			if !apart || fidelity.CheckPair(counter, r.Rated, e.plan.LongestNs(e.flags.workloads)) != nil {
				continue
			}
			reach := r.ReachPPM(e.plan.Lasts(e.flags.workloads))
			if reach <= fidelity.WorstReachPPM {
				return r.Rated, nil
			}
			c.caveat("%s is no reference for so short a test: it tells a rate to ± %s only, and ± %s is needed", r.Name, stats.Share(reach/1e6), stats.Share(fidelity.WorstReachPPM/1e6))
		}
	}
	others := slices.DeleteFunc(slices.Clone(clocks), func(c clock.Rated) bool { return c.Name == counter.Name })
	for _, r := range independent {
		others = append(others, r.Rated)
	}
	return pick(others, missing, "--reference", e.flags.reference, "monotonic-raw", "monotonic", "go-time-now")
}

// pick returns the clock of that name or, without a name, the first of the usual ones that can be
// read.
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
	return clock.Rated{}, fmt.Errorf("none of %s can be read here: name another clock (%s)", strings.Join(usual, ", "), flag)
}

// trustVerdicts returns the verdicts of all sandwiches and checks.
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
