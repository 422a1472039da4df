package cli

import (
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/render"
	"chronoscope/stats"
)

// A regression beyond what is allowed ends with 3, what can't be told with 1 where it
// was asked for; chance and what is allowed end well.
func TestRegressionEndsWithThree(t *testing.T) {
	nan := math.NaN()
	pair := func(outcome stats.Outcome, value, lo, hi float64) stats.Pair {
		return pairOf(outcome, value, lo, hi)
	}
	slower, faster := pair(stats.Slower, 1.6, 1.5, 1.7), pair(stats.Faster, 0.5, 0.4, 0.6)
	undecided, unknown := pair(stats.Undecided, 1.02, 0.9, 1.2), pair(stats.Undecided, nan, nan, nan)
	broken := []record.BenchMissing{{Package: "p", Why: "it does not compile"}}
	for _, c := range []struct {
		pairs   []stats.Pair
		missing []record.BenchMissing
		allowed float64
		want    int
	}{
		{[]stats.Pair{slower}, nil, 0.4, 3},
		{[]stats.Pair{slower}, nil, 0.55, 1}, // slower, and by how much can't be told
		{[]stats.Pair{slower}, nil, 2, 0},
		{[]stats.Pair{undecided}, nil, 0.5, 0},
		{[]stats.Pair{undecided}, nil, 0.05, 1}, // a gate that can't know doesn't open
		{[]stats.Pair{unknown}, nil, 0.5, 1},
		{[]stats.Pair{unknown}, nil, nan, 0},
		{[]stats.Pair{faster}, nil, 0, 0},
		{nil, nil, 0.5, 1},
		{nil, nil, nan, 0},
		{[]stats.Pair{faster}, broken, 0.5, 1},
		{[]stats.Pair{faster}, broken, nan, 1},       // as of go test
		{[]stats.Pair{unknown, slower}, nil, 0.4, 3}, // what can't be told hides no regression
		{[]stats.Pair{slower}, broken, 0.4, 3},
	} {
		set := settings{regression: "some", mostRegression: c.allowed}
		if got := ExitStatus(set.outcome(judgedBench(record.Bench{Pairs: c.pairs, Missing: c.missing}, nil))); got != c.want {
			t.Errorf("%+v, missing: %v, %v allowed: exit status %d, want %d", c.pairs, c.missing, c.allowed, got, c.want)
		}
	}
}

