package cli

import (
	"bytes"
	"path/filepath"
	"testing"

	"chronoscope/activity"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/render"
)

// A figure, a page or an export that can't be written at the end, since its folder has gone
// or its disk is full, lost what had taken minutes to measure.
func TestResultSurvivesAnExportThatFails(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	figure, page := filepath.Join(gone, "a.svg"), filepath.Join(gone, "a.html")
	header := func(command string) record.Header { return record.NewHeader(command, machine.Identify(), 1) }
	for name, write := range map[string]func(*bytes.Buffer) error{
		"figure": func(out *bytes.Buffer) error {
			set := settings{format: render.JSONFormat, plot: figure}
			return set.show(out, record.Validation{Header: header("validate")})
		},
		"page": func(out *bytes.Buffer) error {
			set := settings{format: render.JSONFormat, html: page}
			return set.show(out, record.Bytecode{Header: header("bytecode")})
		},
		"export": func(out *bytes.Buffer) error {
			f := &traceFlags{export: "chrome-trace:" + figure}
			return f.write(record.Activity{Header: header("activity")}, []*activity.Trace{}, nil, settings{format: render.JSONFormat}, out)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := write(&out); err == nil {
				t.Error("no error, though the folder is not there")
			}
			if !bytes.Contains(out.Bytes(), []byte(`"schema"`)) {
				t.Errorf("the result is lost: %q", out.Bytes())
			}
		})
	}
}
