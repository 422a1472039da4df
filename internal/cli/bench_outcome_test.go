package cli

import (
	"math"
	"testing"

	"chronoscope/gobench"
	"chronoscope/record"
	"chronoscope/stats"
)

// A regression beyond what is allowed ends with 3, what can't be told with 1 where it
// was asked for; chance and what is allowed end well.
func TestRegressionEndsWithThree(t *testing.T) {
	for _, c := range []struct {
		outcome gobench.Outcome
		ratio   float64
		allowed float64
		want    int
	}{
		{gobench.Slower, 1.6, 0.5, 3},
		{gobench.Slower, 1.4, 0.5, 0},
		{gobench.Undecided, 1.1, 0.5, 0},
		{gobench.Undecided, math.NaN(), 0.5, 1}, // a gate that can't know doesn't open
		{gobench.Undecided, math.NaN(), math.NaN(), 0},
		{gobench.Faster, 0.5, 0, 0},
	} {
		d := record.Bench{Pairs: []record.Pair{{A: "old", B: "new", Ratio: stats.Estimate{Value: c.ratio}, Outcome: string(c.outcome)}}}
		flags := &benchFlags{regressed: "some", mostRegression: c.allowed}
		if got := ExitStatus(flags.outcome(d, settings{})); got != c.want {
			t.Errorf("%s by %v, %v allowed: exit status %d, want %d", c.outcome, c.ratio, c.allowed, got, c.want)
		}
	}
	unknown := record.Pair{A: "old", B: "busy", Ratio: stats.Estimate{Value: math.NaN()}, Outcome: string(gobench.Undecided)}
	slower := record.Pair{A: "old", B: "new", Ratio: stats.Estimate{Value: 2}, Outcome: string(gobench.Slower)}
	flags := &benchFlags{regressed: "some", mostRegression: 0.5}
	if got := ExitStatus(flags.outcome(record.Bench{Pairs: []record.Pair{unknown, slower}}, settings{})); got != 3 {
		t.Errorf("exit status %d: a pair that can't be told hides a regression", got)
	}
}
