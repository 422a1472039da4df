package cli

import (
	"maps"
	"slices"
	"strings"

	"chronoscope/gobench"
)

// identity tells the benchmarks of one revision apart. Names do not: with --gomaxprocs, BenchmarkX/a-2 may be BenchmarkX/a
// with a GOMAXPROCS of 2, or BenchmarkX/a-2 with one of 1.
type identity struct {
	pkg, name string
	procs     int
}

func identityOf(b gobench.Benchmark) identity { return identity{b.Package, b.Name, b.SetProcs} }

// inRevision begins a caveat about another revision than the working tree.
func inRevision(revision string) string {
	if revision == "" || revision == nullRevision {
		return ""
	}
	return "in " + revision + ": "
}

// nameSkipped names the benchmarks of a compiled test that skip themselves. Those that also do in the working tree are named once.
func (e *benchExperiment) nameSkipped(test gobench.Benchmark, names []string) {
	var others []string
	for _, name := range names {
		isNamed := slices.ContainsFunc(e.skipped, func(b gobench.Benchmark) bool { return b.Package == test.Package && b.Name == name })
		b := test
		b.Name = name
		if e.skipped = append(e.skipped, b); !isNamed {
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		e.caveat("%s%s: skip themselves: %s", inRevision(test.Revision), test.Package, strings.Join(others, ", "))
	}
}

// nameUnpaired names the benchmarks that only one of the two revisions has. A benchmark may also be in a revision in which it was
// not found: why its package, itself, or one that it is a part of was not measured there is said already.
func (e *benchExperiment) nameUnpaired(now []gobench.Benchmark, then map[identity]gobench.Benchmark, failed []*gobench.FailedError) {
	if e.flags.against == "" {
		return
	}
	unmeasured := slices.Clone(e.skipped)
	for _, f := range failed {
		unmeasured = append(unmeasured, f.Benchmark)
	}
	mayHave := func(revision string, b gobench.Benchmark) bool {
		for _, m := range e.missing {
			if m.Package == b.Package && m.Revision == revision {
				return true
			}
		}
		return slices.ContainsFunc(unmeasured, func(u gobench.Benchmark) bool {
			return u.Package == b.Package && u.Revision == revision && (u.Name == b.Name || strings.HasPrefix(b.Name, u.Name+"/"))
		})
	}
	here := map[identity]bool{}
	for _, b := range now {
		here[identityOf(b)] = true
		if _, is := then[identityOf(b)]; !is && !mayHave(e.flags.against, b) {
			e.caveat("%s.%s is not in %s: there is nothing to compare it with", b.Package, b.Name, e.flags.against)
		}
	}
	only := map[string]bool{}
	for id, b := range then {
		if !here[id] && !mayHave("", b) {
			only[b.Package+"."+b.Name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(only)) {
		e.caveat("%s is in %s only: was it removed or renamed?", name, e.flags.against)
	}
}
