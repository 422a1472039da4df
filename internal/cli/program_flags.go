package cli

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"chronoscope/program"
	"chronoscope/stats"
)

// check returns an error that says which flag or argument is wrong, and what is allowed.
func (t *programFlags) check(c *call) error {
	for _, check := range []func(*call) error{t.checkShown, t.checkUnheeded, t.checkMetrics, t.checkSubject, t.checkAmounts, t.checkPlaces} {
		if err := check(c); err != nil {
			return err
		}
	}
	if slices.Contains([]string{"null", "pipe", "inherit"}, c.output) {
		return usagef("--output: it is the file of this report: --program-output %s says where the program's output goes (for a file called %[1]s, give ./%[1]s)", c.output)
	}
	return t.choosePlan(c)
}

// checkUnheeded refuses flags that have no effect on one run, or on a process that is only watched.
func (t *programFlags) checkUnheeded(c *call) error {
	if t.once {
		if flag := c.firstGiven(ofSeveralRuns); flag != "" {
			return usagef("--%s has no effect on a single run: leave it out, or leave out --once", flag)
		}
	}
	if c.given("pid") {
		switch flag := c.firstGiven(slices.Concat(ofSeveralRuns, ofCommands)); flag {
		case "":
		case "max-time":
			return usagef("--max-time: give --duration, which says how long to watch a process")
		default:
			return usagef("--%s: it belongs to a command: leave out --pid", flag)
		}
	}
	return nil
}

// ofSeveralRuns are the flags that have no effect on a single run (--once). They and ofCommands have none if a running process
// is watched (--pid).
var (
	ofSeveralRuns = []string{"precision", "min-runs", "max-runs", "runs", "max-time", "warmup", "gate", "max-regression", "duets", "undecided"}
	ofCommands    = []string{
		"reference", "reference-name", "command-name", "setup", "cleanup", "prepare", "conclude", "param", "metric", "cpu", "nice",
		"input", "program-output", "show-output", "dir", "env", "shell", "shell-name", "no-shell", "timeout", "ignore-failure",
	}
)

// firstGiven returns the first of some flags that is given; empty if none is.
func (c *call) firstGiven(flags []string) string {
	if i := slices.IndexFunc(flags, c.given); i >= 0 {
		return flags[i]
	}
	return ""
}

// checkSubject finds out from the flags and arguments what to measure.
func (t *programFlags) checkSubject(c *call) (err error) {
	changed, args := c.given, c.args
	if t.posix && !t.once {
		return usagef("-p: it is the form of --once, as of time -p: give that too, or --prepare for a command before each run")
	}
	if t.shell, err = t.chooseShell(c); err != nil {
		return err
	}
	if t.commands, err = templates(args, c.cmd.ArgsLenAtDash(), t.shell); err != nil {
		return usagef("%v", err)
	}
	if t.given, err = parseParameters(t.parameters); err != nil {
		return usagef("--param: %v", err)
	}
	watches := changed("pid")
	switch {
	case watches && t.pid < 1:
		return usagef("--pid: %d is no process: give a number of 1 or more", t.pid)
	case watches && (len(args) > 0 || t.once):
		return usagef("--pid: a process that runs already and a command exclude one another: give one of them")
	case !watches && len(t.commands) == 0:
		return usagef("there is no command to measure: give one after --, such as chronoscope run -- sleep 0.1, or command lines in quotes")
	case changed("duration") && !watches:
		return usagef("--duration: it says how long to watch the process of --pid: give --pid too")
	case t.duration <= 0:
		return usagef("--duration: %v is too little: give more than 0, such as 5s", t.duration)
	case t.once && t.reference != "":
		return usagef("--once: one run is compared with nothing: leave out --reference")
	case t.once && len(t.commands) > 1:
		return usagef("--once: %d commands: give one, in quotes or after --", len(t.commands))
	case t.once && len(t.given) > 0:
		return usagef("--once: a parameter takes several runs: leave out --param or --once")
	}
	if t.reference != "" {
		first, err := newTemplate(t.reference, t.shell)
		if err != nil {
			return usagef("--reference: %v", err)
		}
		t.commands = append([]template{first}, t.commands...)
	}
	if err := t.nameCommands(); err != nil {
		return err
	}
	for flag, given := range map[string][]string{"--prepare": t.prepare, "--conclude": t.conclude} {
		if n := len(given); n > 1 && n != len(t.commands) {
			return usagef("%s: it is given %d times for %d commands: give it once for all of them, or once for each, in their order", flag, n, len(t.commands))
		}
	}
	for _, flag := range []string{"max-regression", "gate"} {
		if changed(flag) && len(t.commands) < 2 && len(t.given) == 0 {
			return usagef("--%s: there is nothing to compare: give two commands; the first sets the limit", flag)
		}
	}
	if err := t.checkParameters(); err != nil {
		return err
	}
	if n := t.combinations(); t.duets && n != 2 {
		return usagef("--duets: give two commands, which run at the same time, not %d", n)
	}
	_, err = t.onlyOnce("--setup", t.setup)
	_, also := t.onlyOnce("--cleanup", t.cleanup)
	return cmp.Or(err, also)
}

