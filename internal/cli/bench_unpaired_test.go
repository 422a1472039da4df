package cli

import (
	"slices"
	"strings"
	"testing"

	"chronoscope/gobench"
	"chronoscope/record"
)

// A benchmark was called one that the base does not have, although its package did not compile there, or it failed there. A benchmark
// that the working tree lacks was not named if any other package was not measured. One that skips itself in both revisions was named twice.
func TestUnpairedBenchmarks(t *testing.T) {
	c := &call{header: &record.Header{}}
	e := benchExperiment{flags: &benchFlags{against: "HEAD"}, call: c}
	e.missing = []record.BenchMissing{{Package: "broken", Revision: "HEAD"}, {Package: "broke"}}
	in := func(revision, pkg, name string) gobench.Benchmark {
		return gobench.Benchmark{Package: pkg, Name: name, Revision: revision}
	}
	e.nameSkipped(in("", "p", ""), []string{"BenchmarkBoth"})
	e.nameSkipped(in("HEAD", "p", ""), []string{"BenchmarkBoth", "BenchmarkThen"})
	var now []gobench.Benchmark
	for _, b := range []string{"broken.BenchmarkA", "p.BenchmarkA", "p.BenchmarkNew", "p.BenchmarkFails/x", "p.BenchmarkThen"} {
		pkg, name, _ := strings.Cut(b, ".")
		now = append(now, in("", pkg, name))
	}
	then := map[identity]gobench.Benchmark{}
	for _, b := range []string{"broke.BenchmarkA", "p.BenchmarkA", "p.BenchmarkOld", "p.BenchmarkFailsNow", "gone.BenchmarkBoth"} {
		pkg, name, _ := strings.Cut(b, ".")
		then[identityOf(in("HEAD", pkg, name))] = in("HEAD", pkg, name)
	}
	e.nameUnpaired(now, then, []*gobench.FailedError{{Benchmark: in("HEAD", "p", "BenchmarkFails")}, {Benchmark: in("", "p", "BenchmarkFailsNow")}})
	want := []string{
		"p: skip themselves: BenchmarkBoth",
		"in HEAD: p: skip themselves: BenchmarkThen",
		"p.BenchmarkNew is not in HEAD: there is nothing to compare it with",
		"gone.BenchmarkBoth is in HEAD only: was it removed or renamed?",
		"p.BenchmarkOld is in HEAD only: was it removed or renamed?",
	}
	if !slices.Equal(c.header.Caveats, want) {
		t.Errorf("%q, want %q", c.header.Caveats, want)
	}
}
