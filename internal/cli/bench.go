package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/gobench"
	"chronoscope/record"
	"chronoscope/render"
	"chronoscope/stats"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	bench, precision string
	directory        string // of the module
	maxTime, timeout time.Duration
	nice             int
	against          string
	falseAlarms, see string
	gate             string
	building         gobench.Building
	procs            []int // values of GOMAXPROCS for each benchmark; 0 leaves the choice to the Go runtime
	null, plans      bool
	failFast         bool
	summary          bool
	seen             float64      // see as a share
	plan             gobench.Plan // from the flags, after they were checked
}

// newBench returns the command that measures a module's Go benchmarks.
func newBench() *command {
	t := &benchFlags{}
	return &command{Command: &cobra.Command{
		Use:   "bench [PACKAGES]",
		Short: "Measure a module's Go benchmarks, with intervals that hold under load",
		Long: `Compiles the tests of the packages (default: the one in this directory, or in -C), runs each
benchmark many times, all in turn, with few and with many iterations, and takes
the differences: what the start of a process costs cancels. Beside the benchmark's
own time stand the CPU time of its process and how long its threads waited for a
CPU, so that other processes don't make it look slow:

  timer      nothing waited for a CPU: the benchmark's own time
  cpu-time   one thread at a time could run, all the time: its CPU time
  bounds     it blocks or runs in parallel, and others had the CPUs: two times
             between which it lies

Interrupts, as a trace of the machine shows them, are taken off. A benchmark is done
when its 95 % interval is as narrow as --precision asks, or --max-time is spent; with
--max-regression or --gate, when it is known on which side of the limit it lies.

On a busy machine give the benchmarks one CPU and more time, as in --cpu 1 --max-time 2m:
a benchmark that may use several CPUs queues on each. As root give --nice -20, so that
other programs hardly take their CPU.

With --against each benchmark is also compiled from another revision of the git
checkout (in a temporary worktree below .git), and the two are measured next to one another.
Benchmarks that compute in one thread or goroutine also run with the other revision at
the same time on one CPU (duets), so that what slows the machine slows both: their ratio
is that of these runs. The result compares the working tree with the revision. An edit
moves functions, and some percent may come from that alone: so the ratio is that of builds
with their functions in random orders (--layouts).

The exit status is 1 if a benchmark fails, if a package of the working tree does not
compile in one of the revisions, or if with --against no benchmark is in both. The others
are measured. With --max-regression or --gate it is 3 if one is slower, or a metric worse,
by more than its limit. If nothing is, that happens in one run of 100 at most
(--false-alarms), however many benchmarks there are and however often they were looked at
meanwhile. What can't be told yet is measured for longer, in the time that the others
leave. What still can't passes with a warning, or with --undecided fail the status is 1.
It is 1 also if three pairs of times or more, too few to tell, are all beyond twice the
limit, or the single runs of a slow benchmark are: give more --max-time. With --fail-fast
the measurement ends when the gate fails.

With --gate the metrics that it names have limits: the time (sec/op), what go test
-benchmem prints, which is measured always, and what a benchmark reports itself. Of a
rate, less is worse.

With --gomaxprocs 1,2 each benchmark runs with each GOMAXPROCS, as with go test -cpu. They
are benchmarks of their own, with the names that go test prints: BenchmarkX, BenchmarkX-2.
Which CPUs they may use says --cpu.

With --calls single calls of each benchmark's loop are timed as well, in processes of their
own: percentiles with 95 % intervals, of the calls as they were, and without the time
for which other programs had their CPU. Tests are rewritten for that on their way to the
compiler, as go test -cover does. Benchmarks that stop their timer in their loop are always
timed call by call.

With --null the working tree is compiled twice and compared with itself: any alarm is
false then. It also says which slowdown the gate could have seen, here and in this time.
With --plan a few pairs of each benchmark are measured, to say how long the gate takes
to see a slowdown of --see.`,
		Example: `  chronoscope bench
  chronoscope bench -C ../mymodule ./... --cpu 1 --max-time 2m   on a busy machine
  chronoscope bench ./... --bench 'Encode|Decode' --precision 0.5%
  chronoscope bench ./json --cpu 1 --export gobench:new.txt && benchstat new.txt
  chronoscope bench ./... --against main --max-regression 5%
  chronoscope bench --calls                               how long single calls take
  chronoscope bench ./... --against main --gate sec/op=5%,allocs/op=0,B/op=1%
  chronoscope bench ./... --null --max-regression 5%      false alarms on this machine
  chronoscope bench ./... --plan --max-regression 1% --see 5%
  chronoscope bench --format json | jq '.results[] | {name, estimate, verdict}'`,
		Args: cobra.ArbitraryArgs,
	}, flags: t.register, check: t.check, measure: t.measure,
		exports: map[string]string{
			"gobench": "which benchstat reads", "summary": "in Markdown, for a comment", "junit": "", "codequality": "which GitLab reads",
			"benchmark-action": "which github-action-benchmark reads", "bmf": "which Bencher reads",
		},
		undecided:   undecidedPasses,
		regressions: "with --against: exit with 3 if a benchmark is slower by more than this `share`, such as 5%",
	}
}

