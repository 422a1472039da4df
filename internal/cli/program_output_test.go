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
