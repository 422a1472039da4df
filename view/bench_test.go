package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
)

// Lines of go test -cpu 1,2 and results of bench --gomaxprocs 1,2 name the same benchmarks.
func TestBenchmarkNamesWithProcs(t *testing.T) {
	names := func(results ...gobench.Report) (all []string) {
		for _, f := range benchFigures(record.Bench{Results: results}) {
			all = append(all, f.Name)
		}
		return slices.Compact(all)
	}
	result := func(name string, set, procs int) gobench.Report {
		e := stats.Estimate{Value: 10, Lo: 9, Hi: 11, Unit: "ns", N: 6}
		return gobench.Report{Benchmark: gobench.Benchmark{Name: name, SetProcs: set}, Summary: gobench.Summary{Estimate: e, Procs: procs}}
	}
	lines := names(result("BenchmarkX", 0, 1), result("BenchmarkX", 0, 2))
	ours := names(result("BenchmarkX", 1, 1), result("BenchmarkX-2", 2, 2))
	if want := []string{"X", "X-2"}; !slices.Equal(lines, want) || !slices.Equal(ours, want) {
		t.Errorf("%q and %q, want %q", lines, ours, want)
	}
	if got := names(result("BenchmarkX", 0, 2)); !slices.Equal(got, []string{"X"}) {
		t.Errorf("%q, want X, since GOMAXPROCS differs between machines", got)
	}
}

// The comparison says which ratios come from duets. Pairs of other metrics don't count.
func TestDuetsAreTold(t *testing.T) {
	ratio := stats.Estimate{Value: 1, Lo: 0.9, Hi: 1.1, N: 9}
	all := []stats.Pair{{A: "X at main", B: "X", Ratio: ratio, Duets: true}, {A: "X at main", B: "X", Metric: "B/op", Ratio: ratio, Duets: true}, {A: "Y at main", B: "Y", Ratio: ratio}}
	notes := pairs(all, nil).Notes
	if len(notes) != 1 || !strings.HasPrefix(notes[0].Text, "1 of 2 ratios of times are from duets") {
		t.Errorf("%+v", notes)
	}
	if notes := pairs(all[2:], nil).Notes; len(notes) > 0 {
		t.Errorf("without duets: %+v", notes)
	}
}

// A ratio that allows for shared cores or cold caches stands beside that on the machine as it was.
func TestRatioAsMeasured(t *testing.T) {
	wide, narrow := stats.Estimate{Value: 3, Lo: 2, Hi: 4, N: 9}, stats.Estimate{Value: 3, Lo: 2.9, Hi: 3.1, N: 9}
	notes := pairs([]stats.Pair{{A: "X", B: "Y", Ratio: wide, AsMeasured: &narrow}, {A: "X", B: "Z", Ratio: wide}}, nil).Notes
	if len(notes) != 1 || !strings.Contains(notes[0].Text, "as it was, Y takes 3.000 times as long as X (95 % interval 2.900 to 3.100)") {
		t.Errorf("%+v", notes)
	}
}

// Reasons named benchmarks of one name in several packages alike.
func TestReasonsOfBenchmarksOfOneName(t *testing.T) {
	var d record.Bench
	for _, pkg := range []string{"example.com/a", "example.com/b"} {
		d.Results = append(d.Results, gobench.Report{
			Benchmark: gobench.Benchmark{Name: "BenchmarkF", Package: pkg}, Summary: gobench.Summary{Estimate: stats.NoEstimate("ns", "median")},
			Judgement: stats.Judgement{Verdict: stats.Unusable, Reasons: []string{"of " + pkg}},
		})
	}
	d.Header.Machine = &machine.Machine{}
	said := ""
	for _, s := range bench(d).Sections {
		for _, l := range s.Lines {
			said += fmt.Sprintln(l)
		}
	}
	if !strings.Contains(said, "example.com/a.F") || !strings.Contains(said, "example.com/b.F") {
		t.Error(said)
	}
}
