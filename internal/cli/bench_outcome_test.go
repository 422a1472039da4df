package cli

import (
	"errors"
	"math"
	"strings"
	"testing"

	"chronoscope/gobench"
	"chronoscope/record"
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
	broken := []error{errors.New("it does not compile")}
	for _, c := range []struct {
		pairs   []stats.Pair
		broken  []error
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
		{[]stats.Pair{faster}, broken, nan, 0},
		{[]stats.Pair{unknown, slower}, nil, 0.4, 3}, // what can't be told hides no regression
		{[]stats.Pair{slower}, broken, 0.4, 3},
	} {
		set := settings{regression: "some", mostRegression: c.allowed}
		if got := ExitStatus(set.outcome(judgedBench(record.Bench{Pairs: c.pairs}, c.broken, nil))); got != c.want {
			t.Errorf("%+v, broken: %v, %v allowed: exit status %d, want %d", c.pairs, c.broken, c.allowed, got, c.want)
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
	if err := set.outcome(judgedBench(record.Bench{Pairs: []stats.Pair{judged, other}}, nil, nil)); err != nil {
		t.Errorf("an allocation more, of which no limit was given: %v", err)
	}
	other.Joint.Side = stats.Beyond
	if err := set.outcome(judgedBench(record.Bench{Pairs: []stats.Pair{judged, other}}, nil, nil)); ExitStatus(err) != 3 {
		t.Errorf("an allocation more: %v", err)
	}
}

// A benchmark that fails after some runs is no pass, though they gave an estimate.
func TestFailsAfterSomeRuns(t *testing.T) {
	b := gobench.Report{Summary: gobench.Summary{Estimate: stats.Estimate{N: 10}}}
	pairs := []stats.Pair{pairOf(stats.Same, 1, 0.99, 1.01)}
	set := settings{mostRegression: 0.05, undecidedPasses: true}
	for _, failed := range []bool{false, true} {
		b.Failed = failed
		if status := ExitStatus(set.outcome(judgedBench(record.Bench{Results: []gobench.Report{b}, Pairs: pairs}, nil, nil))); (status == 1) != failed {
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
		err := set.outcome(judgedBench(record.Bench{Pairs: []stats.Pair{slower, allocs}}, nil, []string{unit}))
		if ExitStatus(err) != want || want == 1 && !strings.Contains(err.Error(), "such as sec/op, allocs/op") {
			t.Errorf("%s: %v", unit, err)
		}
	}
}
