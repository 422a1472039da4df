package render

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"chronoscope/stats"
)

// A backtick in a command ended its code span, and what followed was HTML in the page. The spans are as in section 6.1 of
// CommonMark 0.31.2.
func TestMarkdownOfBackticks(t *testing.T) {
	for command, want := range map[string]string{
		"a b":                  "| `a b` |",
		"echo `date` <i>x</i>": "| ``echo `date` <i>x</i>`` |",
		"`date`":               "| `` `date` `` |",
		"a ``b`` `c`":          "| ``` a ``b`` `c` ``` |",
	} {
		d := programs()
		d.Results[0].Command = command
		var out bytes.Buffer
		if err := Markdown(&out, d); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// A command that failed at once had no row, as if nobody had asked for it. hyperfine's own tables have no place for its verdict.
func TestMarkdownHasARowForAFailedCommand(t *testing.T) {
	d := programs()
	d.Results[0].Runs, d.Results[0].Verdict = nil, stats.Unusable
	var out, theirs bytes.Buffer
	if err := errors.Join(Markdown(&out, d), AsciiDoc(&theirs, d)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if want := "| `work --size 1` | ? | ? | ? | ? | ? | ? | ? | unusable |"; len(lines) != 5 || lines[2] != want || !strings.HasPrefix(lines[3], "| `work\\|more` | ") {
		t.Errorf("no %q in\n%s", want, &out)
	}
	if strings.Contains(theirs.String(), "work --size 1") {
		t.Errorf("%s", &theirs)
	}
}
