package render

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chronoscope/gobench"
	"chronoscope/record"
	"chronoscope/stats"
)

var someDay = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// imported returns the document of a file that another tool wrote.
func imported(t *testing.T, file string) record.Document {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../record/testdata", "import", file))
	if err != nil {
		t.Fatal(err)
	}
	d, err := record.Import(bytes.NewReader(data), someDay)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The document has the values that hyperfine's file has for each command, including its median.
func TestImportHyperfine(t *testing.T) {
	for _, file := range []string{"hyperfine-1.15.json", "hyperfine-1.15-two-runs.json"} {
		d := imported(t, file).(record.Programs)
		data, err := os.ReadFile(filepath.Join("../record/testdata", "import", file))
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Results []struct {
				Command    string
				Median     float64
				Times      []float64
				Parameters map[string]string
			}
		}
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if len(d.Results) != len(want.Results) || !d.Started.Equal(someDay) {
			t.Fatalf("%s: %d results", file, len(d.Results))
		}
		for i, p := range d.Results {
			w := want.Results[i]
			if p.Command != w.Command || math.Abs(p.Wall.Value/w.Median/1e9-1) > 1e-9 || p.Wall.N != len(w.Times) || len(p.Runs) != len(w.Times) || p.Parameters["n"] != w.Parameters["n"] {
				t.Errorf("%s: %s: %+v, want %+v", file, p.Command, p.Wall, w)
			}
			if p.Verdict != stats.Suspect || !math.IsNaN(p.Estimate.Value) {
				t.Errorf("%s: %s: %s, %g", file, p.Command, p.Verdict, p.Estimate.Value)
			}
		}
	}
	few := imported(t, "hyperfine-1.15-two-runs.json").(record.Programs).Results[0]
	if !math.IsNaN(few.Wall.Lo) || !strings.Contains(strings.Join(few.Reasons, "; "), "no interval") {
		t.Errorf("of two runs: %+v, %q", few.Wall, few.Reasons)
	}
}

// Files that are written for other tools can be read again.
func TestImportReadsWhatIsExported(t *testing.T) {
	before := imported(t, "hyperfine-1.15.json").(record.Programs)
	var b bytes.Buffer
	if err := Hyperfine(&b, before); err != nil {
		t.Fatal(err)
	}
	d, err := record.Import(&b, someDay)
	if err != nil {
		t.Fatal(err)
	}
	after := d.(record.Programs)
	for i, p := range after.Results {
		if math.Abs(p.Wall.Value/before.Results[i].Wall.Value-1) > 1e-9 || len(p.Runs) != len(before.Results[i].Runs) {
			t.Errorf("%+v, want %+v", p.Wall, before.Results[i].Wall)
		}
	}
}

// Parameters are read as they were given, whichever version of hyperfine wrote them.
func TestImportHyperfineParameters(t *testing.T) {
	for _, written := range []string{`1000000`, `"1000000"`} {
		d, err := record.Import(strings.NewReader(`{"results": [{"command": "x", "times": [1], "parameters": {"n": `+written+`}}]}`), someDay)
		if err != nil {
			t.Fatal(err)
		}
		if n := d.(record.Programs).Results[0].Parameters["n"]; n != "1000000" {
			t.Errorf("%s: %s", written, n)
		}
	}
}

// A file that never ends is refused when it exceeds the largest size that is read.
func TestImportOfNoEnd(t *testing.T) {
	const most = 2 * record.MostBytes
	r := &io.LimitedReader{R: endlessReader{}, N: most}
	if _, err := record.Import(r, someDay); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Error(err)
	}
	if read := most - r.N; read > record.MostBytes+1 {
		t.Errorf("%d bytes were read", read)
	}
}

// endlessReader is a reader of zeros.
type endlessReader struct{}

