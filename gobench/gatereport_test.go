package gobench

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"chronoscope/stats"
)

// A gate that limits no time plans for no slowdown, and its report is valid JSON.
func TestGateReportWithoutALimitOfTheTime(t *testing.T) {
	plan := Plan{}.WithGate(&stats.Gate{Limit: math.NaN(), Metrics: map[string]float64{"allocs/op": 0}, FalseAlarms: 0.01})
	text, err := json.Marshal(NewGateReport(make([]Comparison, 3), plan, 0.05, true))
	if err != nil || !strings.Contains(string(text), `"limit":null`) || !strings.Contains(string(text), `"visible":[]`) {
		t.Errorf("%s: %v", text, err)
	}
}
