package record

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// What an import leaves out, and what a comparison or a history would leave out of it, was once dropped without a word, or
// refused the whole file.
func TestImportSaysWhatItPassesOver(t *testing.T) {
	const twice = " is named twice: comparisons and histories take its first result"
	js := func(benches string) string {
		return `{"entries": {"s": [{"commit": {"id": "c0ffee"}, "date": 1785589200000, "tool": "go", "benches": [` + benches + `]}]}}`
	}
	asv := func(results string) string {
		return `{"commit_hash": "c0ffee", "env_name": "e", "date": 1788264000000, "params": {}, "result_columns": ["result"], "results": {` + results + `}}`
	}
	for name, c := range map[string]struct {
		file   string
		passed []string
		kept   int // results
	}{
		"hyperfine, twice":    {`{"results": [{"command": "x", "times": [1]}, {"command": "x", "times": [9]}, {"command": "x", "times": [2]}]}`, []string{`"x"` + twice}, 3},
		"hyperfine, varied":   {`{"results": [{"command": "x", "times": [1], "parameters": {"n": "1"}}, {"command": "x", "times": [9], "parameters": {"n": "2"}}]}`, nil, 2},
		"hyperfine, 0":        {`{"results": [{"command": "x", "times": [0, 0, 1]}, {"command": "y", "times": [0, 1, 1]}]}`, []string{`"x": a median of 0 s is no time`}, 2},
		"data.js, twice":      {js(`{"name": "X", "value": 5, "unit": "ns/op"}, {"name": "X", "value": 9, "unit": "ns/op"}, {"name": "X", "value": 1, "unit": "B/op"}`), []string{`"s X"` + twice}, 3},
		"data.js, no time":    {js(`{"name": "X", "value": 5, "unit": "ns/op"}, {"name": "Y", "value": 0, "unit": "ms/op"}, {"name": "Z", "value": -5, "unit": "ns"}, {"name": "A", "value": 0, "unit": "allocs/op"}`), []string{"Y: 0 ms/op is no time", "Z: -5 ns is no time"}, 2},
		"asv, no time":        {asv(`"time_x": [[0]], "time_y": [[1e-6]], "track_x": [[0]]`), []string{"time_x: 0 ns is no time"}, 2},
		"asv, twice":          {asv(`"time_x": [[1e-6, 2e-6]]`), []string{`"time_x"` + twice}, 2},
		"go test, no time":    {"BenchmarkX 100 5 ns/op\nBenchmarkX 100 0 ns/op 3 allocs/op\nBenchmarkY 100 -3 ns/op\nBenchmarkZ 100 5 ns/op -1 B/op\n", []string{"line 2: X: 0 ns/op is no measurement", "line 3: Y: -3 ns/op is no measurement", "line 4: Z: -1 B/op is no measurement"}, 2},
		"go test, repeated":   {"BenchmarkX 100 5 ns/op\nBenchmarkX 100 6 ns/op\n", nil, 1},
		"go test, five times": {"BenchmarkX 100 5 ns/op\n" + strings.Repeat("BenchmarkY 100 0 ns/op\n", 5), []string{"line 2: Y: 0 ns/op is no measurement", "line 3: Y: 0 ns/op is no measurement", "line 4: Y: 0 ns/op is no measurement", "line 5: Y: 0 ns/op is no measurement", "1 more broken lines"}, 1},
	} {
		documents, known, err := ImportSeries([]byte(c.file))
		if !known {
			var d Document
			d, err = Import(strings.NewReader(c.file), time.Now())
			documents = []Document{d}
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		kept := 0
		switch d := documents[0].(type) {
		case Bench:
			kept = len(d.Results)
		case Programs:
			kept = len(d.Results)
		}
		if passed := PassedOver(documents[0]); !slices.Equal(passed, c.passed) || kept != c.kept {
			t.Errorf("%s: passed over %q, want %q; %d results, want %d", name, passed, c.passed, kept, c.kept)
		}
		if _, err := Encode(documents[0]); err != nil {
			t.Errorf("%s can't be kept: %v", name, err)
		}
	}
	for _, file := range []string{js(`{"name": "Y", "value": 0, "unit": "ms/op"}`), asv(`"time_x": [[0]]`)} {
		if _, _, err := ImportSeries([]byte(file)); err == nil {
			t.Errorf("%s is imported", file)
		}
	}
	if _, err := Import(strings.NewReader("BenchmarkY 100 -3 ns/op\n"), time.Now()); err == nil || !strings.Contains(err.Error(), "line 1: Y: -3 ns/op") {
		t.Errorf("nothing but broken lines: %v", err)
	}
}
