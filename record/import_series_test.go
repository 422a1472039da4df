package record

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Values of which more is better once counted as worse if they grew.
func TestActionBenchmarkKeepsTheDirection(t *testing.T) {
	for _, c := range []struct {
		tool, unit string
		refused    bool
	}{
		{"pytest", "iter/sec", false}, {"benchmarkjs", "ops/sec", false}, {"go", "ns/op", false},
		{"customBiggerIsBetter", "MB/s", false}, {"customBiggerIsBetter", "points", true}, {"customBiggerIsBetter", "ms", true},
		{"customSmallerIsBetter", "MB", false}, {"customSmallerIsBetter", "drops/s", true}, {"customSmallerIsBetter", "ms", false},
	} {
		data := fmt.Sprintf(`{"entries": {"suite": [{"commit": {"id": "c0ffee"}, "date": 1785589200000, "tool": %q, "benches": [{"name": "X", "value": 5, "unit": %q}]}]}}`, c.tool, c.unit)
		documents, _, err := ImportSeries([]byte(data))
		if (err != nil) != c.refused || (err == nil && len(documents) != 1) {
			t.Errorf("%s in %s: %d documents, error %v", c.tool, c.unit, len(documents), err)
		}
		if err != nil && !strings.Contains(err.Error(), c.tool) {
			t.Errorf("%s in %s: the error does not name the tool: %v", c.tool, c.unit, err)
		}
	}
}

// A benchmark whose direction is the opposite of its unit's is left out, and the others are imported. It once refused the file.
func TestActionBenchmarkOfOneContraryDirection(t *testing.T) {
	data := `{"entries": {"suite": [{"commit": {"id": "c0ffee"}, "date": 1785589200000, "tool": "customBiggerIsBetter",
		"benches": [{"name": "X", "value": 5, "unit": "fps"}, {"name": "Y", "value": 5, "unit": "MB/s"}]}]}}`
	documents, _, err := ImportSeries([]byte(data))
	if err != nil || len(documents) != 1 {
		t.Fatalf("%d documents: %v", len(documents), err)
	}
	if all := documents[0].(Bench).Results; len(all) != 1 || all[0].Name != "Y" {
		t.Errorf("%+v", all)
	}
	said := `X: customBiggerIsBetter says that more "fps" is better, but here that holds only for units that end in /s, /sec or /second`
	if all := PassedOver(documents[0]); len(all) != 1 || all[0] != said {
		t.Errorf("%q", all)
	}
}

// The bounds of asv's 99 % intervals once stood for bounds of 95 %.
func TestASVIntervalsAreOf95Percent(t *testing.T) {
	data := `{"commit_hash": "c0ffee", "env_name": "e", "date": 1788264000000, "params": {}, "result_columns": ["result", "params", "stats_ci_99_a", "stats_ci_99_b"],
		"results": {"time_x": [[100e-9], [], [90e-9], [130e-9]]}}`
	documents, _, err := ImportSeries([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	// The quantiles 0.975 and 0.995 of the normal distribution are 1.959964 and 2.575829 (R, qnorm).
	const narrower = 1.959964 / 2.575829
	wall := documents[0].(Bench).Results[0].Wall
	if math.Abs(wall.Lo-(100-10*narrower)) > 0.01 || math.Abs(wall.Hi-(100+30*narrower)) > 0.01 {
		t.Errorf("100 ns, of 90 to 130 ns at 99 %%, is %v to %v ns", wall.Lo, wall.Hi)
	}
}
