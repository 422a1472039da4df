package cli

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chronoscope/record"
	"chronoscope/render"
)

var updateShown = flag.Bool("update-shown", false, "write what is shown of each document to testdata/shown")

// Each kind of document is shown as recorded in testdata: JSON, CSV and other tools' formats, which
// scripts read, must not change at all, and text is as it was last reviewed.
func TestShownDocuments(t *testing.T) {
	for _, folder := range []string{"../../record/testdata/v1", "../../record/testdata/small", "testdata/documents"} {
		files, err := filepath.Glob(folder + "/*.json")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d documents: %v", folder, len(files), err)
		}
		for _, file := range files {
			name := filepath.Base(folder) + "-" + strings.TrimSuffix(filepath.Base(file), ".json")
			t.Run(name, func(t *testing.T) { checkShown(t, file, filepath.Join("testdata", "shown", name)) })
		}
	}
}

func checkShown(t *testing.T, file, golden string) {
	t.Helper()
	d, err := record.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	compareShown(t, golden+".txt", shownAs(t, file, "text"))
	compareShown(t, golden+".json", shownAs(t, file, "json"))
	compareShown(t, golden+".json", shownAs(t, golden+".json", "json")) // reading and writing reproduces the document exactly
	if d.Head().Command != "" {                                         // the report card has no table
		compareShown(t, golden+".csv", shownAs(t, file, "csv"))
	}
	for format, export := range render.Exports(d) {
		var b bytes.Buffer
		if err := export(&b); err != nil {
			t.Fatal(err)
		}
		if format == "csv" { // which is also a form of the document itself
			format = "exported.csv"
		}
		compareShown(t, golden+"."+format, b.String())
	}
}

// shownAs returns what the command writes for a record.
func shownAs(t *testing.T, file, format string) string {
	t.Helper()
	var out bytes.Buffer
	if err := Run(t.Context(), []string{"records", "show", file, "--format", format}, Streams{Out: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func compareShown(t *testing.T, golden, got string) {
	t.Helper()
	if *updateShown {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs: -update-shown writes it anew, if it is to be so\n%s", golden, firstDifference(got, string(want)))
	}
}

// firstDifference returns the first line that differs.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return "got  " + a[i] + "\nwant " + b[i]
		}
	}
	return "one is longer than the other"
}
