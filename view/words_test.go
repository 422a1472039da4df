package view

import (
	"math"
	"testing"

	"chronoscope/stats"
)

// A ratio of one run to another stood there with the interval "1.244 to 1.244".
func TestRatioOfSingleRuns(t *testing.T) {
	for _, c := range []struct {
		lo, hi        float64
		value, bounds string
	}{
		{1.244, 1.244, "1.244", "?"}, {1.2, 1.3, "1.244", "1.200 to 1.300"}, {math.NaN(), 1.3, "1.244", "?"},
	} {
		if value, bounds := ratio(stats.Estimate{Value: 1.244, Lo: c.lo, Hi: c.hi}); value != c.value || bounds != c.bounds {
			t.Errorf("%v to %v: %q, %q", c.lo, c.hi, value, bounds)
		}
	}
}

// Where the outcome is undecided the sentence says so before it gives figures: "undecided: 330 times
// as long (322 to 337)" contradicted itself.
func TestUndecidedPairSaysSoFirst(t *testing.T) {
	p := stats.Pair{A: "a", B: "b", Ratio: stats.Estimate{Value: 330, Lo: 322, Hi: 337}, Outcome: "undecided"}
	line := pairSentences([]stats.Pair{p})[0]
	want := "too little is known to say which is faster; as measured, b takes 330.0 times as long as a (95 % interval 322.0 to 337.0)"
	if line.Strong != "undecided:" || line.Text != want {
		t.Errorf("%q %q", line.Strong, line.Text)
	}
}
