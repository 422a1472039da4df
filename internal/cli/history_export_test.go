package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
)

// keepSeries keeps records of a benchmark that takes 100 ns, and from the middle on 130 ns.
func keepSeries(t *testing.T, folder string, records int) {
	t.Helper()
	for i := range records {
		level := 100.0
		if i >= records/2 {
			level = 130
		}
		keepBench(t, folder, i, benchOf("Encode", level+float64(i*7%5)/2))
	}
}

// benchOf returns a result of a benchmark in nanoseconds.
func benchOf(name string, ns float64) gobench.Report {
	none := stats.NoEstimate("ns", "median")
	return gobench.Report{Benchmark: gobench.Benchmark{Name: "Benchmark" + name, Package: "example"},
		Summary: gobench.Summary{Basis: "timer", Wall: none, CPU: none, Cycles: none,
			Estimate: stats.Estimate{Value: ns, Lo: ns - 1, Hi: ns + 1, Unit: "ns", Statistic: "median", N: 10},
			Metrics:  []gobench.Metric{{Unit: "allocs/op", Value: 3}}},
		Repetitions: []gobench.RepetitionReport{}, Runs: []gobench.RunReport{},
		Judgement: stats.NewJudgement()}
}

// keepBench keeps results as those of a day's commit.
func keepBench(t *testing.T, folder string, day int, results ...gobench.Report) {
	t.Helper()
	at := dayOf(day)
	keepBenchOf(t, folder, &record.Source{Commit: fmt.Sprintf("%08x%032x", 0xabc0000+day, day), Time: at, Subject: fmt.Sprintf("commit %d", day)}, at, results...)
}

func dayOf(day int) time.Time { return time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, day) }

// keepBenchOf keeps results as those of the given code, which were measured at a time.
func keepBenchOf(t *testing.T, folder string, source *record.Source, at time.Time, results ...gobench.Report) {
	t.Helper()
	keepDocument(t, folder, record.Bench{
		Header: record.Header{Schema: record.Schema, Command: "bench", Started: at, Caveats: []string{}, Source: source,
			Machine: &machine.Machine{CPU: "Example 9000", OS: "linux", Kernel: "6.12.8", Hypervisor: "none", Clocksource: "tsc", Arch: "amd64", Go: "go1.26.0"}},
		Results: append([]gobench.Report{}, results...), Pairs: []stats.Pair{},
	})
}

func keepDocument(t *testing.T, folder string, d record.Document) {
	t.Helper()
	text, err := record.Encode(d)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, record.NameFor(d.Head(), record.ArchiveIn(folder).Host)), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// runHere runs the command in this process.
func runHere(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, problems bytes.Buffer
	err := Run(t.Context(), args, Streams{Out: &out, Err: &problems})
	return out.String(), problems.String(), ExitStatus(err)
}

// DuckDB can read the exports: types, nulls and values are those of docs/history.md.
func TestHistoryExportInDuckDB(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(cache, "chronoscope-tests", "node_modules")
	folder := t.TempDir()
	keepSeries(t, folder, 40)
	for _, format := range []string{"parquet", "csv", "jsonl"} {
		file := filepath.Join(t.TempDir(), "history."+format)
		if _, problems, status := runHere(t, "history", "--store", folder, "--export", format+":"+file); status != 0 {
			t.Fatalf("status %d: %s", status, problems)
		}
		query := `SELECT name, quantity, count(*)::INT AS n, avg(value) AS mean, max(regime)::INT AS regimes, count(lo)::INT AS bounded,
			min(commit) AS first, epoch(min("time"))::BIGINT::VARCHAR AS since, any_value(cpu) AS cpu, bool_or(modified) AS modified FROM '` + file + `' GROUP BY ALL ORDER BY quantity`
		script := `const {DuckDBInstance} = require("@duckdb/node-api");
			(async () => {
				const c = await (await DuckDBInstance.create()).connect();
				const rows = await c.runAndReadAll(process.argv[1]);
				const types = await c.runAndReadAll("SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '" + process.argv[2] + "')");
				console.log(JSON.stringify({rows: rows.getRowObjectsJson(), types: Object.fromEntries(types.getRowsJson())}));
			})().catch((e) => { console.error(e); process.exit(1); });`
		command := exec.Command("node", "-e", script, query, file)
		command.Env = append(os.Environ(), "NODE_PATH="+modules)
		command.Stderr = os.Stderr
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%s: DuckDB from npm: %v: run .ci/needs", format, err)
		}
		var got struct {
			Rows []struct {
				Name, Quantity, First, Since, CPU string
				N, Regimes, Bounded               int
				Mean                              float64
				Modified                          bool
			}
			Types map[string]string
		}
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s: %v: %s", format, err, out)
		}
		if len(got.Rows) != 2 {
			t.Fatalf("%s: %s", format, out)
		}
		allocations, times := got.Rows[0], got.Rows[1]
		if allocations.Quantity != "allocs/op" || allocations.N != 40 || allocations.Mean != 3 || allocations.Bounded != 0 || allocations.Regimes != 0 {
			t.Errorf("%s: %+v", format, allocations)
		}
		// These are the mean of 100 and 130, and of 0, 0.5 ... 2.
		if times.Name != "example.Encode" || times.N != 40 || math.Abs(times.Mean-116) > 1e-9 || times.Regimes != 1 || times.Bounded != 40 ||
			times.Since != "1788264000" || times.CPU != "Example 9000" || times.Modified || !strings.HasPrefix(times.First, "0abc0000") {
			t.Errorf("%s: %+v", format, times)
		}
		if format == "parquet" {
			for column, want := range map[string]string{"record": "VARCHAR", "time": "TIMESTAMP WITH TIME ZONE", "commit": "VARCHAR", "modified": "BOOLEAN", "value": "DOUBLE", "lo": "DOUBLE", "regime": "INTEGER"} {
				if got.Types[column] != want {
					t.Errorf("column %s is %s, want %s", column, got.Types[column], want)
				}
			}
			if len(got.Types) != 24 {
				t.Errorf("%d columns, want 24", len(got.Types))
			}
		}
	}
}
