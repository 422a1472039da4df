package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"chronoscope/bisect"
	"chronoscope/gobench"
	"chronoscope/program"
)

// builds measures commits against the good one. It implements [bisect.Measurer].
type builds struct {
	flags *bisectFlags
	*call
	history []gobench.Commit
	scratch string
	of      map[int]*built // by its place in the history
	spent   map[int]time.Duration
	perPair time.Duration // mean time of a pair in the last comparison; 0 before the first
	name    string        // of the benchmark
	pkg     string        // its import path
	compare func(ctx context.Context, good, commit *built, n int, most time.Duration) (pairs bisect.Pairs, inDuets bool, err error)
}

// built is a commit that was checked out and built.
type built struct {
	revision  *gobench.Revision
	benchmark gobench.Benchmark
	command   program.Command
	failed    error
	// compared says that it was compared with the good end, inDuets that this was in duets. Pairs of another kind scatter
	// in another way, and don't count.
	compared, inDuets bool
	// series are those of the benchmark and of that of the good end, and next is the number of their next pair.
	series [][]*gobench.Series
	next   int
	// arranged are the benchmarks of the good end and of this commit, linked with their functions in random orders. Those of
	// each commit are others: what a place in memory does would else be the same in all commits that have the same functions,
	// and look like a step at the first of these.
	arranged []gobench.Benchmark
}

// subject returns the name of what is measured.
func (b *builds) subject() string {
	if b.flags.bench == "" {
		return b.flags.command.name
	}
	return b.name
}

// open measures what the comparisons need to know about the machine, and sets compare, the function that compares
// two builds. release closes what open opened.
func (b *builds) open(ctx context.Context) (release func(), err error) {
	b.bar.show(0, "looking at the machine")
	if b.flags.bench == "" {
		setting, release, err := program.Here(ctx, program.Setting{CPUs: len(b.cpus), Nice: b.flags.nice, Reach: reachHere(b.header.Machine)})
		b.compare = func(ctx context.Context, good, commit *built, n int, most time.Duration) (bisect.Pairs, bool, error) {
			return b.comparePrograms(ctx, setting, good, commit, n, most)
		}
		return release, err
	}
	here, err := (&benchExperiment{call: b.call}).surroundings(ctx)
	if err != nil {
		return nil, err
	}
	p := here.processes(gobench.Processes{CPUs: b.cpus, Timeout: b.flags.timeout, Nice: b.flags.nice})
	b.compare = func(ctx context.Context, good, commit *built, n int, most time.Duration) (bisect.Pairs, bool, error) {
		return b.compareBenchmarks(ctx, p, here.settingNow(), good, commit, n, most)
	}
	return here.close, nil
}

// Compare implements [bisect.Measurer].
func (b *builds) Compare(ctx context.Context, commit, n int) (bisect.Pairs, error) {
	if err := b.buildAll(ctx, 0, commit); err != nil {
		return bisect.Pairs{}, err
	}
	good, other := b.of[0], b.of[commit]
	switch left := b.flags.maxTime - b.spent[commit]; {
	case good.failed != nil:
		return bisect.Pairs{}, fmt.Errorf("the good end can't be measured: %w", good.failed)
	case other.failed != nil:
		return bisect.Pairs{}, &bisect.SkipError{Why: other.failed}
	case left <= 0:
		return bisect.Pairs{}, nil
	default:
		if b.flags.bench != "" && other.arranged == nil {
			if err := b.arrange(ctx, good, other, commit); err != nil {
				return bisect.Pairs{}, err
			}
		}
		if b.perPair > 0 { // fewer pairs tell more than shorter ones
			n = max(1, min(n, int(left/b.perPair)))
		}
		started := time.Now()
		pairs, inDuets, err := b.compare(ctx, good, other, n, left)
		b.spent[commit] += time.Since(started)
		b.perPair = time.Since(started) / time.Duration(max(1, pairs.Len()))
		switch {
		case err != nil || pairs.Len() == 0:
		case !other.compared:
			other.compared, other.inDuets = true, inDuets
		case other.inDuets != inDuets:
			return bisect.Pairs{}, nil
		}
		return pairs, err
	}
}

