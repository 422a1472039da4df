package cli

import (
	"testing"

	"chronoscope/gobench"
	"chronoscope/record"
	"chronoscope/stats"
)

// A regression beyond what is allowed ends with 3, chance and what is allowed do not.
func TestRegressionEndsWithThree(t *testing.T) {
	for _, c := range []struct {
		outcome gobench.Outcome
		ratio   float64
		allowed float64
		want    int
	}{
		{gobench.Slower, 1.6, 0.5, 3},
		{gobench.Slower, 1.4, 0.5, 0},
		{gobench.Undecided, 9, 0.5, 0},
		{gobench.Faster, 0.5, 0, 0},
	} {
		d := record.Bench{Pairs: []record.Pair{{A: "old", B: "new", Ratio: stats.Estimate{Value: c.ratio}, Outcome: string(c.outcome)}}}
		flags := &benchFlags{regressed: "some", mostRegression: c.allowed}
		if got := ExitStatus(flags.outcome(d, settings{})); got != c.want {
			t.Errorf("%s by %v, %v allowed: exit status %d, want %d", c.outcome, c.ratio, c.allowed, got, c.want)
		}
	}
}
