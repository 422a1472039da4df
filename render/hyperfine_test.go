package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
)

// byHyperfine returns the files that hyperfine itself writes for a few commands: one with a
// parameter, one that fails, one that runs once.
func byHyperfine(t *testing.T, args ...string) (exported []byte, table string) {
	t.Helper()
	return byHyperfineAs(t, "markdown", args...)
}

// byHyperfineAs returns its JSON and its file of another format.
func byHyperfineAs(t *testing.T, format string, args ...string) (exported []byte, table string) {
	t.Helper()
	path, err := exec.LookPath("hyperfine")
	if err != nil {
		t.Skip("hyperfine is not there to compare with: apt-get install hyperfine")
	}
	times, markdown := filepath.Join(t.TempDir(), "times.json"), filepath.Join(t.TempDir(), "table")
	args = append([]string{"-N", "--style", "none", "--ignore-failure", "--export-json", times, "--export-" + format, markdown}, args...)
	if output, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	exported, err = os.ReadFile(times)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(markdown)
	if err != nil {
		t.Fatal(err)
	}
	return exported, string(text)
}

// asMeasured returns a document of the same runs.
func asMeasured(t *testing.T, exported []byte) record.Programs {
	t.Helper()
	var file struct {
		Results []struct {
			Command      string
			User, System float64
			Times        []float64
			ExitCodes    []*int `json:"exit_codes"`
			Parameters   map[string]string
		}
	}
	if err := json.Unmarshal(exported, &file); err != nil {
		t.Fatal(err)
	}
	var d record.Programs
	for _, r := range file.Results {
		p := program.Report{Command: r.Command, Parameters: r.Parameters, Judgement: stats.Judgement{Verdict: stats.Trusted}}
		p.Estimate.Value, p.CPU.Value = math.NaN(), math.NaN()
		for i, seconds := range r.Times {
			p.Runs = append(p.Runs, program.RunReport{WallNs: seconds * 1e9, UserNs: r.User * 1e9, SystemNs: r.System * 1e9, ExitCode: r.ExitCodes[i]})
		}
		d.Results = append(d.Results, p)
	}
	return d
}

// typesOf lists the keys of a JSON value with the types of their values.
func typesOf(at string, value any, into map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		for key, element := range v {
			typesOf(at+"."+key, element, into)
		}
	case []any:
		for i, element := range v {
			typesOf(fmt.Sprintf("%s[%d]", at, i), element, into)
		}
	}
	into[at] = fmt.Sprintf("%T", value)
}