func (t *benchFlags) register(set *pflag.FlagSet, _ *flags) {
	set.StringVarP(&t.directory, "directory", "C", ".", "measure the module in this `folder`, as go test -C does")
	set.StringVar(&t.bench, "bench", ".", "`regexp` that the benchmarks' names match, as go test -bench takes it")
	set.StringVar(&t.precision, "precision", "1%", "half the width of the interval that is enough, as a `share` such as 0.5% (--quick: 3%, --thorough: 0.5%)")
	set.DurationVar(&t.maxTime, "max-time", gobench.DefaultPlan.MaxTime, "how long a benchmark may be measured, with --against in each revision (--quick: 5s, --thorough: 2m)")
	set.DurationVar(&t.timeout, "timeout", 5*time.Minute, "end a benchmark's process that runs longer")
	set.IntVar(&t.nice, "nice", 0, "run benchmarks with this niceness, from -20, for root, to 19")
	set.StringVar(&t.against, "against", "", "compare with this `revision` of the git checkout")
	set.IntSliceVar(&t.procs, "gomaxprocs", nil, "run each benchmark with each GOMAXPROCS of this `list`, such as 1,2,4, as go test -cpu does")
	set.StringVar(&t.building.Tags, "tags", "", "build `tags`, as of go build")
	set.StringVar(&t.building.LDFlags, "ldflags", "", "`flags` for the linker, as of go build")
	set.BoolVar(&t.building.Race, "race", false, "build with the race detector, as go build -race does")
	set.BoolVar(&t.building.Calls, "calls", false, "time single calls, too: percentiles of each benchmark's loop (p50 to p99.9, worst)")
	set.IntVar(&t.building.Layouts, "layouts", usualLayouts, "with --against, --null or --plan: link each revision with its functions in `n` random orders, and in up to four times as many if there is a limit and these do not tell enough, so that what placement in memory does is part of the noise; 1 for the usual order alone")
	set.StringVar(&t.gate, "gate", "", "with --against: exit with 3 if one of these `metrics` is worse by more than its share, such as sec/op=5%,allocs/op=0,B/op=1%")
	set.StringVar(&t.falseAlarms, "false-alarms", "1%", "the chance that --max-regression or --gate fails a suite in which nothing exceeds its limit, as a `share`")
	set.BoolVar(&t.failFast, "fail-fast", false, "end as soon as the gate fails, so that other benchmarks are measured for less time")
	set.BoolVar(&t.null, "null", false, "compare the working tree with itself, to learn how often the gate is wrong here")
	set.BoolVar(&t.plans, "plan", false, "say how long the gate takes here to see a slowdown of --see, from a few pairs of each benchmark")
	set.BoolVar(&t.summary, "summary", false, "append the result to the job's summary of GitHub Actions (GITHUB_STEP_SUMMARY), and annotate what is slower")
	set.StringVar(&t.see, "see", "", "the slowdown that --plan and --null plan for, as a `share` (default: the limit of the time plus 5%, so 10% with --max-regression 5%)")
}

