package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chronoscope/machine"

	"github.com/google/go-cmp/cmp"
)

// firstVersion returns documents of the first version of the schema. Every later version must read
// them: files in the folder are never changed.
func firstVersion(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/v1/*.json")
	if err != nil || len(files) < 9 {
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

// A document of the first version loses nothing when it is read: each of its fields is in the
// document that is written again, with its value.
func TestFirstVersionIsRead(t *testing.T) {
	for name, data := range firstVersion(t) {
		d, err := Parse(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var before, after any
		if json.Unmarshal(data, &before) != nil || json.Unmarshal(again, &after) != nil {
			t.Fatalf("%s: it is no JSON", name)
		}
		for _, lost := range lostFields("", before, after) {
			t.Errorf("%s: %s", name, lost)
		}
	}
}

// lostFields lists the fields of one value that another value lacks.
func lostFields(at string, before, after any) []string {
	switch b := before.(type) {
	case map[string]any:
		a, _ := after.(map[string]any)
		var all []string
		for name, value := range b {
			all = append(all, lostFields(at+"."+name, value, a[name])...)
		}
		return all
	case []any:
		a, _ := after.([]any)
		if len(a) != len(b) {
			return []string{at + ": a list of another length"}
		}
		var all []string
		for i := range b {
			all = append(all, lostFields(at+"[]", b[i], a[i])...)
		}
		return all
	}
	if !cmp.Equal(before, after) {
		return []string{at + ": " + cmp.Diff(before, after)}
	}
	return nil
}

// edited returns the document of the first version with one replacement of a text.
func edited(t *testing.T, name, old, replacement string) []byte {
	t.Helper()
	data := firstVersion(t)[name]
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("%s does not hold %s", name, old)
	}
	return bytes.Replace(data, []byte(old), []byte(replacement), 1)
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ name, document, old, replacement, want string }{
		{"another program's", "clocks.json", `"chronoscope/v1"`, `"hourglass/v1"`, "not of this program"},
		{"a later schema", "clocks.json", `"chronoscope/v1"`, `"chronoscope/v2"`, "use the version that wrote it"},
		{"an unknown command", "clocks.json", `"clocks",`, `"sundial",`, "this version does not know"},
		{"no schema", "clocks.json", `"schema"`, `"form"`, "no schema"},
		{"NaN", "clocks.json", `"spread": 0.99`, `"spread": NaN`, "no JSON document"},
		{"infinity", "clocks.json", `"spread": 0.99`, `"spread": 1e999`, "not what it has to be"},
		{"a share above 1", "clocks.json", `"spread": 0.99`, `"spread": 1.01`, "clocks[0].spread"},
		{"a share below 0", "clocks.json", `"quality": 0.48`, `"quality": -0.48`, "no share"},
		{"a negative duration", "clocks.json", `"duration_ns": 1`, `"duration_ns": -1`, "duration_ns: -1"},
		{"a negative unit", "clocks.json", `"unit_ns": 0.385`, `"unit_ns": -0.385`, "-0.385 is negative"},
		{"a negative count", "clocks.json", `"discarded": 3`, `"discarded": -3`, "-3 left out"},
		{"an interval back to front", "clocks.json", `"lo": 9.5`, `"lo": 99.5`, "an interval from 99.5 to 10.5"},
		{"an unknown verdict", "clocks.json", `"verdict": "trusted"`, `"verdict": "fine"`, "none of"},
		{"no verdict", "clocks.json", `"verdict": "trusted"`, `"verdicts": "trusted"`, "none of"},
		{"an unknown kind", "clocks.json", `"kind": "counter"`, `"kind": "hourglass"`, "none of"},
		{"text for a number", "clocks.json", `"spread": 0.99`, `"spread": "wide"`, "not what it has to be"},
		{"a fraction for a count", "clocks.json", `"cpus": 2`, `"cpus": 2.5`, "not what it has to be"},
		{"no machine", "clocks.json", `"machine": {`, `"machinery": {`, "no machine"},
		{"no start", "clocks.json", `"started"`, `"begun"`, "no time"},
		{"a best clock that was not ranked", "clocks.json", `"wall": "`, `"wall": "no-`, "not among the clocks"},
		{"an outlier beyond the runs", "run.json", `"run": `, `"run": 99`, "an outlier"},
		{"a reach with one end", "validate.json", `"min_duration_ns": 1000000.0`, `"min_duration_ns": null`, "has one end"},
		{"a negative wall time", "run.json", `"wall_ns": `, `"wall_ns": -`, "wall_ns"},
		{"an unknown severity", "doctor.json", `"severity": "`, `"severity": "un`, "none of"},
	} {
		_, err := Parse(edited(t, c.document, c.old, c.replacement))
		var bad *MalformedError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want one that says %q", c.name, err, c.want)
		}
	}
}

// Valid JSON was said to be no JSON if it was a list, and text in UTF-16 to begin with an invalid character.
func TestReadRefusesOtherData(t *testing.T) {
	for data, want := range map[string]string{
		"[]": "it is JSON, but has no schema and command", `{"schema": 1, "command": "run"}`: "not of this program",
		"\xff\xfe{\x00}\x00": "-o FILE", "{": "no JSON document, or is cut short", "": "no JSON document, or is cut short",
	} {
		var bad *MalformedError
		if _, err := Parse([]byte(data)); !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want one that says %q", data, err, want)
		}
	}
}

// A document that is cut short at any place is refused.
func TestReadRefusesWhatIsCutShort(t *testing.T) {
	data := bytes.TrimSpace(firstVersion(t)["clocks.json"])
	for n := range data {
		if _, err := Parse(data[:n]); err == nil {
			t.Fatalf("the first %d bytes of %d were read", n, len(data))
		}
	}
}

// A document that would take far more memory than its size is refused before it is decoded.
func TestReadRefusesHugeDocuments(t *testing.T) {
	for name, data := range map[string][]byte{
		"list":  []byte(`{"schema":"chronoscope/v1","command":"run","results":[` + strings.Repeat("null,", mostElements+1) + `null]}`),
		"lists": []byte(`{"schema":"chronoscope/v1","command":"run","results":[` + strings.Repeat(`{"runs":[`+strings.Repeat("null,", 999)+`null]},`, mostElements/1000) + `null]}`),
		"depth": []byte(strings.Repeat("[", 100_000)),
	} {
		if _, err := Parse(data); err == nil || !strings.Contains(err.Error(), "as no record") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read(endless{}); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("without an end: %v", err)
	}
}

// endless is a reader of blanks.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// Commas and brackets in texts don't count as elements.
func TestExtentOfTexts(t *testing.T) {
	for text, want := range map[string]bool{
		`["` + strings.Repeat(`,[{`, mostElements) + `"]`:    true,
		`["\"` + strings.Repeat(`,[`, mostElements) + `\\"]`: true,
		`["\\",` + strings.Repeat(`[`, mostDepth) + `]`:      false,
		`["never closed`:  true, // the decoder reports this
		`["never closed\`: true,
	} {
		if err := CheckExtent([]byte(text)); (err == nil) != want {
			t.Errorf("%.20s...: %v", text, err)
		}
	}
}

// Fields that a later version may add don't cause errors.
func TestReadPassesOverUnknownFields(t *testing.T) {
	for name, data := range firstVersion(t) {
		more := bytes.Replace(data, []byte("{"), []byte(`{"phase_of_the_moon": {"value": [1, 2, -3]},`), 1)
		if _, err := Parse(more); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpenNamesTheFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.json")
	if _, err := Open(missing); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("missing: %v", err)
	}
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(bad); err == nil || !strings.Contains(err.Error(), bad) {
		t.Errorf("bad: %v", err)
	}
}

// smallDocuments returns a document for each command with one element in each list: a fuzzer is
// slow on large documents.
func smallDocuments(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/small/*.json")
	if err != nil || len(files) != len(Commands()) {
		t.Fatalf("%d documents of %d commands, %v", len(files), len(Commands()), err)
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

// There is a small document for each command, and it can be read.
func TestSmallDocumentsAreRead(t *testing.T) {
	for name, data := range smallDocuments(t) {
		if _, err := Parse(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A document that can be read can be written and read again, with the same content.
func FuzzRead(f *testing.F) {
	for _, data := range smallDocuments(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Parse(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatalf("what was read can't be written: %v", err)
		}
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("what was written can't be read: %v\n%s", err, text)
		}
		if second, err := json.Marshal(again); err != nil || !bytes.Equal(text, second) {
			t.Fatalf("%v\n%s\n%s", err, text, second)
		}
	})
}

// sample returns a small document.
func sample(command string, started time.Time) Document {
	h := Header{Schema: Schema, Command: command, Started: started, Machine: &machine.Machine{CPU: "Test CPU", CPUs: 1, OS: "linux", Arch: "amd64", Go: "go1.26"}, Caveats: []string{}}
	return Doctor{Header: h, Findings: []machine.Finding{}}
}
