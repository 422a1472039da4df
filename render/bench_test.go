package render

import (
	"bytes"
	"encoding/csv"
	"io"
	"math"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
)

func estimateOf(value, lo, hi float64) stats.Estimate {
	return stats.Estimate{Value: value, Lo: lo, Hi: hi, Unit: "ns", Statistic: "median", N: 2}
}

var (
	nan     = math.NaN()
	unknown = stats.Estimate{Value: nan, Lo: nan, Hi: nan, Unit: "ns", Statistic: "median"}
)

// madeUpBench returns a document with several packages, two revisions, hostile names, unknown
// values, and a negative value.
func madeUpBench() record.Bench {
	share, p := 0.914, 0.03125
	d := record.Bench{Header: record.Header{
		Machine: &machine.Machine{CPU: "Made Up CPU", CPUs: 1, OS: "linux", Arch: "amd64", Go: "go1.26"},
		Caveats: []string{"something is not known"},
	}}
	twice := func(ns float64) []gobench.RepetitionReport {
		return []gobench.RepetitionReport{{TimeNs: ns * 0.99}, {TimeNs: ns * 1.01}}
	}
	d.Results = []gobench.Report{
		{Benchmark: gobench.Benchmark{Name: "BenchmarkCopy/size=1|x,\"y\"", Package: "example.com/a", Revision: "v1.0"}, Summary: gobench.Summary{Basis: gobench.Timer, Procs: 8, Iterations: 1000, Estimate: estimateOf(100, 99, 101), Wall: estimateOf(100, 99, 101), CPU: estimateOf(100, 99, 101), Cycles: unknown, Metrics: []gobench.Metric{{Unit: "MB/s", Value: 500}, {Unit: "frogs/op", Value: 3}}}, Repetitions: twice(100),
			Judgement: stats.Judgement{Verdict: stats.Trusted}},
		{Benchmark: gobench.Benchmark{Name: "BenchmarkCopy/size=1|x,\"y\"", Package: "example.com/a"}, Summary: gobench.Summary{Basis: gobench.CPUTime, Procs: 8, Iterations: 1000, Estimate: estimateOf(200, 198, 202), Wall: estimateOf(2000, 1900, 2100), CPU: estimateOf(201, 200, 202), Cycles: unknown, WaitShare: stats.FloatOf(share), Metrics: []gobench.Metric{{Unit: "MB/s", Value: 25}}, Corrected: 2}, Repetitions: twice(200),
			Judgement: stats.Judgement{Verdict: stats.Suspect, Reasons: []string{"a reason with a | in it"}}},
		{Benchmark: gobench.Benchmark{Name: "Benchmark<b>Ω</b>", Package: "example.com/b"}, Summary: gobench.Summary{Procs: 1, Iterations: 4, Estimate: estimateOf(-2, -50, 40), Wall: estimateOf(3, 2, 4), CPU: unknown, Cycles: unknown}, Repetitions: twice(-2),
			Judgement: stats.Judgement{Verdict: stats.Unusable, Reasons: []string{"the repetitions contradict one another", "a reason with a | in it"}}},
		{Benchmark: gobench.Benchmark{Name: "BenchmarkBroken", Package: "example.com/b"}, Summary: gobench.Summary{Estimate: unknown, Wall: unknown, CPU: unknown, Cycles: unknown},
			Judgement: stats.Judgement{Verdict: stats.Unusable, Reasons: []string{"exit status 2; it printed: panic: no"}}},
	}
	d.Pairs = []stats.Pair{
		{A: "example.com/a.BenchmarkCopy at v1.0", B: "example.com/a.BenchmarkCopy", PValue: stats.FloatOf(p), Outcome: "slower",
			Ratio: stats.Estimate{Value: 2, Lo: 1.96, Hi: 2.04, Unit: "ratio", Statistic: "median"}},
		{A: "example.com/b.BenchmarkBroken at v1.0", B: "example.com/b.BenchmarkBroken", Ratio: unknown, Outcome: "undecided"},
	}
	return d
}

// Each line has its columns in order; the space between them is not checked.
func TestBenchText(t *testing.T) {
	var out bytes.Buffer
	showText(&out, madeUpBench(), Style{})
	lines := strings.Split(out.String(), "\n")
	for _, want := range [][]string{
		{"Made Up CPU, 1 CPU"},
		{"benchmark", "time/op", "±", "go test says", "CPU/op", "waited", "repetitions", "verdict"},
		{"example.com/a"},
		{"  Copy/size=1|x,\"y\" at v1.0 ", "100.0 ns", "1.0 %", "100.0 ns", "100.0 ns", "?", " 2 ", "trusted", "500.0 MB/s, 3.000 frogs/op"},
		{"  Copy/size=1|x,\"y\" ", "200.0 ns", "1.0 %", "2.000 µs", "201.0 ns", "91.4 %", " 2 ", "suspect", "25.00 MB/s"},
		{"example.com/b"},
		{"  <b>Ω</b> ", "-2.000 ns", "?", "3.000 ns", "?", "?", " 2 ", "unusable"},
		{"  Broken ", "?", "?", "?", "?", "?", " 0 ", "unusable"},
		{"suspect Copy/size=1|x,\"y\": a reason with a | in it"},
		{"unusable <b>Ω</b>: the repetitions contradict one another"},
		{"unusable <b>Ω</b>: a reason with a | in it"},
		{"unusable Broken: exit status 2; it printed: panic: no"},
		{"example.com/a.BenchmarkCopy ", "example.com/a.BenchmarkCopy at v1.0", "2.000", "1.960 to 2.040", "0.031", "slower"},
		{"example.com/b.BenchmarkBroken ", "example.com/b.BenchmarkBroken at v1.0", "?", "?", "?", "undecided"},
		{"something is not known"},
	} {
		if lines = after(lines, want); lines == nil {
			t.Fatalf("no line with %q, in its place, in\n%s", want, &out)
		}
	}
	for _, bad := range []string{"NaN", "Inf", "ppm"} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("%s in\n%s", bad, &out)
		}
	}
}

