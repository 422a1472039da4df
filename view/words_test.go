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
