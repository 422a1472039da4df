package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/render"
	"chronoscope/stats"
	"chronoscope/view"
)

// programFlags are the flags of run.
type programFlags struct {
	precision                string
	minRuns, maxRuns, warmup int
	runs                     int // the exact number; 0 for as many as needed
	nice                     int
	maxTime, timeout         time.Duration
	prepare, conclude        []string // one for all commands, or one for each
	setup, cleanup           string
	reference, referenceName string
	names                    []string // of the commands
	sort, timeUnit           string
	parameters, env          []string
	isRevision               bool // bisect runs the program, in a checkout of its own, and has no --shell
	dir, input, output       string
	shell, shellName         string
	noShell                  bool
	ignored                  ignoredFailures
	once, posix, showOutput  bool
	duets                    bool
	pid                      int
	duration                 time.Duration

	metricTexts []string
	gateText    string

	metrics  []program.Metric
	gate     *stats.Gate // nil without --gate
	commands []template  // the commands to measure
	given    []parameter
	plan     program.Plan // from the flags, after they were checked
}

// newRun returns the command that measures programs.
func newRun() *command {
	t := &programFlags{}
	return &command{Command: &cobra.Command{
		Use:   "run [flags] -- CMD [ARG ...], or run [flags] 'CMD ARG ...' ...",
		Short: "Measure how long programs take, also while the machine is busy",
		Long: `Runs programs many times, and says how long they take: if they had the machine to
themselves, with an interval, and beside it what they took. What follows -- is one
command, word by word. Otherwise each argument is a command line, split into words by
the quoting rules of a shell, but run without one, unless --shell is given.

  time      on a machine of its own: what others took of the CPUs is taken off. Where
            that can't be known for certain, the interval holds all that is possible;
            root is told who wakes whom, which narrows it
  wall      from exec to exit, by the clock
  CPU       user and system time
  waiting   for a CPU that others had, and blocked: asleep, or waiting for something else

Several commands are run in turn, in random order, and each is compared with the first, or with
--reference. A command is done when its 95 % interval is as narrow as --precision asks, or --max-time is spent.

With --duets, two commands that compute in one thread at a time also run at the same time on
one CPU. What slows the machine then slows both, and the ratio of their CPU times is known far
better, above all on a virtual machine whose cores others share. It is meant for two builds of
one program: different programs may lose different shares of their time to a neighbour.

With --param n=1,10,100 each command in which {n} stands is measured with each of the
values; a range is n=1..8, or n=0..100..20 in steps of 20. Several multiply. If the first command,
or --reference, has several values, the others are compared with it at each value, and those with
the same parameter at the same value. A single command is compared with itself at its first values.
--prepare is given one time, or one time for each command.

--metric NAME=SOURCE takes a figure from the standard output of each run, after stderr: from
its standard error: the group of the last match of a regular expression, or what a JSON path
finds. The system itself tells cpu_ns, max_rss_bytes, minor_faults, major_faults,
voluntary_switches and involuntary_switches. If a metric's name ends in /s, /sec or /second,
a higher value is better. Metrics are compared like times, and --gate gives each its limit.
For max_rss_bytes every second run is traced, and does not count for the time.

--once runs a command one time, and shows what it writes: a better time(1). Its own text
goes to standard error, as there, or to -o FILE. It does not trace the command, which may be
a debugger or a leak sanitizer; so a peak of memory is known if it is twice as large as that of
chronoscope itself, or with --metric max_rss_bytes, which traces the run.
--pid watches a process that runs already.

The times in --export hyperfine:FILE are wall times, as in hyperfine's own files; the
time on a machine of its own stands in the JSON document, and beside hyperfine's columns
in --export markdown:FILE.

The exit status is 1 where a command fails, unless --ignore-failure. With
--max-regression or --gate it is 3 where one is slower, or a metric worse, by more than
the limit, for all comparisons at once with a chance of 99 %. It is 1 where that can't be
told: the interval of the ratio reaches above the limit.`,
		Example: `  chronoscope run -- sleep 0.1
  chronoscope run 'grep -r foo .' 'rg foo' --warmup 3
  chronoscope run --param n=1..8 'make -j {n}' --prepare 'make clean'
  chronoscope run --cpu 1 --precision 0.5% -- ./prog --fast
  chronoscope run ./old ./new --max-regression 5% --export hyperfine:times.json
  chronoscope run ./old ./new --duets
  chronoscope run ./old ./new --metric 'ops/s=regexp:([0-9.]+) ops/s' --gate ops/s=3%
  chronoscope run --once -- make
  chronoscope run --pid 1234 --duration 10s`,
		Args: cobra.ArbitraryArgs,
	}, flags: t.register, check: t.check, measure: t.measureAndJudge,
		exports: map[string]string{
			"hyperfine": "in JSON", "csv": "as hyperfine's", "markdown": "", "asciidoc": "", "orgmode": "", "gobench": "which benchstat reads",
		},
		values: map[string][]string{
			"sort": {string(record.ByCommand), string(record.ByMeanTime)}, "time-unit": {string(record.Microsecond), string(record.Millisecond), string(record.Second)},
		},
		regressions: "exit with 3 if a command is slower than the first by more than this `share`, such as 5%",
		unknownFlag: "flags of the program itself belong after --",
	}
}

