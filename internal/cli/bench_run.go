package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"chronoscope/gobench"
	"chronoscope/internal/gitcommand"
	"chronoscope/record"
	"chronoscope/stats"
)

// benchExperiment is one measurement of benchmarks.
type benchExperiment struct {
	flags *benchFlags
	*call
	patterns []string

	missing []record.BenchMissing // packages whose benchmarks could not be found
	known   map[string]bool       // the packages with tests in the working tree
	skipped []gobench.Benchmark   // those that skip themselves
	undo    func() error          // removes the other revision
	// noWorkspace says that the other revision has no go.work.
	noWorkspace bool
}

// run measures. If ctx ends, it returns what was measured so far with the error.
func (e *benchExperiment) run(ctx context.Context) (d record.Bench, err error) {
	d = record.Bench{Results: []gobench.Report{}, Pairs: []stats.Pair{}}
	directory, owner, err := newScratch(ctx, e.flags.directory)
	if err != nil {
		return d, err
	}
	defer owner.Close()
	e.undo = func() error { return nil }
	defer func() {
		for _, left := range []error{e.undo(), os.RemoveAll(directory)} {
			if left != nil {
				e.caveat("left behind: %v", left)
			}
		}
	}()
	processes := gobench.Processes{CPUs: e.cpus, Timeout: e.flags.timeout, Nice: e.flags.nice}
	groups, failed, err := e.benchmarks(ctx, directory, processes)
	d.Missing = e.missing
	for _, f := range failed {
		d.Results = append(d.Results, gobench.NewReport(gobench.Conclude(&gobench.Series{Benchmark: f.Benchmark, Failure: f}, e.flags.plan, gobench.Setting{})))
	}
	if err != nil {
		return d, err
	}
	if nice := e.flags.nice; nice != 0 {
		e.caveat("the benchmarks ran with a niceness of %d", nice)
	}
	here, err := e.surroundings(ctx)
	if err != nil {
		return d, err
	}
	defer here.close()
	processes = here.processes(processes)
	all, err := gobench.Measure(ctx, processes, groups, e.flags.plan, here.setting, e.bar.show)
	if err == nil && e.flags.building.Calls {
		err = e.measureCalls(ctx, processes, all)
	}
	here.lookAgain()
	e.header.Machine.CoreHz = orNil(here.setting.CoreHz.Value)
	var comparisons []gobench.Comparison
	said := map[string]bool{}
	for _, group := range all {
		if b := group[0].Benchmark; group[0].NoMoreLayouts != nil && !said[b.Package] {
			said[b.Package] = true
			e.caveat("%s was compared in %d orders of functions only: linking more failed: %v", b.Package, len(b.Layouts), group[0].NoMoreLayouts)
		}
		if results := e.add(&d, group, here.setting); len(results) == 2 {
			comparisons = append(comparisons, gobench.CompareAll(results[0], results[1], e.flags.plan)...)
			for _, unit := range gobench.Unpaired(results[0], results[1], e.flags.plan) {
				e.caveat("%s.%s reports %s in one revision only: the limit of %s does not judge it", group[1].Benchmark.Package, group[1].Benchmark.Name, unit, unit)
			}
		}
	}
	if e.flags.null || e.flags.plans {
		d.Gate = gobench.NewGateReport(comparisons, e.flags.plan, e.flags.seen, e.flags.against == "")
	}
	gateFailed := false
	for _, j := range gobench.Judge(comparisons, e.flags.plan) {
		d.Pairs = append(d.Pairs, j.Pair())
		gateFailed = gateFailed || j.Side == stats.Beyond
	}
	if gateFailed && e.flags.failFast {
		e.caveat("with --fail-fast the measurement ends when the gate fails: other benchmarks may have been measured for less time")
	}
	if len(d.Results) > 0 {
		e.caveat("cycles are known of a benchmark that keeps one thread at a time busy, on a core whose rate is known; elsewhere they are null")
	}
	return d, err
}