// check returns an error that says which flag is wrong, and what is allowed.
func (t *benchFlags) check(c *call) (err error) {
	t.plan = of(c.effort, gobench.QuickPlan, gobench.DefaultPlan, gobench.ThoroughPlan)
	t.plan.Seed, t.plan.FailFast = c.seed, t.failFast
	if _, err := regexp.Compile(t.bench); err != nil || t.bench == "" {
		return usagef("--bench: %q is no regular expression (go doc regexp/syntax): use . for all", t.bench)
	}
	if c.given("precision") {
		if t.plan.Precision, err = precisionOf(t.precision); err != nil {
			return err
		}
	}
	for _, pattern := range c.args {
		if strings.HasSuffix(pattern, "%") {
			return usagef("%q is not a package: give the share after its flag, such as --see 5%%", pattern)
		}
	}
	if info, err := os.Stat(t.directory); err != nil || !info.IsDir() {
		return usagef("-C: %q is no folder: give that of the module", t.directory)
	}
	if t.maxTime <= 0 {
		return usagef("--max-time: %v is too little: give more than 0, such as 30s", t.maxTime)
	}
	if c.given("max-time") {
		t.plan.MaxTime = t.maxTime
	}
	if t.timeout <= 0 {
		return usagef("--timeout: %v is too little: give more than 0, such as 5m", t.timeout)
	}
	if err := checkNice(t.nice); err != nil {
		return err
	}
	if n := t.building.Layouts; n != 1 && (n < fewestLayouts || n > gobench.MostLayouts) {
		return usagef("--layouts: %d orders can't be compared: give 1, or %d to %d, such as %d", n, fewestLayouts, gobench.MostLayouts, usualLayouts)
	}
	t.building.Seed = c.seed
	if err := t.checkProcs(); err != nil {
		return err
	}
	if t.summary && os.Getenv(stepSummary) == "" {
		return usagef("--summary: %s is not set, as GitHub Actions does: elsewhere give --export summary:FILE", stepSummary)
	}
	return t.checkGate(c)
}

// mostProcs is the largest value of GOMAXPROCS that may be set.
const mostProcs = 4096

func (t *benchFlags) checkProcs() error {
	if len(t.procs) == 0 {
		t.procs = []int{0}
		return nil
	}
	for i, n := range t.procs {
		if n < 1 || n > mostProcs || slices.Contains(t.procs[:i], n) {
			return usagef("--gomaxprocs: %d is no number from 1 to %d, or there twice: give a list such as 1,2,4", n, mostProcs)
		}
	}
	return nil
}

// onEachProcs returns a copy of each test for each value of GOMAXPROCS.
func (t *benchFlags) onEachProcs(tests []gobench.Benchmark) (all []gobench.Benchmark) {
	for _, test := range tests {
		for _, test.SetProcs = range t.procs {
			all = append(all, test)
		}
	}
	return all
}

// stepSummary is the environment variable with the file of a job's summary.
const stepSummary = "GITHUB_STEP_SUMMARY"

// summarise appends the result to the job's summary, and annotates the source.
func summarise(c *call, d record.Bench) error {
	f, err := os.OpenFile(os.Getenv(stepSummary), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("--summary: %w", err)
	}
	return errors.Join(render.BenchSummary(f, d), f.Close(), render.Annotations(c.streams.Err, d))
}