// buildAll builds those commits that are not built yet, all at the same time. Nothing is measured meanwhile.
func (b *builds) buildAll(ctx context.Context, commits ...int) error {
	var all sync.WaitGroup
	for _, commit := range commits {
		if b.of[commit] != nil {
			continue
		}
		b.bar.show(searched(bisect.Result{}, len(b.history)), "building "+shortHash(b.history[commit].Hash))
		one := &built{}
		tree := filepath.Join(b.scratch, scratchTree+"-"+b.history[commit].Hash)
		if one.revision, one.failed = gobench.CheckOut(ctx, b.flags.directory, b.history[commit].Hash, tree); one.failed == nil {
			all.Go(func() {
				if err := b.build(ctx, one, commit); err != nil {
					one.failed = err
					if b.flags.bench != "" && !errors.Is(err, errNoBenchmark) {
						one.failed = one.revision.Explain(ctx, err)
					}
				}
			})
		}
		b.of[commit] = one
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if good := b.of[0]; good.failed == nil && b.name == "" { // the other commits must have the same benchmark
		b.name, b.pkg = good.benchmark.Name, good.benchmark.Package
		for _, commit := range commits {
			if one := b.of[commit]; one.failed == nil && !b.isSearched(one.benchmark, false) {
				one.failed = errNoBenchmark
			}
		}
	}
	return nil
}

// arrange links the good end and a commit with their functions in random orders.
func (b *builds) arrange(ctx context.Context, good, one *built, commit int) error {
	one.arranged = []gobench.Benchmark{good.benchmark, one.benchmark}
	b.bar.show(searched(bisect.Result{}, len(b.history)), "linking "+shortHash(b.history[commit].Hash))
	layouts := layoutsOfCommit
	if commit == len(b.history)-1 {
		layouts = layoutsOfEnd
	}
	for i := range one.arranged {
		one.arranged[i].Orders = one.arranged[i].Orders.Others(commit, layouts)
	}
	if err := gobench.Arrange(ctx, one.arranged); err != nil && ctx.Err() == nil {
		b.caveat("%s was compared in the usual order of functions only, and its ratio holds what their place in memory does: %v", shortHash(b.history[commit].Hash), err)
	}
	return ctx.Err()
}

// shortHash returns the beginning of a commit's hash.
func shortHash(hash string) string { return hash[:min(10, len(hash))] }

// build builds a commit in its worktree.
func (b *builds) build(ctx context.Context, one *built, commit int) (err error) {
	if b.flags.bench == "" {
		return b.buildProgram(ctx, one)
	}
	into := filepath.Join(b.scratch, strconv.Itoa(commit))
	if err := os.Mkdir(into, 0o700); err != nil {
		return err
	}
	patterns := b.args
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	compiled, err := gobench.Compile(ctx, one.revision.Dir, into, patterns, b.flags.building)
	if err != nil {
		return err
	}
	names, failed, err := b.benchmarks(ctx, compiled.Tests, commit)
	if err != nil {
		return err
	}
	for _, candidate := range names {
		if b.isSearched(candidate, len(names) == 1) {
			one.benchmark = candidate
			return nil
		}
	}
	switch {
	case len(compiled.Failed) > 0:
		return compiled.Failed[0]
	case len(failed) > 0:
		return failed[0]
	case len(names) > 1 && b.name == "":
		var all []string
		for _, n := range names {
			all = append(all, n.Package+"."+n.Name)
		}
		return fmt.Errorf("--bench %s matches %d benchmarks, one is searched for: choose one of %s", b.flags.bench, len(names), strings.Join(all, ", "))
	}
	return errNoBenchmark
}

// isSearched reports whether the search is for this benchmark: that of the good end, once that is known. Until then it is
// the benchmark with the name that was given, or the only match.
func (b *builds) isSearched(candidate gobench.Benchmark, only bool) bool {
	if b.name != "" {
		return candidate.Name == b.name && candidate.Package == b.pkg
	}
	return only || candidate.Name == b.flags.bench
}

// benchmarks returns the matching benchmarks of compiled tests, and those that fail.
func (b *builds) benchmarks(ctx context.Context, tests []gobench.Benchmark, commit int) (all []gobench.Benchmark, failed []*gobench.FailedError, err error) {
	p := gobench.Processes{CPUs: b.cpus, Timeout: b.flags.timeout}
	for _, test := range tests {
		test.Revision = b.history[commit].Hash
		found, err := p.Discover(ctx, test, b.flags.bench)
		if err != nil {
			return nil, nil, err
		}
		all, failed = append(all, found.Benchmarks...), append(failed, found.Failed...)
	}
	return all, failed, nil
}

// buildProgram runs the build command, and finds the program.
func (b *builds) buildProgram(ctx context.Context, one *built) error {
	flags := programFlags{dir: one.revision.Dir, isRevision: true, timeout: b.flags.timeout, commands: []template{b.flags.command}}
	if b.flags.build != "" {
		by, err := newTemplate(b.flags.build, usualShell)
		if err != nil {
			return err
		}
		if err := (&programExperiment{flags: &flags}).untimed(ctx, by); err != nil {
			return fmt.Errorf("--build %s: %w", b.flags.build, err)
		}
	}
	var err error
	one.command, err = flags.program(b.flags.command, nil, b.cpus)
	return err
}

// comparePrograms measures n pairs of runs of the two builds, for at most the given time.
func (b *builds) comparePrograms(ctx context.Context, setting program.Setting, good, commit *built, n int, most time.Duration) (pairs bisect.Pairs, inDuets bool, err error) {
	plan := program.DefaultPlan
	plan.Seed, plan.MinRuns, plan.MaxRuns, plan.MaxTime = b.seed+uint64(b.spentInAll()), n, n, most
	plan.ExactRuns, plan.Duets = true, program.OnlyDuets
	results, err := program.Measure(ctx, []program.Command{good.command, commit.command}, plan, setting, nil)
	if err != nil {
		return pairs, false, err
	}
	for _, r := range results {
		if r.Failure != nil {
			return pairs, false, b.skipOrFail(r == results[0], r.Failure)
		}
	}
	c := program.Compare(results[0], results[1], 0, b.seed)
	return bisect.Pairs{Pairs: c.Pairs()}, c.InDuets(), nil
}

// compareBenchmarks measures n more pairs of repetitions of the two builds, for at most the given time.
func (b *builds) compareBenchmarks(ctx context.Context, p gobench.Processes, setting gobench.Setting, good, commit *built, n int, most time.Duration) (pairs bisect.Pairs, inDuets bool, err error) {
	plan := gobench.DefaultPlan.WithGate(nil)
	plan.Seed, plan.MaxTime = b.seed+uint64(b.spentInAll()), most
	plan.PairsOnly, plan.MostRepetitions = true, n
	if commit.series == nil {
		commit.series, err = gobench.Measure(ctx, p, [][]gobench.Benchmark{commit.arranged}, plan, setting, nil)
	} else {
		err = gobench.Resume(ctx, p, commit.series, plan, setting, nil)
	}
	if err != nil {
		return pairs, false, err
	}
	var results []*gobench.Result
	for i, s := range commit.series[0] {
		if s.Failure != nil {
			return pairs, false, b.skipOrFail(i == 0, s.Failure)
		}
		results = append(results, gobench.Conclude(s, plan, setting))
	}
	c := gobench.Compare(results[0], results[1], 0, b.seed)
	pairs.Pairs, commit.next = c.PairsFrom(commit.next)
	pairs.Layouts, pairs.Scatter = c.Placement()
	return pairs, c.InDuets(), nil
}

// spentInAll returns the time that was measured so far. It makes the seeds of calls differ.
func (b *builds) spentInAll() (sum time.Duration) {
	for _, d := range b.spent {
		sum += d
	}
	return sum
}

// skipOrFail returns the error for a commit that fails while it is measured: the commit is skipped, unless it
// is the good end, without which nothing can be measured.
func (b *builds) skipOrFail(isGood bool, err error) error {
	if isGood {
		return fmt.Errorf("the good end can't be measured: %w", err)
	}
	return &bisect.SkipError{Why: err}
}

// remove removes all worktrees and builds.
func (b *builds) remove() {
	var left []error
	for _, one := range b.of {
		if one.revision != nil {
			left = append(left, one.revision.Remove())
			one.revision = nil
		}
	}
	if err := errors.Join(append(left, os.RemoveAll(b.scratch))...); err != nil {
		b.caveat("left behind: %v", err)
	}
}
