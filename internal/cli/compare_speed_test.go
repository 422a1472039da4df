package cli

import (
	"strings"
	"testing"

	"chronoscope/compare"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
)

// A time may differ because the core ran at another rate, or was another model: that alone once was a regression (status 3),
// and a faster core hid one (0). Records that lack the rate or the model are compared as they are.
func TestRegressionAtAnotherRate(t *testing.T) {
	old := &machine.Machine{CPU: "A", CoreHz: new(3e9)}
	for name, c := range map[string]struct {
		now                  *machine.Machine
		topic, quantity      string
		outcome              string
		value, lo, hi, limit float64
		want                 int
		says                 string
	}{
		"the same rate, slower":             {&machine.Machine{CPU: "A", CoreHz: new(3.005e9)}, "program", "time", compare.Slower, 1.1, 1.08, 1.12, 0.05, 3, "at least"},
		"the same rate, as before":          {&machine.Machine{CPU: "A", CoreHz: new(2.99e9)}, "program", "time", compare.Same, 1, 0.992, 1.008, 0, 0, ""},
		"slower, as the core is":            {&machine.Machine{CPU: "A", CoreHz: new(2.7e9)}, "program", "time", compare.Slower, 1.11, 1.1, 1.12, 0.05, 1, "the core ran at 3 GHz, and then at 2.7"},
		"slower by more than the core":      {&machine.Machine{CPU: "A", CoreHz: new(2.7e9)}, "program", "time", compare.Slower, 1.5, 1.48, 1.52, 0.05, 3, "at least"},
		"as before on a slower core":        {&machine.Machine{CPU: "A", CoreHz: new(2.7e9)}, "program", "time", compare.Same, 1, 0.995, 1.005, 0.05, 0, ""},
		"hidden by a faster core":           {&machine.Machine{CPU: "A", CoreHz: new(3.6e9)}, "benchmark", "time", compare.Same, 1, 0.995, 1.005, 0.05, 1, "the core ran at 3 GHz, and then at 3.6"},
		"faster by more than the core":      {&machine.Machine{CPU: "A", CoreHz: new(3.6e9)}, "benchmark", "time", compare.Faster, 0.5, 0.49, 0.51, 0.05, 0, ""},
		"slower on another model":           {&machine.Machine{CPU: "B", CoreHz: new(3e9)}, "benchmark", "wall time", compare.Slower, 1.5, 1.4, 1.6, 0.05, 1, "different CPUs, A and B"},
		"faster on another model":           {&machine.Machine{CPU: "B"}, "benchmark", "time", compare.Faster, 0.5, 0.4, 0.6, 0.05, 1, "different CPUs, A and B"},
		"allocations on another model":      {&machine.Machine{CPU: "B"}, "benchmark", "allocs/op", compare.Worse, 2, 2, 2, 0.05, 3, "at least"},
		"an event of the other model":       {&machine.Machine{CPU: "B"}, "event", "time", compare.Same, 1, 0.995, 1.005, 0.05, 0, ""},
		"no rate is known":                  {&machine.Machine{CPU: "A"}, "program", "time", compare.Slower, 1.1, 1.08, 1.12, 0.05, 3, "at least"},
		"no model is known, as before":      {&machine.Machine{}, "program", "time", compare.Same, 1, 0.995, 1.005, 0.05, 0, ""},
		"no machine is known":               {nil, "program", "time", compare.Slower, 1.1, 1.08, 1.12, 0.05, 3, "at least"},
		"undecided at another rate, within": {&machine.Machine{CPU: "A", CoreHz: new(2.7e9)}, "program", "time", compare.Undecided, 1.01, 0.98, 1.04, 0.05, 0, ""},
	} {
		change := &record.ComparisonChange{Ratio: stats.Estimate{Value: c.value, Lo: c.lo, Hi: c.hi}, Outcome: c.outcome}
		row := record.ComparisonRow{Topic: c.topic, Name: "x", Quantity: c.quantity, Better: "lower", Values: []*record.ComparisonValue{{}, {}}, Changes: []*record.ComparisonChange{change}}
		d := record.Comparison{Subjects: []string{"old", "new"}, Origins: []record.Origin{{Machine: old}, {Machine: c.now}}, Rows: []record.ComparisonRow{row}}
		err := settings{mostRegression: c.limit, gateFlag: "--max-regression", regression: "5%"}.outcome(judged(d))
		if ExitStatus(err) != c.want || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: status %d, want %d with %q: %v", name, ExitStatus(err), c.want, c.says, err)
		}
		if change.Ratio.Lo != c.lo || change.Ratio.Hi != c.hi {
			t.Errorf("%s: the document's ratio is of another interval", name)
		}
	}
}
