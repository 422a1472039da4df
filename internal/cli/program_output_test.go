package cli

import (
	"io"
	"strings"
	"testing"

	"chronoscope/process"
	"chronoscope/program"
	"chronoscope/render"
)

// connectedTo returns a command with others before and after it, which writes to what the flag says, and the two streams.
func connectedTo(t *testing.T, output string, s settings) (c program.Command, out, problems *strings.Builder) {
	t.Helper()
	out, problems = &strings.Builder{}, &strings.Builder{}
	e := &programExperiment{flags: &programFlags{output: output}, call: &call{settings: s, streams: Streams{Out: out, Err: problems}}}
	connected, err := e.connect([]program.Command{{Prepare: &process.Command{}, Conclude: &process.Command{}}}, "null")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connected.close() })
	return connected.commands[0], out, problems
}

// If the output of a program is shown, so is that of what runs before and after it: when it failed, the advice to show the output
// hid it. It goes to standard error, apart from the program's own.
func TestOutputBesideAProgram(t *testing.T) {
	c, out, problems := connectedTo(t, "inherit", settings{format: render.TextFormat})
	for _, w := range []io.Writer{c.Stdout, c.Prepare.Stdout, c.Prepare.Stderr, c.Conclude.Stdout, c.Conclude.Stderr} {
		if w == nil {
			t.Fatalf("it goes nowhere: %+v, %+v", c.Prepare, c.Conclude)
		}
		io.WriteString(w, "said\n")
	}
	if out.String() != "said\n" || strings.Count(problems.String(), "said\n") != 4 {
		t.Errorf("%q, %q", out, problems)
	}
	for _, output := range []string{"", "pipe"} {
		if c, _, _ := connectedTo(t, output, settings{}); c.Prepare.Stdout != nil || c.Prepare.Stderr != c.Stderr {
			t.Errorf("%q: %+v", output, c.Prepare)
		}
	}
}

// A JSON document on standard output was mixed with what the program wrote. In a file of its own it is not.
func TestDocumentHasStandardOutputForItself(t *testing.T) {
	for _, c := range []struct {
		settings
		out string
	}{{settings{format: render.JSONFormat}, ""}, {settings{format: render.CSVFormat}, ""}, {settings{format: render.JSONFormat, output: "x.json"}, "said"}, {settings{format: render.TextFormat}, "said"}} {
		command, out, problems := connectedTo(t, "inherit", c.settings)
		io.WriteString(command.Stdout, "said")
		if out.String() != c.out || out.String()+problems.String() != "said" {
			t.Errorf("%+v: %q, and %q on standard error", c.settings, out, problems)
		}
	}
}
