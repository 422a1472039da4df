package stats_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"chronoscope/stats"
)

// A number is a JSON number, and a missing number is null.
func TestFloatInJSON(t *testing.T) {
	for text, want := range map[string]float64{"null": math.NaN(), "0": 0, "-1.5": -1.5, "1e-7": 1e-7, "1e+21": 1e21} {
		var f stats.Float
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatal(err)
		}
		if got := f.Value(); got != want && !(math.IsNaN(got) && math.IsNaN(want)) || f.Known() == math.IsNaN(want) {
			t.Errorf("%s reads as %v", text, got)
		}
		again, err := json.Marshal(f)
		if plain, _ := json.Marshal(want); err != nil || string(again) != text || f.Known() && string(plain) != text {
			t.Errorf("%s is written as %s, %v", text, again, err)
		}
	}
}

// NaN and infinities are written as null. A text that is no finite JSON number is an error that names its
// place.
func TestFloatRefuses(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if text, err := json.Marshal(stats.FloatOf(x)); err != nil || string(text) != "null" {
			t.Errorf("%v is written as %s, %v", x, text, err)
		}
	}
	for _, text := range []string{`{"wait": 1e999}`, `{"wait": "long"}`, `{"wait": [1]}`} {
		var d struct {
			Wait stats.Float `json:"wait"`
		}
		if err := json.Unmarshal([]byte(text), &d); err == nil || !strings.Contains(err.Error(), "wait") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A field that is not in the document is missing, even if an element before it had the field.
func TestFloatThatIsNotThere(t *testing.T) {
	var all []struct{ A, B stats.Float }
	if err := json.Unmarshal([]byte(`[{"A": 1, "B": 2}, {"A": 3}, {"B": null}]`), &all); err != nil {
		t.Fatal(err)
	}
	if all[1].B.Known() || all[2].A.Known() || all[2].B.Known() || all[1].A.Or(9) != 3 || all[1].B.Or(9) != 9 {
		t.Errorf("%v", all)
	}
}
