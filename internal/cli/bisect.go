package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"chronoscope/bisect"
	"chronoscope/gobench"
	"chronoscope/record"
	"chronoscope/stats"
)

// bisectFlags are the flags of bisect.
type bisectFlags struct {
	bench, build, good, bad string
	directory               string
	limit, wrong            string
	maxTime, timeout        time.Duration
	nice                    int
	mostBuilds              int
	faster, allParents      bool
	building                gobench.Building
	command                 template // empty for a benchmark
	plan                    bisect.Plan
}

// newBisect returns the command that finds the commit that made something slower.
func newBisect() *command {
	t := &bisectFlags{}
	return &command{Command: &cobra.Command{
		Use:   "bisect --good REVISION [--bad REVISION] --bench REGEXP [PACKAGE], or bisect --good REVISION [--build CMD] -- CMD [ARG ...]",
		Short: "Find the commit that made a benchmark or a program slower",
		Long: `Looks for the commit between --good and --bad that made a Go benchmark slower, or a
program that --build builds: each step checks a commit out (in a temporary worktree), builds
it, and measures it against the good end in pairs, as long as it takes to tell on which side
of the change it is. A binary search asks each commit once, and one wrong answer leads it
astray. Here each answer has an error, which counts, and what contradicts the rest is asked
again beside it. The answer is wrong one time in 50 at most (--error).

First the two ends are compared. Where they differ by less than --limit there is nothing to
look for. Several changes in one range are all reported, with what each of them did.
Commits that don't build, or in which the benchmark fails or is missing, are gone round; the
answer is a range of commits where the change is among them.

A merge is one step, which is followed further with --all-parents. CMD and --build run in the
folder of the commit; --build runs by a shell.

The exit status is 0 where commits are found, or the bad end is not slower, and 1 where it
can't be told which commit it was. Then, and after an interruption, what is still possible is
written.`,
		Example: `  chronoscope bisect --bench BenchmarkDecode --good v1.2 ./json
  chronoscope bisect --bench BenchmarkDecode --good v1.2 --bad v1.4 --html bisect.html ./json
  chronoscope bisect --good v1.2 --build 'make' -- ./prog --fast
  chronoscope bisect --good v1.2 --faster --bench BenchmarkDecode ./json    what made it faster?
  chronoscope bisect --good v1.2 --bench BenchmarkDecode --format json | jq '.steps[].commits'`,
		Args: cobra.ArbitraryArgs,
	}, flags: t.register, check: t.check, measure: t.measure,
		refused: map[string]string{"require": "it has no verdicts: its outcome is in the exit status"},
	}
}

func (t *bisectFlags) register(set *pflag.FlagSet, _ *flags) {
	set.StringVar(&t.bench, "bench", "", "`regexp` that one benchmark's name matches, as go test -bench takes it")
	set.StringVar(&t.good, "good", "", "the `revision` that is fast")
	set.StringVar(&t.bad, "bad", "HEAD", "the `revision` that is slow")
	set.StringVar(&t.build, "build", "", "build a commit's program by this `command` of a shell, in the commit's folder")
	set.StringVarP(&t.directory, "directory", "C", ".", "search the history of the checkout in this `folder`")
	set.StringVar(&t.limit, "limit", "1%", "the least slowdown of the bad end that is looked for, as a `share`")
	set.StringVar(&t.wrong, "error", "2%", "the chance of a wrong answer, as a `share`")
	set.DurationVar(&t.maxTime, "max-time", 2*time.Minute, "how long a commit may be measured (--quick: 20s, --thorough: 10m)")
	set.DurationVar(&t.timeout, "timeout", 5*time.Minute, "end a process of the benchmark, or a run, that takes longer")
	set.IntVar(&t.nice, "nice", 0, "run what is measured with this niceness, from -20, for root, to 19, in sessions of its own")
	set.IntVar(&t.mostBuilds, "max-builds", 0, "how many `commits` are built at most (default: what a search of this length takes, and 6 more, for each change)")
	set.BoolVar(&t.faster, "faster", false, "look for what made it faster")
	set.BoolVar(&t.allParents, "all-parents", false, "search the commits of merged branches too, not merges as a whole")
	set.StringVar(&t.building.Tags, "tags", "", "build `tags`, as of go build")
	set.StringVar(&t.building.LDFlags, "ldflags", "", "`flags` for the linker, as of go build")
	set.BoolVar(&t.building.Race, "race", false, "build with the race detector, as go build -race does")
}

// layoutsOfCommit is the number of random orders of functions in which each commit is linked, together with the good end, so
// that a commit that only moves code matters less. The bad end has more: whether there is anything to look for depends on it
// alone.
const layoutsOfCommit, layoutsOfEnd = 4, 16