// checkGate checks the flags that say how the gate judges.
func (t *benchFlags) checkGate(c *call) (err error) {
	compares := t.against != "" || t.null || t.plans
	switch {
	case c.given("layouts") && !compares:
		return usagef("--layouts: there is nothing to compare with: give --against REVISION, --null or --plan too")
	case t.null && t.against != "":
		return usagef("--null and --against exclude one another: --null compares the working tree with itself")
	case c.given("max-regression") && !compares:
		return usagef("--max-regression: there is nothing to compare with: give --against REVISION too, or --null")
	}
	if !compares {
		t.building.Layouts = 1
	}
	gate, err := gateWith(t.gate, c.mostRegression)
	if err != nil {
		return err
	}
	if gate.FalseAlarms, err = parseShare(t.falseAlarms); err != nil || !(gate.FalseAlarms >= leastFalseAlarms && gate.FalseAlarms < 0.5) {
		return usagef("--false-alarms: invalid value %q: give a share of %g%% or more, and below 50%%, such as 1%%", t.falseAlarms, 100*leastFalseAlarms)
	}
	limits := c.given("max-regression") || t.gate != ""
	if limits && !compares {
		return usagef("--gate: there is nothing to compare with: give --against REVISION too, or --null")
	}
	if math.IsNaN(gate.Limit) && len(gate.Metrics) == 0 {
		gate.Limit = 0
	}
	if t.gate != "" { // each metric has its own limit
		c.mostRegression, c.gateFlag, c.regression = 0, "--gate", t.gate
	}
	if t.failFast && (!limits || t.plans || t.null) {
		return usagef("--fail-fast: no gate can fail: give --against with --max-regression or --gate, without --plan and --null")
	}
	t.seen = max(0, stats.FloatOf(gate.Limit).Or(0)) + 0.05
	switch {
	case t.plans && math.IsNaN(gate.Limit):
		return usagef("--plan: it plans for a slowdown, and the gate has no limit of the time: give one too, such as --gate sec/op=5%%,%s", t.gate)
	case c.given("see") && !t.plans && !t.null:
		return usagef("--see: it belongs to --plan and --null: give one of them too")
	case c.given("false-alarms") && !compares:
		return usagef("--false-alarms: there is nothing to compare with: give --against REVISION too, or --null")
	case c.given("see"):
		t.seen, err = parseShare(t.see)
	}
	isSeenUsed := t.null || t.plans // without them it may be out of bounds, as it follows from the limit
	if isSeenUsed && (err != nil || !(t.seen > stats.FloatOf(gate.Limit).Or(0) && t.seen < 10)) {
		limit := stats.FloatOf(gate.Limit).Or(0)
		return usagef("--see: invalid value %q: give a share above the limit of the time, %.4g%%, such as %.4g%%", t.see, 100*limit, 100*(limit+0.05))
	}
	if limits || t.null || t.plans || c.given("false-alarms") {
		t.plan = t.plan.WithGate(gate)
	}
	if t.plans {
		t.plan.MostRepetitions = max(pairsForPlan, 2*t.building.Layouts) // two in each order tell what the order does
	}
	return nil
}

// timeUnits are the names of the time among the metrics.
var timeUnits = []string{"sec/op", "ns/op", "time"}

// gateWith returns the gate with the limits of metrics in text: UNIT=SHARE, separated by commas. timeLimit is
// the limit of the time that another flag gave; NaN if none did.
func gateWith(text string, timeLimit float64) (*stats.Gate, error) {
	gate := &stats.Gate{Limit: timeLimit, Metrics: map[string]float64{}}
	if text == "" {
		return gate, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		unit, value, found := strings.Cut(strings.TrimSpace(part), "=")
		if !found || unit == "" {
			return nil, usagef("--gate: %q is no limit: give UNIT=SHARE, such as sec/op=5%%,allocs/op=0", part)
		}
		limit, err := allowedRegression("--gate "+unit, value)
		if err != nil || math.IsNaN(limit) {
			return nil, cmp.Or(err, error(usagef("--gate %s: a share is missing, such as %s=5%%", unit, unit)))
		}
		_, twice := gate.Metrics[unit]
		isTime := slices.Contains(timeUnits, unit)
		if twice || isTime && !math.IsNaN(gate.Limit) {
			return nil, usagef("--gate: %s has two limits: give it one", unit)
		}
		if isTime {
			gate.Limit = limit
		} else {
			gate.Metrics[unit] = limit
		}
	}
	return gate, nil
}

// The numbers of random orders in which each package of a revision is linked. Fewer than fewestLayouts tell too little of their
// scatter. With usualLayouts, a suite of one benchmark shows nearly as little as its pairs allow: with four it takes three times as
// many pairs.
const fewestLayouts, usualLayouts = 4, 8

// pairsForPlan is the number of pairs from which --plan learns how far the pairs of a benchmark scatter.
const pairsForPlan = 16

// leastFalseAlarms is the least rate of false alarms. At this rate a hundred pairs are needed to show anything.
const leastFalseAlarms = 1e-9