func (endlessReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

const benchLines = `goos: linux
goarch: amd64
cpu: Some CPU
pkg: example.com/a
BenchmarkEncode/size=1-8   	 100	 10 ns/op	 3 B/op	 2 allocs/op
BenchmarkEncode/size=1-8   	 200	 30 ns/op	 3 B/op	 2 allocs/op
BenchmarkEncode/size=1-8   	 100	 20 ns/op	 4 B/op	 2 allocs/op
some line that a test printed
BenchmarkBroken-8 what
revision: main
BenchmarkEncode/size=1-8   	 100	 50 ns/op
revision: working-tree
BenchmarkPlain   	 7	 1.5 ns/op	 12.5 MB/s
PASS
ok  	example.com/a	1.2s
`

func TestImportGoBench(t *testing.T) {
	document, err := record.Import(strings.NewReader(benchLines), someDay)
	if err != nil {
		t.Fatal(err)
	}
	d := document.(record.Bench)
	if d.Machine.CPU != "Some CPU" || d.Machine.OS != "linux" || d.Machine.Arch != "amd64" {
		t.Errorf("%+v", d.Machine)
	}
	if !strings.Contains(strings.Join(d.Caveats, "\n"), "line:9") {
		t.Errorf("the broken line is not told: %q", d.Caveats)
	}
	for i, want := range []struct {
		name, revision string
		procs, n       int
		median         float64
		metrics        []gobench.Metric
	}{
		{"BenchmarkEncode/size=1", "", 8, 3, 20, []gobench.Metric{{Unit: "B/op", Value: 3}, {Unit: "allocs/op", Value: 2}}},
		{"BenchmarkEncode/size=1", "main", 8, 1, 50, nil},
		{"BenchmarkPlain", "", 1, 1, 1.5, []gobench.Metric{{Unit: "MB/s", Value: 12.5}}},
	} {
		b := d.Results[i]
		if b.Name != want.name || b.Package != "example.com/a" || b.Revision != want.revision || b.Procs != want.procs || b.Wall.N != want.n || b.Wall.Value != want.median || len(b.Metrics) != len(want.metrics) {
			t.Errorf("%+v, want %+v", b, want)
			continue
		}
		for j, m := range want.metrics {
			if b.Metrics[j] != m {
				t.Errorf("%s: %+v, want %+v", b.Name, b.Metrics[j], m)
			}
		}
	}
}

// If many lines are broken, a caveat quotes some of them and gives the number of others.
func TestImportGoBenchOfBrokenLines(t *testing.T) {
	d, err := record.Import(strings.NewReader("BenchmarkX 1 5 ns/op\n"+strings.Repeat("BenchmarkBroken-8 what\n", 4+90)), someDay)
	if err != nil {
		t.Fatal(err)
	}
	if c := d.Head().Caveats; len(c) != 4+2 || c[4+1] != "passed over: 90 more broken lines" {
		t.Errorf("%q", c)
	}
}

// The file is the output of go test -bench -count 7: each benchmark seven times.
func TestImportGoBenchOfARealRun(t *testing.T) {
	d := imported(t, "go1.26-bench.txt").(record.Bench)
	if len(d.Results) == 0 {
		t.Fatal("no benchmarks")
	}
	for _, b := range d.Results {
		if b.Wall.N != 7 || !(b.Wall.Lo <= b.Wall.Value && b.Wall.Value <= b.Wall.Hi) || b.Package != "chronoscope/stats" || b.Procs != 2 {
			t.Errorf("%s: %+v, %s, %d", b.Name, b.Wall, b.Package, b.Procs)
		}
	}
}

func TestImportRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "no Go benchmark lines"},
		{"prose", "It was a dark and stormy night.\n", "no Go benchmark lines"},
		{"other JSON", `{"a": 1}`, "no schema"},
		{"no results", `{"results": []}`, "no results"},
		{"results of another form", `{"results": {"a": 1}}`, "hyperfine --export-json"},
		{"no command", `{"results": [{"times": [1]}]}`, "names no command"},
		{"a negative time", `{"results": [{"command": "x", "times": [-1]}]}`, "as no run does"},
		{"an endlessReader time", `{"results": [{"command": "x", "times": [1e300]}]}`, "as no run does"},
		{"NaN", `{"results": [{"command": "x", "times": [NaN]}]}`, "no JSON document"},
		{"no times", `{"results": [{"command": "x", "times": []}]}`, "neither times nor a median"},
		{"a negative benchmark", "BenchmarkX 1 -5 ns/op\n", "line 1"},
		{"an infinite benchmark", "BenchmarkX 1 +Inf ns/op\n", "line 1"},
		{"a benchmark that took for ever", "BenchmarkX 10 1e308 ns/op\n", "line 1"},
		{"more times than any file has", `{"results": [{"command": "x", "times": [` + strings.Repeat("0,", 1<<20) + `0]}]}`, "as no record"},
		{"a later version", `{"schema": "chronoscope/v9", "command": "clocks"}`, "use the version that wrote it"},
	} {
		_, err := record.Import(strings.NewReader(c.text), someDay)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want one that says %q", c.name, err, c.want)
		}
	}
}

// Whatever is imported can be shown and written as JSON.
func FuzzImport(f *testing.F) {
	for _, file := range []string{"hyperfine-1.15-two-runs.json", "go1.26-bench.txt"} {
		data, err := os.ReadFile(filepath.Join("../record/testdata", "import", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(benchLines))
	f.Add([]byte(`{"results": [{"command": "x", "times": [1], "parameters": {"n": 5}}]}`))
	f.Add([]byte("Unit ns/op better=lower\nBenchmarkX/- 1 1 ns/op 5 ns/op\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := record.Import(bytes.NewReader(data), someDay)
		if err != nil {
			return
		}
		if _, err := json.Marshal(d); err != nil {
			t.Fatalf("it can't be written: %v", err)
		}
		if err := Write(io.Discard, TextFormat, d, Style{}); err != nil {
			t.Fatal(err)
		}
	})
}
