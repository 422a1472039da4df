package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/validate"
)

// validateFlags are the flags of validate.
type validateFlags struct {
	full, restart           bool
	loads, durations, works []string
	kinds, neighbours       []string
	schemes                 []string
	with                    []string
	earlier                 []record.Validation // the contents of those files
	plan                    validate.Plan       // from the flags, after they were checked
	unmeasured              []string            // caveats about loads that --neighbours excludes
}

// newValidate returns the command that says how good methods are on this machine.
func newValidate() *command {
	t := &validateFlags{}
	return &command{Command: &cobra.Command{
		Use:   "validate",
		Short: "How good are methods of measuring on this machine? The experiments, run again",
		Long: `Lets every method measure work of known length, from 0.1 ms to a second, alone and
beside other processes, and says for each how far off it was, how often its own claim
held, and up to which duration it can be relied on:

  times, getrusage             interval counting
  source-k1 to -k5             K-best as in the source, by the processor's counter
  gettimeofday-k1 to -k5       the same by gettimeofday
    ...-compensated            less what interrupts take of so long a run
  testing-b                    the mean over a second
  kbest                        this project's K-best
  program                      whole programs of 10 ms and 100 ms that compute, sleep, sleep
                               until a deadline, start a process or a thread, hand over
                               through pipes, or ask a server; computing ones of 1 s, too
  hyperfine                    whole programs that compute

The neighbours, by --neighbours; all but memory and build are on the CPU of the work:

  none                         nothing else runs
  loops                        they compute without end
  bursty                       they compute and sleep at random, 0.1 to 10 ms each time
  wakers                       they wake up a thousand times a second, for microseconds
  memory                       they sweep caches and memory, one on every other CPU too
  build                        compilations on all CPUs
  changing                     they come and go at random, every 20 ms to 1 s

The load says how many threads want the CPU, the measured one among them: "loops 4" are
three loops. The default is: none, loops 4, loops 11 and bursty 4 (--quick:
without loops 11; --full: all).

After Bryant, O'Hallaron: Computer Systems (2003), Figures 9.8, 9.11, 9.12, 9.14 to
9.19, 9.21 and 9.22. It takes about eight minutes (--quick: about one), and more
where other guests share the machine. What is finished is kept for 15 minutes: an
interrupted validation goes on where it was when it is started again, and says which
figures are older. What it finds of this machine is kept for other commands; a look at
fewer durations does not replace one at more.`,
		Example: `  chronoscope validate
  chronoscope validate --quick --load 1,11 --scheme source-k3,kbest
  chronoscope validate --plot validation.svg --format json -o validation.json
  chronoscope validate --neighbours none,bursty,build --scheme kbest,program
  chronoscope validate --with monday.json,tuesday.json
  chronoscope validate --format json | jq '.coverage[] | select(.scheme == "kbest")'`,
	}, flags: t.register, check: t.check, measure: t.measure}
}

func (t *validateFlags) register(set *pflag.FlagSet, _ *flags) {
	set.BoolVar(&t.full, "full", false, "more durations, up to 3 s, beside all kinds of neighbours, as with --thorough: more than an hour")
	set.BoolVar(&t.restart, "restart", false, "begin anew, whatever an interrupted validation has finished")
	set.StringSliceVar(&t.loads, "load", nil, "how many threads want the CPU, the measured one among them, a `list` such as 1,4,11")
	set.StringSliceVar(&t.neighbours, "neighbours", nil, "what else runs during the work, a `list` of none, loops, bursty, wakers, memory, build and changing (default none,loops,bursty)")
	set.StringSliceVar(&t.durations, "duration", nil, "how long the work is, a `list` such as 1ms,100ms")
	set.StringSliceVar(&t.works, "work", nil, "what the work is, a `list` of chain, ints and traced")
	set.StringSliceVar(&t.kinds, "kind", nil, "what whole programs do, a `list` of compute, sleep, deadline, child, threads, pipe and server")
	set.StringSliceVar(&t.schemes, "scheme", nil, "methods, a `list` of names, or of beginnings such as source")
	set.StringSliceVar(&t.with, "with", nil, "add up the coverage with that of these earlier `records` (JSON), too")
}

// check returns an error that says which flag is wrong, and what is allowed.
func (t *validateFlags) check(c *call) error {
	if c.effort == quick && t.full {
		return usagef("--quick and --full exclude one another: give one of them")
	}
	t.plan = of(c.effort, validate.QuickPlan, validate.DefaultPlan, validate.FullPlan)
	if t.full {
		t.plan = validate.FullPlan
	}
	t.plan.Seed, t.plan.Schemes = c.seed, t.schemes
	if err := t.parse(); err != nil {
		return err
	}
	if err := t.plan.Check(); err != nil {
		return usagef("%v", err)
	}
	return t.readEarlier()
}

// readEarlier reads the validations whose coverage is to be added. Each counts once.
func (t *validateFlags) readEarlier() error {
	t.earlier = nil
	for _, file := range t.with {
		document, err := record.Open(file)
		if err != nil {
			return usagef("--with: %v", err)
		}
		d, ok := document.(record.Validation)
		if !ok {
			return usagef("--with: %s is of another command: give what chronoscope validate wrote with --format json", file)
		}
		for i, other := range t.earlier {
			if other.Started.Equal(d.Started) {
				return usagef("--with: %s and %s are the same validation: give each once", t.with[i], file)
			}
		}
		t.earlier = append(t.earlier, d)
	}
	return nil
}