// after returns the lines that follow the first line with all columns in order, and nil if no line
// has them.
func after(lines, columns []string) []string {
	for i, line := range lines {
		found := true
		for _, column := range columns {
			_, rest, ok := strings.Cut(line, column)
			line, found = rest, found && ok
		}
		if found {
			return append([]string{}, lines[i+1:]...)
		}
	}
	return nil
}

// Unknown values are empty, and names are read back as they were.
func TestBenchCSV(t *testing.T) {
	var out bytes.Buffer
	d := madeUpBench()
	if err := CSV(&out, d); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+len(d.Results) {
		t.Fatalf("%d rows", len(rows))
	}
	for i, want := range []map[string]string{
		{"name": "BenchmarkCopy/size=1|x,\"y\"", "revision": "v1.0", "basis": "timer", "estimate.value": "100", "cycles.value": "", "wait_share": "", "gomaxprocs": "8", "verdict": "trusted", "reasons": ""},
		{"estimate.hi": "202", "wall.value": "2000", "wait_share": "0.914", "corrected": "2"},
		{"name": "Benchmark<b>Ω</b>", "estimate.value": "-2", "reasons": "the repetitions contradict one another; a reason with a | in it"},
		{"name": "BenchmarkBroken", "estimate.value": "", "estimate.n": "0", "estimate.confidence": "0.95", "verdict": "unusable"},
	} {
		for k, column := range rows[0] {
			if value, ok := want[column]; ok {
				if rows[1+i][k] != value {
					t.Errorf("row %d, %s: %q, want %q", 1+i, column, rows[1+i][k], value)
				}
				delete(want, column)
			}
		}
		if len(want) > 0 {
			t.Errorf("row %d: no columns %v", 1+i, want)
		}
	}
}

// The reader of the Go benchmark format in golang.org/x/perf finds each repetition, with its keys
// and values. Rates are corrected in proportion to the time.
func TestGoBenchIsRead(t *testing.T) {
	var out bytes.Buffer
	if err := GoBench(&out, madeUpBench()); err != nil {
		t.Fatal(err)
	}
	type line struct {
		pkg, revision, name string
		iterations          int
		ns, mbs, frogs      float64
	}
	var got []line
	for reader := benchfmt.NewReader(bytes.NewReader(out.Bytes()), "made-up"); reader.Scan(); {
		switch r := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Errorf("%v", r)
		case *benchfmt.Result:
			l := line{pkg: r.GetConfig("pkg"), revision: r.GetConfig("revision"), name: r.Name.String(), iterations: r.Iters}
			l.ns, l.mbs, l.frogs = original(r, "ns/op"), original(r, "MB/s"), original(r, "frogs/op")
			if r.GetConfig("goos") != "linux" || r.GetConfig("goarch") != "amd64" || r.GetConfig("cpu") != "Made Up CPU" {
				t.Errorf("the keys are %v", r.Config)
			}
			got = append(got, l)
		}
	}
	copies := "Copy/size=1|x,\"y\"-8"
	want := []line{ // MB/s in proportion to the time: 500 * 100/99, 25 * 2000/198 ...
		{"example.com/a", "v1.0", copies, 1000, 99, 505.051, 3},
		{"example.com/a", "v1.0", copies, 1000, 101, 495.050, 3},
		{"example.com/a", "working-tree", copies, 1000, 198, 252.525, 0},
		{"example.com/a", "working-tree", copies, 1000, 202, 247.525, 0},
	}
	if len(got) < len(want) {
		t.Fatalf("%d lines were read from\n%s", len(got), &out)
	}
	for i, w := range want {
		g := got[i]
		if math.Abs(g.mbs-w.mbs) < 1e-3 {
			g.mbs = w.mbs
		}
		if g != w {
			t.Errorf("line %d: %+v, want %+v", i, g, w)
		}
	}
	for _, g := range got[len(want):] {
		t.Errorf("%+v is no time", g)
	}
}

// original returns a value as it was written, since the reader converts ns to seconds, and MB/s to
// B/s.
func original(r *benchfmt.Result, unit string) float64 {
	for _, v := range r.Values {
		if v.Unit == unit {
			return v.Value
		}
		if v.OrigUnit == unit {
			return v.OrigValue
		}
	}
	return 0
}

// brokenWriter is a writer that always fails.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestBenchWriteFails(t *testing.T) {
	if err := GoBench(brokenWriter{}, madeUpBench()); err == nil {
		t.Error("the Go benchmark format: a write that fails is not told")
	}
	if err := CSV(brokenWriter{}, madeUpBench()); err == nil {
		t.Error("CSV: a write that fails is not told")
	}
}