func (t *programFlags) register(set *pflag.FlagSet, f *flags) {
	set.SortFlags = false
	set.StringVar(&t.precision, "precision", "1%", "half the width of the interval that is enough, a `share` such as 0.5% (--quick: 3%, --thorough: 0.5%)")
	set.IntVarP(&t.minRuns, "min-runs", "m", program.DefaultPlan.MinRuns, "fewest runs of a command (--quick: 6, --thorough: 20)")
	set.IntVarP(&t.maxRuns, "max-runs", "M", program.DefaultPlan.MaxRuns, "most runs of a command, after a first one that is traced and does not count (--quick: 100, --thorough: 10000)")
	set.IntVarP(&t.runs, "runs", "r", 0, "exactly this `number` of runs that count of each command, after a first one that is traced")
	set.DurationVar(&t.maxTime, "max-time", program.DefaultPlan.MaxTime, "how long the runs of a command may take in all (--quick: 3s, --thorough: 1m)")
	set.IntVarP(&t.warmup, "warmup", "w", 0, "runs of each command before those that count")
	set.StringArrayVar(&t.prepare, "prepare", nil, "run this `command` before each run, untimed; given once for each command, before the runs of that one")
	set.StringArrayVarP(&t.conclude, "conclude", "C", nil, "run this `command` after each run, untimed; or once for each command")
	set.StringVarP(&t.setup, "setup", "s", "", "run this `command` once, untimed, before the first run of all; with a parameter in it, once for each value")
	set.StringVarP(&t.cleanup, "cleanup", "c", "", "run this `command` once, untimed, after the last run of all, likewise; also after a failure or an interruption")
	set.StringVar(&t.reference, "reference", "", "measure this `command` too, and compare the others with it instead of with the first")
	set.StringVar(&t.referenceName, "reference-name", "", "call the reference by this `name`")
	set.StringArrayVarP(&t.names, "command-name", "n", nil, "call a command by this `name`; given several times, the commands in their order")
	set.StringArrayVar(&t.parameters, "param", nil, "`name=values` of a parameter: n=1,10,100, n=1..8 or t=0.3..0.5..0.05, where {n} stands in a command")
	set.StringArrayVar(&t.metricTexts, "metric", nil, "take a figure from what each run writes: `name=source`, the source being regexp:PATTERN with one group, or json:PATH; or a name alone, such as max_rss_bytes (see above)")
	set.StringVar(&t.gateText, "gate", "", "exit with 3 if one of these `metrics` is worse than the first command's by more than its share, such as ops/s=5%,max_rss_bytes=1%,time=5%")
	set.StringVar(&f.cpus, "cpu", "", "keep the program to these CPUs, a `list` such as 0,2-3, or all")
	set.StringVar(&t.input, "input", "", "what the program reads: a `file`, or - for this command's standard input (default: nothing)")
	set.StringVar(&t.output, "program-output", "", "where what the program writes goes: null, pipe (and nowhere), inherit, or a `file` (default: null; with --once, inherit); inherit with a --format other than text, and without -o, is standard error")
	set.BoolVar(&t.showOutput, "show-output", false, "show what the program writes, as --program-output inherit does, and on standard error what --prepare and --conclude write")
	set.StringVar(&t.dir, "dir", "", "run in this `directory`")
	set.StringArrayVar(&t.env, "env", nil, "set a variable, `name=value`, in the program's environment")
	set.StringVar(&t.shell, "shell", "", "run the commands by a shell: --shell, or --shell=`name` (its own cost is said, and not taken off)")
	set.Lookup("shell").NoOptDefVal = usualShell
	set.StringVarP(&t.shellName, "shell-name", "S", "", "as --shell=`name`")
	set.BoolVarP(&t.noShell, "no-shell", "N", false, "run the commands without a shell, as is usual here")
	set.IntVar(&t.nice, "nice", 0, "run programs with this niceness, from -20, for root, to 19, in sessions of their own")
	set.DurationVar(&t.timeout, "timeout", 0, "end a run that takes longer, with all of its processes (default: never)")
	set.VarP(&t.ignored, "ignore-failure", "i", "go on with a command that fails: with whatever exit status, or with those of a `list` alone, as in --ignore-failure=1,2")
	set.Lookup("ignore-failure").NoOptDefVal = allFailures
	set.BoolVar(&t.once, "once", false, "run one command one time, and show what it writes")
	set.BoolVarP(&t.posix, "posix", "p", false, "with --once: write real, user and sys in seconds, as time -p does")
	set.BoolVar(&t.duets, "duets", false, "run two commands at the same time on one CPU, too, and compare their CPU times: for two builds of one program, where others share the cores")
	set.IntVar(&t.pid, "pid", 0, "watch the process of this `number` instead of a command")
	set.DurationVar(&t.duration, "duration", 5*time.Second, "with --pid: how long to watch")
	set.StringVar(&t.sort, "sort", "", "`order` of the results in text, pages and tables: command, as given (default), or mean-time")
	set.StringVarP(&t.timeUnit, "time-unit", "u", "", "`unit` of the times in text, pages and tables: microsecond, millisecond or second (default: what suits each)")
	registerHyperfines(set)
}

