package cli

import (
	"bytes"
	"strings"
	"testing"
)

// The bar stays on one line, also in a narrow terminal and after its window became narrower: each new line would scroll the
// user's earlier output away. At the end nothing is left on it.
func TestProgressStaysOnItsLine(t *testing.T) {
	var shown bytes.Buffer
	p := &progress{to: &shown}
	for _, width := range []int{120, 80, 25, 20, 2, 1, 40, 120} {
		for _, doing := range []string{"sleep 0.05: 50.7 ms -1.5 +0.8 ms, run 36", "時計: " + strings.Repeat("計", 60), "x"} {
			shown.Reset()
			before := p.line
			p.draw(0.4, doing, width)
			after := shown.String()
			if n := columnsOf(strings.TrimPrefix(after, "\r")); n > width-1 || n < min(columnsOf(before), width-1) || strings.Count(after, "\r") != 1 || strings.Contains(after, "\n") {
				t.Errorf("%d columns for %q in a terminal of %d, after one of %d", n, after, width, columnsOf(before))
			}
		}
	}
	shown.Reset()
	if p.end(); shown.String() != "\r"+strings.Repeat(" ", 34)+"\r" {
		t.Errorf("%q at the end", shown.String())
	}
	shown.Reset()
	if p.end(); shown.Len() > 0 {
		t.Errorf("%q after the end", shown.String())
	}
}

func TestProgressLine(t *testing.T) {
	for width, want := range map[int]string{
		80: "\r 50% |████████████            |  sleep 0.05: run 36",
		40: "\r 50% |████████████            |  sleep ",
		10: "\r 50% |███",
	} {
		var shown bytes.Buffer
		if (&progress{to: &shown}).draw(0.5, "sleep 0.05: run 36", width); shown.String() != want {
			t.Errorf("%d columns: %q, want %q", width, shown.String(), want)
		}
	}
}
