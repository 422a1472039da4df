package render

import (
	"bytes"
	"strings"
	"testing"
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
