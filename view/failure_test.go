package view

import (
	"testing"

	"chronoscope/program"
	"chronoscope/stats"
)

// The way in which a command failed is said only once: in the verdict, or on a line of its own.
func TestFailureIsSaidOnce(t *testing.T) {
	how := "the command: exit status 1"
	for want, reasons := range [][]string{{"false failed: exit status 1: look at its output"}, {"its runs differ"}} {
		p := program.Report{Failure: &how, Judgement: stats.Judgement{Reasons: reasons}}
		if lines := failureLines(p); len(lines) != want {
			t.Errorf("%q: %+v", reasons, lines)
		}
	}
}