// The same runs give the same file: keys, types and figures are equal to hyperfine's.
func TestHyperfineWritesTheSame(t *testing.T) {
	for name, args := range map[string][]string{
		"parameters": {"-r", "4", "-L", "n", "a,b", "true {n}", "true {n} {n}"},
		"failing":    {"-r", "3", "false", "sh -c 'kill -9 $$'"},
		"once":       {"-r", "1", "true"},
	} {
		exported, _ := byHyperfine(t, args...)
		var ours bytes.Buffer
		if err := Hyperfine(&ours, asMeasured(t, exported)); err != nil {
			t.Fatal(err)
		}
		var got, want any
		if err := json.Unmarshal(ours.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(exported, &want); err != nil {
			t.Fatal(err)
		}
		gotTypes, wantTypes := map[string]string{}, map[string]string{}
		typesOf("file", got, gotTypes)
		typesOf("file", want, wantTypes)
		if !maps.Equal(gotTypes, wantTypes) {
			t.Errorf("%s: keys and types are\n%v\nhyperfine's are\n%v", name, gotTypes, wantTypes)
			continue
		}
		for i, r := range want.(map[string]any)["results"].([]any) {
			theirs, mine := r.(map[string]any), got.(map[string]any)["results"].([]any)[i].(map[string]any)
			for _, key := range []string{"mean", "stddev", "median", "user", "system", "min", "max"} {
				a, _ := theirs[key].(float64)
				b, _ := mine[key].(float64)
				if math.Abs(a-b) > 1e-9*math.Abs(a)+1e-15 {
					t.Errorf("%s: %s of %s is %v, hyperfine says %v", name, key, theirs["command"], mine[key], theirs[key])
				}
			}
			if fmt.Sprint(theirs["exit_codes"], theirs["parameters"], theirs["command"]) != fmt.Sprint(mine["exit_codes"], mine["parameters"], mine["command"]) {
				t.Errorf("%s: %v, hyperfine says %v", name, mine, theirs)
			}
		}
	}
}

// The columns that this table shares with hyperfine's are equal to hyperfine's, cell by cell.
func TestMarkdownHasTheSameColumns(t *testing.T) {
	exported, table := byHyperfine(t, "-r", "5", "sleep 0.01", "sleep 0.03", "true")
	var ours bytes.Buffer
	if err := Markdown(&ours, asMeasured(t, exported)); err != nil {
		t.Fatal(err)
	}
	got, want := cellsOf(ours.String()), cellsOf(table)
	if len(got) != len(want) {
		t.Fatalf("%d lines, hyperfine writes %d:\n%s\n%s", len(got), len(want), &ours, table)
	}
	for i, row := range want {
		if len(got[i]) != len(row)+4 || !slices.Equal(got[i][:len(row)], row) {
			t.Errorf("%q, hyperfine writes %q", got[i], row)
		}
	}
}

// The same runs give the same tables, byte for byte.
func TestTablesAreHyperfines(t *testing.T) {
	for format, write := range map[string]func(io.Writer, record.Programs) error{"asciidoc": AsciiDoc, "orgmode": OrgMode} {
		for unit, args := range map[record.TimeUnit][]string{
			"": {"-r", "4", "sleep 0.01", "sleep 0.02", "echo a|b"}, record.Millisecond: {"-r", "1", "sleep 1", "-u", "millisecond"}, record.Second: {"-r", "3", "true", "-u", "second"},
		} {
			exported, want := byHyperfineAs(t, format, args...)
			d := asMeasured(t, exported)
			d.TimeUnit = unit
			var ours bytes.Buffer
			if err := write(&ours, d); err != nil {
				t.Fatal(err)
			}
			if ours.String() != want {
				t.Errorf("%s %q:\n%s\nhyperfine writes\n%s", format, unit, &ours, want)
			}
		}
	}
}

// The columns are hyperfine's, and the figures but for their last digits.
func TestCSVIsHyperfines(t *testing.T) {
	exported, table := byHyperfineAs(t, "csv", "-r", "4", "-L", "n", "a,b c", "true {n}", "sleep 0.01")
	var ours bytes.Buffer
	if err := HyperfineCSV(&ours, asMeasured(t, exported)); err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(&ours).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) || len(want) != 5 {
		t.Fatalf("%q, hyperfine writes %q", got, want)
	}
	for i, row := range want {
		for j, cell := range row {
			a, err := strconv.ParseFloat(cell, 64)
			b, _ := strconv.ParseFloat(got[i][j], 64)
			if cell != got[i][j] && (err != nil || math.Abs(a-b) > 1e-9*a) {
				t.Errorf("row %d: %q, hyperfine writes %q", i, got[i], row)
			}
		}
	}
}

// cellsOf returns the cells of each line of a table.
func cellsOf(table string) (rows [][]string) {
	for line := range strings.SplitSeq(strings.TrimSpace(table), "\n") {
		var row []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			row = append(row, strings.TrimSpace(cell))
		}
		rows = append(rows, row)
	}
	return rows
}

// Runs that don't count, such as a traced one, are in no exported times.
func TestExportsLeaveOutWhatDoesNotCount(t *testing.T) {
	d := programs()
	d.Results = append(d.Results,
		program.Report{Command: "never", Judgement: stats.Judgement{Verdict: stats.Unusable}},
		program.Report{Command: "never counted", Judgement: stats.Judgement{Verdict: stats.Unusable}, Runs: []program.RunReport{{WallNs: 1e9, Rejected: true}}})
	var out bytes.Buffer
	if err := Hyperfine(&out, d); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "0.9") || strings.Contains(out.String(), "never") || strings.Count(out.String(), "0.14,")+strings.Count(out.String(), "0.14\n") != 4 {
		t.Errorf("%s", &out)
	}
	out.Reset()
	if err := Markdown(&out, d); err != nil {
		t.Fatal(err)
	}
	if want := "| `work\\|more` | 111.5 ± 19.0 | 101.0 | 140.0 | 1.00 ± 0.24 | 49.000 ± 9.000 | 91.0 | 3.0 | suspect |"; !strings.Contains(out.String(), want) || strings.Count(out.String(), " | ? | ? | ? | ? | ? | ? | ? | unusable |") != 2 {
		t.Errorf("no %q in\n%s", want, &out)
	}
}