// differentMachines says which of the earlier validations were made on another machine, where
// methods may be better or worse.
func (t *validateFlags) differentMachines(here *machine.Machine) []string {
	var all []string
	for i, e := range t.earlier {
		if there := e.Machine; there == nil || there.CPU != here.CPU || there.Hypervisor != here.Hypervisor || there.Kernel != here.Kernel {
			all = append(all, t.with[i]+" is of another machine or kernel than this one: what is added up holds for neither")
		}
	}
	return all
}

// parse parses the flags that are lists.
func (t *validateFlags) parse() error {
	loads, bad := parsed("--load", t.loads, nil, func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil {
			err = fmt.Errorf("%q is no number of threads: give a list such as 1,4,11", text)
		}
		return n, err
	})
	neighbours, err := parsed("--neighbours", t.neighbours, nil, validate.ParseNeighbours)
	bad = cmp.Or(bad, err)
	if len(loads)+len(neighbours) > 0 {
		t.plan.Regimes = validate.Regimes(neighbours, loads)
	}
	t.unmeasured = unmeasured(loads, t.plan.Regimes)
	t.plan.Durations, err = durations("--duration", t.durations, t.plan.Durations, "1ms,100ms")
	bad = cmp.Or(bad, err)
	t.plan.Works, err = parsed("--work", t.works, t.plan.Works, validate.ParseWork)
	bad = cmp.Or(bad, err)
	t.plan.Kinds, err = parsed("--kind", t.kinds, t.plan.Kinds, validate.ParseKind)
	return cmp.Or(bad, err)
}

// unmeasured returns a caveat for each of these loads that no regime has.
func unmeasured(loads []int, regimes []validate.Regime) (caveats []string) {
	for _, n := range loads {
		if !slices.ContainsFunc(regimes, func(r validate.Regime) bool { return r.Load == n }) {
			caveats = append(caveats, fmt.Sprintf("--load %d is not measured: --neighbours none has a load of 1 and all others have more; these were measured: %v", n, regimes))
		}
	}
	return caveats
}

// durations returns the durations of a flag's list, or the usual ones if it is empty.
func durations(flag string, texts []string, usual []time.Duration, example string) ([]time.Duration, error) {
	return parsed(flag, texts, usual, func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		if err != nil {
			err = fmt.Errorf("invalid value %q: give a list such as %s", text, example)
		}
		return d, err
	})
}

// parsed returns the elements of a flag's list, or the usual ones if it is empty.
func parsed[T any](flag string, texts []string, usual []T, parse func(string) (T, error)) ([]T, error) {
	if len(texts) == 0 {
		return usual, nil
	}
	var all []T
	for _, text := range texts {
		x, err := parse(text)
		if err != nil {
			return nil, usagef("%s: %v", flag, err)
		}
		all = append(all, x)
	}
	return all, nil
}

// measure runs the validation.
func (t *validateFlags) measure(ctx context.Context, c *call) (found, error) {
	var err error
	if t.plan.CPU, err = oneCPU(c.cpus); err != nil {
		return found{}, err
	}
	store := t.store(c)
	r, err := validate.Run(ctx, t.plan, c.header.Machine, store, func(p validate.Progress) {
		c.bar.show(p.Share, fmt.Sprintf("%s, %v left", p.Doing, p.Left.Round(time.Second)))
	})
	if err != nil && ctx.Err() == nil {
		return found{}, err
	}
	if ctx.Err() != nil && store != nil {
		c.caveat("what is finished is kept in %s: start again to go on, with --restart to begin anew", store.Folder())
	}
	c.header.Caveats = append(append(c.header.Caveats, t.unmeasured...), t.differentMachines(c.header.Machine)...)
	if len(t.earlier) > 0 {
		all := []validate.Report{*r}
		for _, e := range t.earlier {
			all = append(all, e.Report)
		}
		r.AddedUp = validate.AddUp(all)
	}
	c.header.Caveats = append(c.header.Caveats, r.LeftOut...)
	d := record.Validation{Header: c.finish(ctx), Report: *r}
	return found{document: d, verdicts: ownVerdicts(d)}, nil
}

// oneCPU returns the CPU to measure on: the named one, or else the last one that the process may
// use, since the first serves most of a machine's interrupts.
func oneCPU(named []int) (int, error) {
	if len(named) > 1 {
		return 0, usagef("--cpu: %d CPUs are named: the measured work and its competitors share one", len(named))
	}
	if len(named) == 0 {
		allowed, err := machine.Affinity()
		if err != nil {
			return 0, fmt.Errorf("competitors have to be on the same CPU as the work: %w", err)
		}
		named = allowed[len(allowed)-1:]
	}
	return named[0], nil
}

// store returns the store for finished cells; if there is none, it adds a caveat.
func (t *validateFlags) store(c *call) *validate.Store {
	store, err := validate.OpenStore(c.header.Machine)
	if err == nil && t.restart {
		err = store.Restart()
	}
	if err != nil {
		c.caveat("nothing is kept, so that an interrupted validation begins anew: %v", err)
		return nil
	}
	return store
}

// ownVerdicts returns the verdicts of this project's own methods, which --require judges. The
// failures of other methods are what the command is meant to show.
func ownVerdicts(d record.Validation) map[string]stats.Verdict {
	verdicts := map[string]stats.Verdict{}
	for _, c := range d.Outcomes {
		if c.Scheme == validate.OwnKBest || c.Scheme == validate.OwnProgram {
			what := string(c.Work)
			if c.Kind != validate.Compute {
				what = c.Kind.String()
			}
			verdicts[fmt.Sprintf("%s of %s, %v, neighbours %s", c.Scheme, what, time.Duration(c.DurationNs), c.Regime)] = c.Verdict
		}
	}
	return verdicts
}