// checkParameters returns an error for parameters that no command uses, and for too many values.
func (t *programFlags) checkParameters() error {
	var all strings.Builder
	for i, c := range t.commands {
		all.WriteString(c.text() + t.besides(i))
	}
	for _, p := range t.given {
		if !strings.Contains(all.String(), "{"+p.name+"}") {
			return usagef("--param: %s stands in no command: write {%[1]s} where its values belong", p.name)
		}
	}
	if t.combinations() > mostCommands {
		return usagef("--param: more than %d commands would be measured: give fewer values", mostCommands)
	}
	return nil
}

// combinations returns the number of commands that the parameters make of the given commands.
func (t *programFlags) combinations() (total int) {
	for i, c := range t.commands {
		total += count(named(t.given, c.text()+t.besides(i)))
	}
	return total
}

func (t *programFlags) checkAmounts(c *call) error {
	for _, amount := range []struct {
		flag        string
		value, most int
		least       int
	}{{"min-runs", t.minRuns, mostRuns, 1}, {"max-runs", t.maxRuns, mostRuns, 1}, {"warmup", t.warmup, mostRuns, 0}} {
		if amount.value < amount.least || amount.value > amount.most {
			return usagef("--%s: %d runs can't be made: give %d to %d", amount.flag, amount.value, amount.least, amount.most)
		}
	}
	changed := c.given
	switch {
	case changed("runs") && (changed("min-runs") || changed("max-runs")):
		return usagef("--runs: it is the exact number of runs: leave out --min-runs and --max-runs")
	case changed("runs") && t.runs == 1:
		return usagef("--runs: a run that is traced comes before those that count, so that the command would run twice: give --once to run it one time, or 2 runs or more")
	case changed("runs") && (t.runs < 1 || t.runs > mostRuns):
		return usagef("--runs: %d runs can't be made: give 2 to %d", t.runs, mostRuns)
	case t.maxRuns == 1:
		return usagef("--max-runs: a run that is traced comes before those that count, so that the command would run twice: give --once to run it one time, or 2 runs or more")
	case changed("min-runs") && changed("max-runs") && t.minRuns > t.maxRuns:
		return usagef("--max-runs: %d is less than --min-runs: give %d or more", t.maxRuns, t.minRuns)
	case t.maxTime <= 0:
		return usagef("--max-time: %v is too little: give more than 0, such as 30s", t.maxTime)
	case t.timeout < 0 || changed("timeout") && t.timeout == 0:
		return usagef("--timeout: %v is too little: give more than 0, such as 10s", t.timeout)
	}
	return checkNice(t.nice)
}

// checkNice returns an error if there is no such niceness.
func checkNice(nice int) error {
	if nice < -20 || nice > 19 {
		return usagef("--nice: %d is no niceness: give -20 (before others) to 19 (behind them)", nice)
	}
	return nil
}

// mostTimeOfRuns is the time limit of a fixed number of runs: practically none.
const mostTimeOfRuns = 1000 * time.Hour

// mostRuns is the largest number of runs: what is noted of them has to fit into memory.
const mostRuns = 1_000_000

// checkPlaces returns an error, before a long measurement, if something can't be read or written.
func (t *programFlags) checkPlaces(*call) error {
	if t.showOutput {
		if t.output != "" && t.output != "inherit" {
			return usagef("--show-output and --program-output %s exclude one another: give one of them", t.output)
		}
		t.output = "inherit"
	}
	for _, variable := range t.env {
		if name, _, ok := strings.Cut(variable, "="); !ok || name == "" {
			return usagef("--env: %q sets nothing: give NAME=VALUE", variable)
		}
	}
	if t.dir != "" {
		if info, err := os.Stat(t.dir); err != nil {
			return fmt.Errorf("--dir: %w: choose a directory that is there", err)
		} else if !info.IsDir() {
			return fmt.Errorf("--dir: %s is no directory: choose another place", t.dir)
		}
	}
	return nil
}

// choosePlan sets the plan to that of --quick or --thorough, with the changes that other flags make.
func (t *programFlags) choosePlan(c *call) (err error) {
	t.plan = of(c.effort, program.QuickPlan, program.DefaultPlan, program.ThoroughPlan)
	changed := c.given
	if changed("precision") {
		if t.plan.Precision, err = precisionOf(t.precision); err != nil {
			return err
		}
	}
	if changed("runs") {
		t.plan.MinRuns, t.plan.MaxRuns, t.plan.ExactRuns = t.runs, t.runs, true
		if !changed("max-time") {
			t.plan.MaxTime = mostTimeOfRuns
		}
	}
	if !math.IsNaN(c.mostRegression) && !changed("runs") { // with fewer pairs of runs no regression can be shown
		pairs := len(t.pairs())
		needed := stats.PairsForJoint(pairs * (1 + len(t.metrics)))
		if t.gate != nil {
			needed = t.gate.LooksFor(pairs).First
		}
		t.plan.MinRuns = max(t.plan.MinRuns, needed)
	}
	if changed("min-runs") {
		t.plan.MinRuns = t.minRuns
		t.plan.MaxRuns = max(t.plan.MaxRuns, t.minRuns)
	}
	if changed("max-runs") {
		t.plan.MaxRuns = t.maxRuns
		t.plan.MinRuns = min(t.plan.MinRuns, t.maxRuns)
	}
	if changed("max-time") {
		t.plan.MaxTime = t.maxTime
	}
	if t.duets {
		t.plan.Duets = program.AlsoDuets
	}
	t.plan.Warmup, t.plan.Seed = t.warmup, c.seed
	t.plan.IgnoreFailure, t.plan.IgnoredCodes = t.ignored.any, t.ignored.codes
	return nil
}
