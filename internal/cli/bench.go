package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/render"
	"chronoscope/stats"
)

// benchFlags are those of the command that measures Go benchmarks.
type benchFlags struct {
	bench, precision   string
	directory          string // of the module
	maxTime, timeout   time.Duration
	against, regressed string
	export             string
	plan               gobench.Plan // as the flags have it, once they are found good
	mostRegression     float64      // share; NaN where none is too much
}

// newBench is the command that measures a module's Go benchmarks.
func newBench(f *flags, s Streams) *cobra.Command {
	t := &benchFlags{}
	cmd := &cobra.Command{
		Use:   "bench [PACKAGES]",
		Short: "Measure a module's Go benchmarks, with intervals that hold under load",
		Long: `Compiles the tests of the packages (default: the one in this directory, or in -C), runs each
benchmark many times, all in turn, with few and with many iterations, and takes
the differences: what the start of a process costs cancels. Beside the benchmark's
own time stand the CPU time of its process and how long its threads waited for a
CPU, so that other processes don't make it look slow:

  timer      nothing waited for a CPU: the benchmark's own time
  cpu-time   one thread at a time could run, all the time: its CPU time
  bounds     it blocks or runs in parallel, and others had the CPUs: between the
             time without the wait and the time with it

Interrupts, as a trace of the machine shows them, are taken off. A benchmark is done
when its 95 % interval is as narrow as --precision asks, or --max-time is spent.

On a busy machine give the benchmarks one CPU and more time, as in --cpu 1 --max-time 2m:
who may use several CPUs waits for each of them.

With --against each benchmark is also compiled from another revision of the git
checkout (in a temporary worktree), and the two are measured next to one another.
The result says how the working tree does beside the revision.

The exit status is 1 where a benchmark fails. With --max-regression it is 3 where one
is slower by more than the limit: the lower end of its ratio is above it. That end holds
for all benchmarks at once, so that a suite that did not change fails one time in 100
at most. It is 1 where that can't be told: the ratio's interval reaches above the limit,
no benchmark is in both revisions, or a package does not compile.`,
		Example: `  chronoscope bench
  chronoscope bench -C ../mymodule ./... --cpu 1 --max-time 2m   on a busy machine
  chronoscope bench ./... --bench 'Encode|Decode' --precision 0.5%
  chronoscope bench ./json --cpu 1 --export gobench:new.txt && benchstat new.txt
  chronoscope bench ./... --against main --max-regression 5%
  chronoscope bench --format json | jq '.results[] | {name, estimate, verdict}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			return measureBenchmarks(cmd, f, t, s, args)
		},
	}
	set := cmd.Flags()
	set.StringVarP(&t.directory, "directory", "C", ".", "measure the module in this `folder`, as go test -C does")
	set.StringVar(&t.bench, "bench", ".", "`regexp` that the benchmarks' names match, as go test -bench takes it")
	set.StringVar(&t.precision, "precision", "1%", "half the width of the interval that is enough, such as `0.5%` (--quick: 3%, --thorough: 0.5%)")
	set.DurationVar(&t.maxTime, "max-time", gobench.DefaultPlan.MaxTime, "how long a benchmark may be measured (--quick: 5s, --thorough: 2m)")
	set.DurationVar(&t.timeout, "timeout", 5*time.Minute, "end a benchmark's process that runs longer")
	set.StringVar(&t.against, "against", "", "compare with this `revision` of the git checkout")
	set.StringVar(&t.regressed, "max-regression", "", "with --against: exit with 3 if a benchmark is slower by more than this `share`, such as 5%")
	set.StringVar(&t.export, "export", "", "write gobench:`FILE`, which benchstat reads")
	return cmd
}

// check says which flag is wrong, and what is allowed.
func (t *benchFlags) check(cmd *cobra.Command, f *flags, set settings) error {
	t.plan = gobench.DefaultPlan
	switch {
	case f.quick:
		t.plan = gobench.QuickPlan
	case f.thorough:
		t.plan = gobench.ThoroughPlan
	}
	t.plan.Seed = set.seed
	if _, err := regexp.Compile(t.bench); err != nil || t.bench == "" {
		return usagef("--bench: %q is no regular expression (go doc regexp/syntax): use . for all", t.bench)
	}
	if cmd.Flags().Changed("precision") {
		share, err := parseShare(t.precision)
		if err != nil || share <= 0 || share >= 1 {
			return usagef("--precision: %q is none: give a share above 0 and below 100%%, such as 1%%", t.precision)
		}
		t.plan.Precision = share
	}
	if info, err := os.Stat(t.directory); err != nil || !info.IsDir() {
		return usagef("-C: %q is no folder: give that of the module", t.directory)
	}
	if t.maxTime <= 0 {
		return usagef("--max-time: %v is too little: give more than 0, such as 30s", t.maxTime)
	}
	if cmd.Flags().Changed("max-time") {
		t.plan.MaxTime = t.maxTime
	}
	if t.timeout <= 0 {
		return usagef("--timeout: %v is too little: give more than 0, such as 5m", t.timeout)
	}
	var err error
	if t.mostRegression, err = allowedRegression(cmd, t.regressed); err != nil {
		return err
	}
	if cmd.Flags().Changed("max-regression") && !cmd.Flags().Changed("against") {
		return usagef("--max-regression: there is nothing to compare with: give --against REVISION too")
	}
	if t.export != "" {
		file, ok := strings.CutPrefix(t.export, "gobench:")
		if !ok || file == "" {
			return usagef("--export: %q can't be written: give gobench:FILE", t.export)
		}
		return checkPlace(file)
	}
	return nil
}

// parseShare reads 5% or 0.05.
func parseShare(text string) (float64, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if percent {
		share /= 100
	}
	if err == nil && (math.IsNaN(share) || math.IsInf(share, 0)) {
		err = errors.New("not finite")
	}
	return share, err
}

// measureBenchmarks compiles, measures, and writes.
func measureBenchmarks(cmd *cobra.Command, f *flags, t *benchFlags, s Streams, patterns []string) error {
	set, err := f.check()
	if err != nil {
		return err
	}
	if err := t.check(cmd, f, set); err != nil {
		return err
	}
	header := record.NewHeader("bench", machine.Identify(), set.seed)
	if err := bindable(set.cpus, header.Machine); err != nil {
		return err
	}
	bar := newProgress(s.Err)
	defer bar.end()
	e := benchExperiment{flags: t, common: f, set: set, patterns: patterns, bar: bar, header: &header}
	d, err := e.run(cmd.Context())
	bar.end()
	stopped := cmd.Context().Err() != nil
	if err != nil && !stopped {
		return err
	}
	header.Finish(stopped)
	d.Header = header
	if err := t.write(d, set, s); err != nil {
		return err
	}
	if stopped {
		return errInterrupted
	}
	return t.outcome(d, e.broken, set)
}

// bindable finds out before a long measurement that the CPUs can't be had.
func bindable(cpus []int, m *machine.Machine) error {
	if len(cpus) == 0 {
		return nil
	}
	restore, err := machine.Pin(cpus)
	var unbound *machine.AffinityError
	switch {
	case errors.As(err, &unbound):
		return cpuError(unbound, m)
	case err != nil:
		return fmt.Errorf("--cpu: %w", err)
	}
	return restore()
}

// write writes the export and the document.
func (t *benchFlags) write(d record.Bench, set settings, s Streams) error {
	if file, ok := strings.CutPrefix(t.export, "gobench:"); ok {
		err := writeFile(file, func(w io.Writer) error { return render.GoBench(w, d) })
		return errors.Join(err, set.show(s.Out, d))
	}
	return set.show(s.Out, d)
}

// outcome is the error that tells the exit status of a finished measurement, in which the
// benchmarks of broken packages are missing.
func (t *benchFlags) outcome(d record.Bench, broken []error, set settings) error {
	verdicts := map[string]stats.Verdict{}
	failed := 0
	for _, b := range d.Results {
		verdicts[b.Package+"."+b.Name+" "+b.Revision] = b.Verdict
		if b.Estimate.N == 0 {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d benchmarks could not be measured: the reasons stand beside them", failed, len(d.Results))
	}
	var unknown []rival
	for _, why := range broken {
		unknown = append(unknown, unanswered("a package's benchmarks are slower", why.Error()))
	}
	if err := gate(append(unknown, rivalsOf(d.Pairs)...), t.mostRegression, t.regressed); err != nil {
		return err
	}
	return set.met(verdicts)
}
