package cli

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/render"
)

// If a figure, a page or an export can't be written at the end, since its folder was removed or the
// disk is full, the result is still printed. It was once lost after minutes of measuring.
func TestResultSurvivesAnExportThatFails(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	figure, page := filepath.Join(gone, "a.svg"), filepath.Join(gone, "a.html")
	header := func(command string) record.Header { return record.NewHeader(command, machine.Identify(), 1) }
	for name, write := range map[string]func(*bytes.Buffer) error{
		"figure": func(out *bytes.Buffer) error {
			set := settings{format: render.JSONFormat, plot: figure}
			return set.write(out, found{document: record.Validation{Header: header("validate")}})
		},
		"page": func(out *bytes.Buffer) error {
			set := settings{format: render.JSONFormat, html: page}
			return set.write(out, found{document: record.Bytecode{Header: header("bytecode")}})
		},
		"export": func(out *bytes.Buffer) error {
			set := settings{format: render.JSONFormat, exports: []export{{"chrome-trace", figure}}}
			return set.write(out, found{document: record.Activity{Header: header("activity")}, exports: map[string]func(io.Writer) error{
				"chrome-trace": func(w io.Writer) error { return render.ChromeTrace(w, nil) },
			}})
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