// measureAndJudge measures, and returns the values that --require and --max-regression judge.
func (t *programFlags) measureAndJudge(ctx context.Context, c *call) (found, error) {
	c.measuresCodeIn(ctx, ".")
	e := &programExperiment{flags: t, call: c}
	cleanup := func(ctx context.Context) error { return e.aside(ctx, "--cleanup", t.cleanup) }
	if err := e.aside(ctx, "--setup", t.setup); err != nil {
		return found{afterwards: cleanup}, fmt.Errorf("%w: nothing was measured", err)
	}
	d, err := e.run(ctx)
	if err != nil && ctx.Err() == nil {
		return found{afterwards: cleanup}, err
	}
	d.Sort, d.TimeUnit, d.Header = record.Sort(t.sort), record.TimeUnit(t.timeUnit), c.finish(ctx)
	r := judgedPrograms(d, t.ignored.codes...)
	r.afterwards = cleanup
	r.exports, r.aside = render.Exports(d), t.once // as with time(1), standard output belongs to the program
	r.text = func(w io.Writer, style render.Style) error {
		if t.posix {
			_, err := io.WriteString(w, view.ProgramsPOSIX(d))
			return err
		}
		return render.Write(w, render.TextFormat, d, style) // caveats about single fields are in JSON only
	}
	whole := d
	whole.Caveats = slices.Concat(d.Caveats, unknowns(d))
	r.document = whole
	return r, nil
}

// judgedPrograms returns the document with the values that --require and --max-regression judge. ignored are the exit statuses
// that --ignore-failure names.
func judgedPrograms(d record.Programs, ignored ...int) found {
	r := found{document: d, verdicts: map[string]stats.Verdict{}, rivals: rivalsOf(gatedPairs(d.Pairs))}
	var failed []program.Report
	for _, p := range d.Results {
		worst(r.verdicts, p.Command, p.Verdict)
		for name, m := range p.Metrics {
			worst(r.verdicts, name+" of "+p.Command, m.Verdict)
		}
		if p.Failure != nil {
			failed = append(failed, p)
		}
	}
	if len(failed) > 0 {
		ofSeveral := ""
		if len(d.Results) > 1 {
			ofSeveral = fmt.Sprintf("%d of %d commands failed; ", len(failed), len(d.Results))
		}
		help := ""
		if runs := failed[0].Runs; len(runs) > 0 && hasFailed(runs[len(runs)-1]) {
			help = ": see what it writes with --program-output inherit, or measure it all the same with --ignore-failure"
			if code := runs[len(runs)-1].ExitCode; len(ignored) > 0 && code != nil {
				help += "=" + (&ignoredFailures{codes: append(slices.Clip(ignored), *code)}).String()
			}
		}
		r.failed = fmt.Errorf("%s%s: %s%s", ofSeveral, failed[0].Command, *failed[0].Failure, help)
	}
	return r
}

// hasFailed reports whether a run ended with an exit status other than 0, or by a signal.
func hasFailed(r program.RunReport) bool {
	return r.Signal != nil || r.ExitCode != nil && *r.ExitCode != 0
}