// measureCalls times single calls of the benchmarks that were measured.
func (e *benchExperiment) measureCalls(ctx context.Context, processes gobench.Processes, all [][]*gobench.Series) error {
	for i, group := range all {
		for _, s := range group {
			e.bar.show(float64(i)/float64(len(all)), "single calls of "+s.Benchmark.Name)
			if err := s.MeasureCalls(ctx, processes, e.flags.plan); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds the results of a benchmark to d, one for each revision.
func (e *benchExperiment) add(d *record.Bench, group []*gobench.Series, setting gobench.Setting) (results []*gobench.Result) {
	for _, s := range group {
		r := gobench.Conclude(s, e.flags.plan, setting)
		results = append(results, r)
		if r.Rejected > 0 {
			e.caveat("%s.%s: %d of %d repetitions left out, the first because %s", r.Benchmark.Package, r.Benchmark.Name, r.Rejected, len(r.Repetitions), r.Rejections[0].Why)
		}
		d.Results = append(d.Results, gobench.NewReport(r))
	}
	return results
}

// benchmarks compiles and finds the benchmarks. Each is a group of its own, preceded by the same benchmark of
// the other revision.
func (e *benchExperiment) benchmarks(ctx context.Context, directory string, p gobench.Processes) (groups [][]gobench.Benchmark, failed []*gobench.FailedError, err error) {
	now, failed, err := e.find(ctx, p, e.flags.directory, filepath.Join(directory, "now"), "")
	if err != nil {
		return nil, failed, err
	}
	then := map[identity]gobench.Benchmark{}
	switch {
	case e.flags.against == "" && (e.flags.null || e.flags.plans):
		again, _, err := e.find(ctx, p, e.flags.directory, filepath.Join(directory, "again"), nullRevision)
		if err != nil {
			return nil, failed, err
		}
		for _, b := range again {
			then[identityOf(b)] = b
		}
	case e.flags.against != "":
		revision, err := e.checkOut(ctx)
		if err != nil {
			return nil, failed, fmt.Errorf("--against: %w", err)
		}
		old, oldFailed, err := e.find(ctx, p, revision.Dir, filepath.Join(directory, "then"), e.flags.against)
		failed = append(failed, oldFailed...)
		if err != nil {
			return nil, failed, fmt.Errorf("--against %s: %w", e.flags.against, revision.Explain(ctx, err))
		}
		for _, b := range old {
			then[identityOf(b)] = b
		}
	}
	said := map[string]bool{}
	for _, b := range now {
		group := []gobench.Benchmark{b}
		if old, ok := then[identityOf(b)]; ok {
			group = []gobench.Benchmark{old, b}
			e.bar.show(0, "linking the tests of "+b.Package)
			if err := gobench.Arrange(ctx, group); err != nil && !said[b.Package] {
				said[b.Package] = true
				if ctx.Err() != nil {
					return nil, failed, ctx.Err()
				}
				e.caveat("%s was measured with its functions in the usual order only, and an edit may look slower for its place in memory: %v", b.Package, err)
			}
		}
		groups = append(groups, group)
	}
	e.nameUnpaired(now, then, failed)
	if len(groups)+len(failed) == 0 && len(e.skipped) > 0 {
		var names []string
		for _, b := range e.skipped {
			names = append(names, b.Name)
		}
		return nil, nil, fmt.Errorf("all benchmarks of %s that match --bench %s skip themselves: %s", strings.Join(e.patterns, " "), e.flags.bench, strings.Join(names, ", "))
	}
	if len(groups)+len(failed) == 0 {
		return nil, nil, fmt.Errorf("no benchmark of %s matches --bench %s: go test -list Benchmark shows which there are", strings.Join(e.patterns, " "), e.flags.bench)
	}
	return groups, failed, nil
}

// checkOut checks out the other revision in a folder of its own within git's folder of the repository, which is usually on the
// file system of the working tree: the benchmarks of both find their files equally fast. e.undo removes it.
func (e *benchExperiment) checkOut(ctx context.Context) (*gobench.Revision, error) {
	parent, err := gobench.GitFolder(ctx, e.flags.directory)
	switch {
	case errors.Is(err, gobench.ErrNoGit):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%q is no revision of a git checkout around %s: %w", e.flags.against, e.flags.directory, err)
	}
	directory, owner, err := newScratchIn(ctx, parent, e.flags.directory)
	if err != nil {
		return nil, fmt.Errorf("a folder for %s: %w", e.flags.against, err)
	}
	e.undo = func() error { return errors.Join(os.RemoveAll(directory), owner.Close()) }
	revision, err := gobench.CheckOut(ctx, e.flags.directory, e.flags.against, filepath.Join(directory, scratchTree))
	if err != nil {
		return nil, err
	}
	removeFolder := e.undo
	e.undo = func() error { return errors.Join(revision.Remove(), removeFolder()) }
	if err := revision.HasModule(); err != nil {
		return nil, err
	}
	e.noWorkspace = revision.NoWorkspace
	if workspace := gobench.Workspace(ctx, e.flags.directory); workspace != "" && revision.NoWorkspace {
		e.caveat("%s has no go.work, and was compiled with the modules that its go.mod names, without those of %s", e.flags.against, workspace)
	}
	return revision, nil
}

// locate sets the files and lines at which benchmarks of a package of the working tree are declared.
func locate(ctx context.Context, all []gobench.Benchmark) {
	here, err := os.Getwd()
	if err != nil || len(all) == 0 || all[0].Revision != "" {
		return
	}
	folder := inRepository(ctx, here, all[0].Dir)
	for i := range all {
		file, line := gobench.Locate(all[i])
		if file == "" {
			continue
		}
		if relative, err := filepath.Rel(here, file); err == nil && filepath.IsLocal(relative) {
			all[i].File, all[i].Line = filepath.ToSlash(relative), line
		}
		if folder == "" {
			continue
		}
		if whole := path.Join(folder, filepath.Base(file)); whole != all[i].File {
			all[i].RepositoryFile, all[i].Line = whole, line
		}
	}
}

// inRepository returns a folder as seen from the top of the git repository around here, or of the one around the folder if the
// former does not contain it. It is empty if neither does.
func inRepository(ctx context.Context, here, folder string) string {
	below := func(place string) (prefix string, is bool) {
		out, err := gitcommand.New(ctx, place, "rev-parse", "--show-prefix").Output()
		return strings.TrimRight(string(out), "\r\n"), err == nil
	}
	if prefix, is := below(here); is {
		relative, err := filepath.Rel(here, folder)
		if within := path.Join(prefix, filepath.ToSlash(relative)); err == nil && filepath.IsLocal(within) {
			return within
		}
	}
	if prefix, is := below(folder); is {
		return path.Join(prefix, ".")
	}
	return ""
}

// nullRevision is the name of the working tree as a revision that is compared with itself.
const nullRevision = "itself"

// find compiles the packages that the patterns name in the folder dir, and finds their benchmarks.
func (e *benchExperiment) find(ctx context.Context, p gobench.Processes, dir, into, revision string) (all []gobench.Benchmark, failed []*gobench.FailedError, err error) {
	if err := os.Mkdir(into, 0o700); err != nil {
		return nil, nil, err
	}
	e.bar.show(0, "compiling")
	building := e.flags.building
	if revision == nullRevision { // as if an edit had changed the orders of functions
		building.Seed++
	}
	building.NoWorkspace = revision != "" && e.noWorkspace
	building.MayLack = revision != "" // benchmarks that only the working tree has are named later
	build, err := gobench.Compile(ctx, dir, into, e.patterns, building)
	if err != nil {
		return nil, nil, err
	}
	if revision == "" {
		e.known = map[string]bool{}
		for _, test := range build.Tests {
			e.known[test.Package] = true
		}
		for _, failed := range build.Failed {
			e.known[failed.Package] = true
		}
	}
	var broken error // the first one
	breaks := func(pkg string, err error) {
		again := slices.ContainsFunc(e.missing, func(m record.BenchMissing) bool { return m.Package == pkg && m.Revision == "" })
		if again && revision == nullRevision {
			return
		}
		e.caveat("%s%v", inRevision(revision), err)
		if !e.known[pkg] { // only the other revision has it
			return
		}
		broken = cmp.Or(broken, err)
		if missing := (record.BenchMissing{Package: pkg, Revision: revision, Why: err.Error()}); !slices.Contains(e.missing, missing) {
			e.missing = append(e.missing, missing) // once, not for each GOMAXPROCS
		}
	}
	for _, failed := range build.Failed {
		breaks(failed.Package, failed)
	}
	for _, test := range e.flags.onEachProcs(build.Tests) {
		e.bar.show(0, "looking for benchmarks in "+test.Package)
		test.Revision = revision
		found, err := p.Discover(ctx, test, e.flags.bench)
		failed = append(failed, found.Failed...)
		if ctx.Err() != nil {
			return all, failed, ctx.Err()
		}
		if err != nil {
			breaks(test.Package, err)
		}
		e.nameSkipped(test, found.Skipped)
		locate(ctx, found.Benchmarks)
		all = append(all, found.Benchmarks...)
	}
	if len(all)+len(failed) == 0 && broken != nil {
		return nil, nil, broken
	}
	return all, failed, nil
}
