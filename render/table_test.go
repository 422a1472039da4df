package render

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"chronoscope/stats"
	"chronoscope/view"
)

// A line of a cell ends between words, and within a word only where the word itself has a break.
func TestCellsAreWrappedAtBreaks(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 16, []string{""}},
		{"in the vDSO", 16, []string{"in the vDSO"}},
		{"clock_gettime(CLOCK_MONOTONIC) in the vDSO", 16, []string{"clock_gettime(", "CLOCK_MONOTONIC)", "in the vDSO"}},
		{"clock_gettime(CLOCK_THREAD_CPUTIME_ID), system call", 16, []string{"clock_gettime(", "CLOCK_THREAD_", "CPUTIME_ID),", "system call"}},
		{"java/System.currentTimeMillis (CTM)", 16, []string{"java/System.", "currentTime", "Millis (CTM)"}},
		{"known to 1.25 % instead", 8, []string{"known to", "1.25 %", "instead"}}, // a number stays whole
		{strings.Repeat("x", 20), 16, []string{strings.Repeat("x", 16), "xxxx"}},
		{"日本語日本語日本語", 8, []string{"日本語日", "本語日本", "語"}}, // each takes two columns
		{"two\nlines", 16, []string{"two", "lines"}},
	} {
		if got := wrapCell(c.text, c.width); !slices.Equal(got, c.want) {
			t.Errorf("%q at %d:\ngot  %q\nwant %q", c.text, c.width, got, c.want)
		}
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// A table that is too wide for the terminal becomes narrower, of numbers too; its groups keep their indent and their
// names, and colours do not shift columns.
func TestTablesFitTheTerminal(t *testing.T) {
	table := &view.Table{Grouped: true, Columns: []view.Column{{Name: "package"}, {Name: "benchmark"}, {Name: "best", Number: true}, {Name: "verdict"}}}
	for _, name := range []string{"Fast", "Sorting/size=100000/random-order"} {
		table.Rows = append(table.Rows, []view.Cell{
			{Text: "example.com/a/long/path/of/a/package"}, {Text: name, Strong: true}, {Text: "java/System.nanoTime 27.27 %"}, {Verdict: stats.Trusted},
		})
	}
	for width, want := range map[int]string{0: `benchmark                                                     best  verdict
example.com/a/long/path/of/a/package
  Fast                                java/System.nanoTime 27.27 %  trusted
  Sorting/size=100000/random-order    java/System.nanoTime 27.27 %  trusted
`, 45: `benchmark                     best  verdict
example.com/a/long/path/of/a/package
  Fast                java/System.  trusted
                  nanoTime 27.27 %
  Sorting/            java/System.  trusted
  size=100000/    nanoTime 27.27 %
  random-order
`} {
		if got := (Style{Width: width}).table(table); got != want {
			t.Errorf("at %d:\n%s\nwant\n%s", width, got, want)
		}
		if got := escapes.ReplaceAllString(Style{Width: width, Color: true}.table(table), ""); got != want {
			t.Errorf("in colours at %d:\n%s\nwant\n%s", width, got, want)
		}
	}
}