// Each metric has its own limit; what can't be read is refused with what is meant.
func TestLimitsOfMetrics(t *testing.T) {
	nan := math.NaN()
	gate, err := gateWith("sec/op=5%, allocs/op=0,B/op=1%", nan)
	if err != nil || gate.Limit != 0.05 || len(gate.Metrics) != 2 || gate.Metrics["allocs/op"] != 0 || gate.Metrics["B/op"] != 0.01 {
		t.Errorf("%+v: %v", gate, err)
	}
	if gate, err := gateWith("allocs/op=0", nan); err != nil || !math.IsNaN(gate.Limit) {
		t.Errorf("a limit of the time that nobody gave: %+v: %v", gate, err)
	}
	if gate, err := gateWith("allocs/op=0", 0.05); err != nil || gate.Limit != 0.05 {
		t.Errorf("the limit of --max-regression: %+v: %v", gate, err)
	}
	for _, text := range []string{"sec/op", "sec/op=", "=5%", "sec/op=5", "sec/op=-1%", "allocs/op=0,allocs/op=1%", "sec/op=5%,ns/op=5%", ","} {
		if _, err := gateWith(text, nan); ExitStatus(err) != 2 {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := gateWith("sec/op=5%", 0.05); ExitStatus(err) != 2 {
		t.Errorf("two limits of the time: %v", err)
	}
}

// A metric that the gate does not judge fails nothing.
func TestOnlyWhatIsGatedFails(t *testing.T) {
	judged, other := pairOf(stats.Same, 1, 0.99, 1.01), pairOf(stats.Slower, 2, 1.9, 2.1)
	judged.Joint.Side, other.Metric = stats.Within, "allocs/op"
	set := settings{mostRegression: 0.05}
	if err := set.outcome(judgedBench(record.Bench{Pairs: []stats.Pair{judged, other}}, nil)); err != nil {
		t.Errorf("an allocation more, of which no limit was given: %v", err)
	}
	other.Joint.Side = stats.Beyond
	if err := set.outcome(judgedBench(record.Bench{Pairs: []stats.Pair{judged, other}}, nil)); ExitStatus(err) != 3 {
		t.Errorf("an allocation more: %v", err)
	}
}

// Undecided comparisons pass, but for those in which each pair is far beyond the limit. The reason is that of the document.
func TestFarBeyondDoesNotPass(t *testing.T) {
	for far, want := range map[bool]int{false: 0, true: 1} {
		p := pairOf(stats.Undecided, 20, math.NaN(), math.NaN())
		p.Joint.Side, p.Joint.FarBeyond, p.Joint.Why = stats.Open, far, "all pairs say so"
		var notes strings.Builder
		set := settings{mostRegression: 0.05, undecidedPasses: true, notes: &notes}
		err := set.outcome(judgedBench(record.Bench{Pairs: []stats.Pair{p}}, nil))
		if ExitStatus(err) != want || far && !strings.HasSuffix(err.Error(), "can't be told: all pairs say so") || !far && !strings.Contains(notes.String(), "all pairs say so") {
			t.Errorf("far beyond: %v: status %d, want %d: %v, %s", far, ExitStatus(err), want, err, notes.String())
		}
	}
}

// A benchmark that fails after some runs is no pass, though they gave an estimate.
func TestFailsAfterSomeRuns(t *testing.T) {
	b := gobench.Report{Summary: gobench.Summary{Estimate: stats.Estimate{N: 10}}}
	pairs := []stats.Pair{pairOf(stats.Same, 1, 0.99, 1.01)}
	set := settings{mostRegression: 0.05, undecidedPasses: true}
	for _, failed := range []bool{false, true} {
		b.Failed = failed
		if status := ExitStatus(set.outcome(judgedBench(record.Bench{Results: []gobench.Report{b}, Pairs: pairs}, nil))); (status == 1) != failed {
			t.Errorf("failed: %v: status %d", failed, status)
		}
	}
}

// A unit that no benchmark reports, as one that is misspelt, can't be judged, and that is no pass. Times have no limit
// then: it once was 0.
func TestUnknownUnitsDoNotPass(t *testing.T) {
	slower, allocs := pairOf(stats.Slower, 2, 1.9, 2.1), pairOf(stats.Same, 1, 1, 1)
	allocs.Metric, allocs.Joint.Side = "allocs/op", stats.Within
	set := settings{mostRegression: 0, undecidedPasses: true}
	for unit, want := range map[string]int{"alloc/op": 1, "allocs/op": 0} {
		d := record.Bench{Pairs: []stats.Pair{slower, allocs}}
		d.Missing = unreported(d.Pairs, []string{unit})
		err := set.outcome(judgedBench(d, []string{unit}))
		if ExitStatus(err) != want || want == 1 && !strings.Contains(err.Error(), "such as sec/op, allocs/op") {
			t.Errorf("%s: %v", unit, err)
		}
	}
}

// A file that can't be written is an error, and hides no regression.
func TestFailingExportHidesNoRegression(t *testing.T) {
	for pair, want := range map[*stats.Pair]int{
		new(pairOf(stats.Slower, 1.6, 1.5, 1.7)):    3,
		new(pairOf(stats.Faster, 0.6, 0.5, 0.7)):    1,
		new(pairOf(stats.Undecided, 1.1, 0.9, 1.2)): 1,
	} {
		file := filepath.Join(t.TempDir(), "missing", "x.xml")
		c := &call{
			settings: settings{format: render.JSONFormat, exports: []export{{"junit", file}}, mostRegression: 0.05, gateFlag: "--max-regression", regression: "5%"},
			streams:  Streams{Out: io.Discard, Err: io.Discard},
		}
		d := record.Bench{Header: record.NewHeader("bench", &machine.Machine{}, 1), Pairs: []stats.Pair{*pair}}
		err := c.show(t.Context(), judgedBench(d, nil), nil)
		if ExitStatus(err) != want || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: status %d, want %d: %v", pair.Outcome, ExitStatus(err), want, err)
		}
	}
}

// Two benchmarks may have one name with --gomaxprocs: BenchmarkX/a with 2, and BenchmarkX/a-2 with 1. The worse verdict counts.
func TestVerdictsOfOneName(t *testing.T) {
	d := record.Bench{}
	for _, v := range []stats.Verdict{stats.Trusted, stats.Unusable, stats.Suspect} {
		d.Results = append(d.Results, gobench.Report{Benchmark: gobench.Benchmark{Name: "BenchmarkX/a-2"}, Judgement: stats.Judgement{Verdict: v}})
	}
	if v := judgedBench(d, nil).verdicts; len(v) != 1 || v[".BenchmarkX/a-2"] != stats.Unusable {
		t.Errorf("%v", v)
	}
}

// --see plans what --plan and --null do. Without them the slowdown that follows from a wide limit is no wrong use.
func TestWideLimits(t *testing.T) {
	for given, want := range map[string]int{
		"--against x --max-regression 1000%": 1, "--against x --gate sec/op=1000%": 1, // there is no such revision
		"--null --max-regression 100% --see 2000%": 2, "--plan --max-regression 100% --see 50%": 2,
	} {
		var said strings.Builder
		args := append([]string{"bench", "-C", t.TempDir()}, strings.Fields(given)...)
		if err := Run(t.Context(), args, Streams{Out: io.Discard, Err: &said}); ExitStatus(err) != want || (want == 2) != strings.Contains(said.String(), "--see: invalid value") {
			t.Errorf("%s: status %d, want %d: %s", given, ExitStatus(err), want, said.String())
		}
		if want == 2 && !strings.Contains(said.String(), "above the limit of the time, 100%, such as 105%") { // of 100% it once said: such as 5%
			t.Errorf("%s: %s", given, said.String())
		}
	}
}
