package cli

import (
	"bytes"
	"path/filepath"
	"testing"

	"chronoscope/activity"
	"chronoscope/fidelity"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/report"
	"chronoscope/validate"
)

// A figure, a page or an export that can't be written at the end, since its folder has gone
// or its disk is full, lost what had taken minutes to measure.
func TestResultSurvivesAnExportThatFails(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	figure, page := filepath.Join(gone, "a.svg"), filepath.Join(gone, "a.html")
	header := func(command string) record.Header { return record.NewHeader(command, machine.Identify(), 1) }
	set := settings{format: report.JSON}
	for name, write := range map[string]func(Streams) error{
		"validate": func(s Streams) error {
			f := &validateFlags{plot: figure}
			return f.write(record.Validation{Header: header("validate")}, &validate.Report{}, set, s)
		},
		"fidelity": func(s Streams) error {
			f := &fidelityFlags{plot: figure}
			return f.write(record.Fidelity{Header: header("fidelity"), Trust: record.NewTrust(nil, nil, true)}, []fidelity.Result{}, set, s)
		},
		"bytecode, figure": func(s Streams) error {
			f := &bytecodeFlags{plot: figure}
			return f.write(record.Bytecode{Header: header("bytecode")}, set, s)
		},
		"bytecode, page": func(s Streams) error {
			f := &bytecodeFlags{page: page}
			return f.write(record.Bytecode{Header: header("bytecode")}, set, s)
		},
		"activity, figure": func(s Streams) error {
			f := &traceFlags{plot: figure}
			return f.write(record.Activity{Header: header("activity")}, []*activity.Trace{}, nil, set, s)
		},
		"activity, export": func(s Streams) error {
			f := &traceFlags{export: "chrome-trace:" + figure}
			return f.write(record.Activity{Header: header("activity")}, []*activity.Trace{}, nil, set, s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := write(Streams{Out: &out}); err == nil {
				t.Error("no error, though the folder is not there")
			}
			if !bytes.Contains(out.Bytes(), []byte(`"schema"`)) {
				t.Errorf("the result is lost: %q", out.Bytes())
			}
		})
	}
}
