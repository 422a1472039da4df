package view

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chronoscope/gobench"
	"chronoscope/record"
	"chronoscope/stats"
)

// Long names that begin alike differ at their ends, which an earlier version cut off.
func TestShortenedInTheMiddle(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"sleep 0.1", "sleep 0.1"}, {"0123456789", "0123456789"},
		{"./server --threads 1 --output a", "./ser…ut a"}, {"ätherische Öle", "äther… Öle"},
	} {
		if got := Shortened(c.name, 10); got != c.want {
			t.Errorf("%q: %q, want %q", c.name, got, c.want)
		}
	}
}

// Caveats about fields of the JSON document are not shown among those for people.
func TestCaveatsForPeople(t *testing.T) {
	all := []string{"SMT: not told", "steal_ns is null of runs", "a, b: steal_ns is null of runs", "the run was short", "governor: no such file", "CPU: emulated", "tsc is off"}
	want := []string{"the run was short", "CPU: emulated", "tsc is off", "not known of this machine, or in part: SMT, governor; chronoscope doctor says why"}
	if diff := cmp.Diff(want, caveatsForPeople(all)); diff != "" {
		t.Error(diff)
	}
}

// An earlier version had no tile with the outcome of a comparison.
func TestTileOfAComparison(t *testing.T) {
	value := func(v stats.Verdict) *record.ComparisonValue { return &record.ComparisonValue{Verdict: v} }
	row := func(name, outcome string, verdict stats.Verdict) record.ComparisonRow {
		return record.ComparisonRow{Name: name, Quantity: "time", Values: []*record.ComparisonValue{value(stats.Trusted), value(verdict)}, Changes: []*record.ComparisonChange{{Outcome: outcome}}}
	}
	d := record.Comparison{Subjects: []string{"old", "new"}, Rows: []record.ComparisonRow{
		row("a", "slower", stats.Trusted), row("b", "same", stats.Suspect), row("c", "same", stats.Trusted), {Values: []*record.ComparisonValue{nil, nil}, Changes: []*record.ComparisonChange{nil}},
	}}
	want := Tile{Topic: "new against old", Figure: "2 same, 1 slower", Sentence: "Time of a is slower.", Verdict: stats.Suspect}
	if diff := cmp.Diff(want, comparisonTile(d, 0)); diff != "" {
		t.Error(diff)
	}
	d.Rows = d.Rows[3:]
	if got := comparisonTile(d, 0); got.Figure != "nothing in both" || got.Verdict != "" {
		t.Errorf("%+v", got)
	}
}

// A benchmark that failed once had a tile that said "known to ± ?; go test says ?".
func TestTileOfAFailedBenchmark(t *testing.T) {
	nan := stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
	s := bench(record.Bench{Results: []gobench.Report{{
		Benchmark: gobench.Benchmark{Name: "BenchmarkBroken"}, Summary: gobench.Summary{Estimate: nan, Wall: nan},
		Judgement: stats.Judgement{Verdict: stats.Unusable, Reasons: []string{"exit status 2"}},
	}}})
	if got := s.Tiles[1].Sentence; strings.Contains(got, "?") || !strings.Contains(got, "exit status 2") {
		t.Error(got)
	}
}
