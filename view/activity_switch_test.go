package view

import (
	"math"
	"strings"
	"testing"

	"chronoscope/activity"
	"chronoscope/stats"
)

// A switch costs no time below 0: what came out as such was not measured.
func TestCostOfASwitch(t *testing.T) {
	for ns, want := range map[float64]string{2000: "costs 2.00 µs", -12_900: "unknown cost", math.NaN(): "unknown cost"} {
		w := &activity.Switching{Cost: stats.Estimate{Value: ns, Lo: ns - 100, Hi: ns + 100, Unit: "ns"}}
		if line := switching(w).Lines[0]; !strings.Contains(line.Text, want) {
			t.Errorf("%v ns: %q", ns, line.Text)
		}
	}
}
