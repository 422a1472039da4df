package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chronoscope/machine"
	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/render"
	"chronoscope/stats"
	"chronoscope/view"
)

// documents returns the documents in a folder of package record's testdata; v1 holds documents of
// the first version of the schema.
func documents(t testing.TB, folder string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../record/testdata", folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	all := map[string][]byte{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(file)] = data
	}
	return all
}

// Documents of the first version can be shown in every format by every later version.
func TestFirstVersionIsShown(t *testing.T) {
	for name, data := range documents(t, "v1") {
		d, err := record.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range []render.Format{render.TextFormat, render.JSONFormat, render.CSVFormat} {
			if _, isCard := d.(record.Card); isCard && format == render.CSVFormat {
				continue
			}
			var b bytes.Buffer
			if err := render.Write(&b, format, d, render.Style{}); err != nil || b.Len() < 100 {
				t.Errorf("%s as %s: %d bytes, %v", name, format, b.Len(), err)
			}
		}
	}
}

// Each document that can be read can be shown.
func TestEveryDocumentIsShown(t *testing.T) {
	for _, command := range record.Commands() {
		if !view.Tabular(command) && command != "" {
			t.Errorf("those of %q are not", command)
		}
	}
}

// The labels of two machines' records differ, by whichever of its names a record was called.
func TestLabels(t *testing.T) {
	const kept = "20261121T041236.467507470Z-ada-doctor-0123456789ab"
	d := record.Doctor{Header: record.Header{Started: time.Date(2026, 11, 21, 4, 12, 36, 0, time.UTC)}}
	for name, want := range map[string]string{
		kept: "20261121T041236 ada", kept + ".json": "20261121T041236 ada", "results/" + kept + ".json": "20261121T041236 ada",
		"latest": "20261121T041236", "old/before.json": "before", "paper:MBP53": "MBP53",
	} {
		if got := labelOf(filepath.FromSlash(name), d); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Names from outside can't control the terminal. Escape sequences in names once reached it through
// errors, and a command with a line feed in its name forged a row of the table.
func TestNothingFromOutsideSteersTheTerminal(t *testing.T) {
	var out, err bytes.Buffer
	name := "no\x1b[8msuch\u202efile\x9b"
	if e := Run(t.Context(), []string{"records", "show", "--folder", t.TempDir(), name}, Streams{&out, &err}); ExitStatus(e) != 1 {
		t.Errorf("it ended with %v", e)
	}
	if e := Run(t.Context(), []string{"compare", name, name}, Streams{&out, &err}); ExitStatus(e) != 1 {
		t.Errorf("it ended with %v", e)
	}
	forged := "true\x1b[8m\n \x1b[32mtrusted"
	d := record.Programs{Header: record.Header{Command: "run", Machine: &machine.Machine{}}, Results: []program.Report{{Command: forged, Judgement: stats.Judgement{Verdict: stats.Suspect, Reasons: []string{forged}}}}}
	if e := render.Write(&out, render.TextFormat, d, render.Style{Color: true}); e != nil {
		t.Fatal(e)
	}
	shown := out.String() + err.String()
	if strings.ContainsAny(shown, "\u202e\u009b") || strings.Contains(shown, "\x1b[8m") || strings.Contains(shown, "\x1b[32mtrusted") || strings.Contains(shown, "\n trusted") {
		t.Errorf("%q", shown)
	}
	if !strings.Contains(shown, "true\uFFFD[8m␤ \uFFFD[32mtrusted") {
		t.Errorf("the name is not shown: %q", shown)
	}
}

// Whatever can be read can be shown: nothing in a record makes the command panic, or sends the
// terminal a character that could control it.
func FuzzShow(f *testing.F) {
	for _, data := range documents(f, "small") {
		f.Add(data)
	}
	f.Add([]byte(`{"schema": "chronoscope/v1", "command": "bench", "started": "2026-11-21T04:12:36Z", "machine": {}, "results": [{"name": "BenchmarkX", "verdict": "suspect",
		"calls": {"verdict": "suspect", "all": {"percentiles": []}, "on_cpu": {"percentiles": [{"value": 5, "statistic": "p75", "unit": "ns", "n": 9}]}}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := record.Parse(data)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := render.Write(&b, render.TextFormat, d, render.Style{}); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexAny(b.String(), "\x1b\x07\r\b"); i >= 0 {
			t.Fatalf("%q", b.String()[i:min(i+20, b.Len())])
		}
		if _, isCard := d.(record.Card); isCard {
			return
		}
		if err := render.Write(&b, render.CSVFormat, d, render.Style{}); err != nil {
			t.Fatal(err)
		}
	})
}