// check returns an error that says which flag is wrong, and what is allowed.
func (t *bisectFlags) check(c *call) (err error) {
	t.plan, t.building.Layouts = bisect.DefaultPlan, layoutsOfCommit
	t.plan.Faster, t.plan.MostBuilds = t.faster, t.mostBuilds
	dash := c.cmd.ArgsLenAtDash()
	isProgram := dash >= 0 && dash < len(c.args)
	switch {
	case t.good == "":
		return usagef("--good: give the revision that is fast, such as --good v1.2")
	case isProgram && t.bench != "":
		return usagef("--bench and a command after -- exclude one another: give one of them")
	case !isProgram && t.bench == "":
		return usagef("there is nothing to measure: give --bench REGEXP, or a command after --, such as chronoscope bisect --good v1.2 --build make -- ./prog")
	case isProgram && dash > 0:
		return usagef("%q before --: packages belong to --bench; give the command's words after --", c.args[:dash])
	case !isProgram && t.build != "":
		return usagef("--build: it builds the program that follows --, and Go benchmarks are built by themselves: leave it out")
	case t.maxTime <= 0 || t.timeout <= 0:
		return usagef("--max-time, --timeout: give more than 0, such as 2m")
	case t.mostBuilds < 0 || c.given("max-builds") && t.mostBuilds < 2:
		return usagef("--max-builds: %d commits are too few: give 2 or more", t.mostBuilds)
	}
	if err := checkNice(t.nice); err != nil {
		return err
	}
	if _, err := regexp.Compile(t.bench); err != nil {
		return usagef("--bench: %q is no regular expression (go doc regexp/syntax)", t.bench)
	}
	if info, err := os.Stat(t.directory); err != nil || !info.IsDir() {
		return usagef("-C: %q is no folder: give that of the checkout", t.directory)
	}
	if t.plan.Limit, err = parseShare(t.limit); err != nil || !(t.plan.Limit >= 0 && t.plan.Limit < 10) {
		return usagef("--limit: invalid value %q: give a share of 0 or more, such as 1%%", t.limit)
	}
	if t.plan.Error, err = parseShare(t.wrong); err != nil || !(t.plan.Error >= 1e-6 && t.plan.Error <= 0.2) {
		return usagef("--error: invalid value %q: give a share from 0.0001%% to 20%%, such as 2%%", t.wrong)
	}
	if !c.given("max-time") {
		t.maxTime = of(c.effort, 20*time.Second, t.maxTime, 10*time.Minute)
	}
	if isProgram {
		t.command = template{name: joinWords(c.args[dash:]), words: c.args[dash:]}
	}
	return nil
}

// measure searches for the commit.
func (t *bisectFlags) measure(ctx context.Context, c *call) (found, error) {
	history, err := gobench.History(ctx, t.directory, t.good, t.bad, t.allParents)
	if err != nil {
		return found{}, err
	}
	scratch, owner, err := newScratch(ctx, t.directory)
	if err != nil {
		return found{}, err
	}
	defer owner.Close()
	b := &builds{flags: t, call: c, history: history, scratch: scratch, of: map[int]*built{}, spent: map[int]time.Duration{}}
	defer b.remove()
	release, err := b.open(ctx)
	if err != nil {
		return found{}, err
	}
	defer release()
	t.plan.Progress = func(r bisect.Result) { c.bar.show(searched(r, len(history)), stillPossible(r)) }
	result, err := bisect.Search(ctx, b, len(history)-1, t.plan)
	if err != nil && ctx.Err() == nil && !stats.IsFinite(result.Change.Value) {
		return found{}, err // before the two ends were compared
	}
	d := record.NewBisect(result, history)
	d.Subject, d.Good, d.Bad = b.subject(), t.good, t.bad
	b.remove() // what it can't remove is told in the document
	d.Header = c.finish(ctx)
	r := found{document: d}
	switch {
	case err != nil:
		r.failed = fmt.Errorf("which commit it was can't be told: %w", err)
	case result.Outcome == bisect.CantTell:
		advice := ": give more time (--max-time), or more builds (--max-builds)"
		if result.Placed {
			advice = ": only a larger difference could be told (--limit)"
		}
		r.failed = fmt.Errorf("which commit it was can't be told: %s%s", result.Why, advice)
	}
	return r, nil
}

// searched returns the share of the halvings that are done.
func searched(r bisect.Result, commits int) float64 {
	least := commits
	for _, s := range r.Steps {
		least = min(least, s.Last-s.First+1)
	}
	return 1 - math.Log2(float64(least))/math.Max(1, math.Log2(float64(commits)))
}

// stillPossible says how many commits are still possible, for the progress line.
func stillPossible(r bisect.Result) string {
	if len(r.Steps) == 0 {
		return fmt.Sprintf("comparing, %d built", r.Builds)
	}
	possible := 0
	for _, s := range r.Steps {
		possible += s.Last - s.First + 1
	}
	return fmt.Sprintf("%d commits possible, %d built", possible, r.Builds)
}

// errNoBenchmark says that a commit lacks what is measured.
var errNoBenchmark = errors.New("it does not have the benchmark")