// measure compiles the benchmarks and measures them.
func (t *benchFlags) measure(ctx context.Context, c *call) (found, error) {
	c.measuresCodeIn(ctx, t.directory)
	e := benchExperiment{flags: t, call: c, patterns: c.args}
	if len(c.args) == 0 {
		e.patterns = []string{"."}
	}
	d, err := e.run(ctx)
	stopped := ctx.Err() != nil
	switch isMeasured := func(r gobench.Report) bool { return r.Estimate.N > 0 }; {
	case stopped:
	case err != nil && !slices.ContainsFunc(d.Results, isMeasured):
		return found{}, err
	case err != nil: // what was measured is kept
		d.Missing = append(d.Missing, record.BenchMissing{Why: err.Error()})
		c.caveat("the measurement ended early: %v", err)
	default:
		for _, m := range unreported(d.Pairs, t.gatedUnits()) {
			d.Missing = append(d.Missing, m)
			c.caveat("the limit of %s judges nothing: %s", m.Metric, m.Why)
		}
	}
	d.Header = c.finish(ctx)
	r := judgedBench(d, t.gatedUnits())
	if t.against != "" && len(d.Pairs) == 0 && math.IsNaN(c.mostRegression) { // with a limit the gate says so
		r.failed = cmp.Or(r.failed, fmt.Errorf("--against %s: no benchmark is in both revisions, so that nothing was compared: choose another revision, or leave --against out", t.against))
	}
	if !stopped {
		r.failed = errors.Join(err, r.failed)
	}
	if t.summary {
		c.bar.end()
		r.failed = errors.Join(r.failed, summarise(c, d))
	}
	return r, nil
}

// gatedUnits returns the units that have a limit, without that of the time.
func (t *benchFlags) gatedUnits() []string {
	if t.plan.Gate == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(t.plan.Gate.Metrics))
}

// judgedBench returns the document with the values that --require and --max-regression judge. units are those with a
// limit, besides that of the time.
func judgedBench(d record.Bench, units []string) found {
	r := found{document: d, verdicts: map[string]stats.Verdict{}, exports: render.Exports(d)}
	failed := 0
	for _, b := range d.Results {
		worst(r.verdicts, strings.TrimSpace(b.Package+"."+b.Name+" "+b.Revision), b.Verdict) // with --gomaxprocs two may have one name
		if b.Failed || b.Estimate.N == 0 {
			failed++
		}
	}
	if failed > 0 {
		r.failed = fmt.Errorf("%d of %d benchmarks could not be measured: each one has its reason above", failed, len(d.Results))
	}
	for _, m := range d.Missing {
		switch {
		case m.Package != "":
			where := ""
			if m.Revision != "" {
				where = " in " + m.Revision
			}
			r.failed = errors.Join(r.failed, fmt.Errorf("a package could not be measured%s: %s", where, m.Why))
		case m.Metric != "":
			r.rivals = append(r.rivals, unanswered(m.Metric+" is worse", m.Why))
		}
	}
	judged := gatedPairs(d.Pairs)
	if len(units) > 0 {
		judged = judgedPairs(d.Pairs)
	}
	for i, rival := range rivalsOf(judged) {
		if joint := judged[i].Joint; joint != nil {
			rival.why, rival.missing = joint.Why, joint.FarBeyond // what is far beyond the limit is not passed as undecided
		}
		r.rivals = append(r.rivals, rival)
	}
	return r
}

// unreported returns those of the units that no pair has, each with the reason.
func unreported(pairs []stats.Pair, units []string) (all []record.BenchMissing) {
	for _, unit := range units {
		if slices.ContainsFunc(pairs, func(p stats.Pair) bool { return p.Metric == unit }) {
			continue
		}
		why := "no benchmark is in both revisions"
		if known := unitsIn(pairs); len(known) > 0 {
			why = fmt.Sprintf("no benchmark reports %s in both revisions: give a unit that they report, such as %s", unit, strings.Join(known, ", "))
		}
		all = append(all, record.BenchMissing{Metric: unit, Why: why})
	}
	return all
}

// unitsIn returns the units of the pairs, each one time.
func unitsIn(pairs []stats.Pair) (units []string) {
	for _, p := range pairs {
		if unit := cmp.Or(p.Metric, timeUnits[0]); !slices.Contains(units, unit) {
			units = append(units, unit)
		}
	}
	return units
}

// judgedPairs returns the pairs that were judged as parts of a suite.
func judgedPairs(all []stats.Pair) []stats.Pair {
	return slices.DeleteFunc(slices.Clone(all), func(p stats.Pair) bool { return p.Side() == "" })
}

// gatedPairs returns the pairs that a gate judges: those that were judged as parts of a suite, or else the
// pairs of times.
func gatedPairs(all []stats.Pair) []stats.Pair {
	if judged := judgedPairs(all); len(judged) > 0 {
		return judged
	}
	return slices.DeleteFunc(slices.Clone(all), func(p stats.Pair) bool { return p.Metric != "" })
}
