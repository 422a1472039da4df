package render

import (
	"strings"
	"testing"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/view"
)

// Both tables are shown with each timer, and the two values that the paper misprints are marked.
func TestKuperbergClocks(t *testing.T) {
	var b strings.Builder
	Text(&b, view.KuperbergClocks(record.Clocks{Header: record.Header{Machine: &machine.Machine{}}}), Style{})
	for _, want := range []string{"Table 1", "Table 2", "MBP53", "MBP62", "SAMSa", "SAMSb", "54.08 %*", "41.44 %*", "30.25 %"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is missing:\n%s", want, b.String())
		}
	}
	if n := strings.Count(b.String(), " %*"); n != 2 {
		t.Errorf("%d slips are marked, want 2", n)
	}
	for _, timer := range record.PublishedTimers {
		if n := strings.Count(b.String(), "\n"+timer.Short+" ") + strings.Count(b.String(), "\n  "+timer.Short+" "); n != 3 { // one row in each table, and one in the legend
			t.Errorf("%s starts %d lines", timer.Short, n)
		}
	}
}
