package render

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
)

// GoBenchPrograms writes programs in the Go benchmark format, as benchstat reads it: one line for
// each run that counts, with the time without other programs as ns/op, and the measured times next
// to it. The name contains the command and its parameters, so that benchstat -col /n shows the
// values of a parameter n side by side.
func GoBenchPrograms(w io.Writer, d record.Programs) error {
	out := bufio.NewWriter(w)
	goBenchHeader(out, d.Header)
	seen := map[string]int{}
	for _, p := range d.Results {
		name := benchmarkName(p)
		seen[name]++
		if n := seen[name]; n > 1 { // numbered as package testing does
			name = fmt.Sprintf("%s#%02d", name, n-1)
		}
		for _, r := range p.Runs {
			if r.Rejected || !r.LowNs.Known() || !r.HighNs.Known() {
				continue
			}
			fmt.Fprintf(out, "%s\t1\t%s ns/op\t%s wall-ns/op\t%s cpu-ns/op", name,
				stats.Significant((r.LowNs.Value()+r.HighNs.Value())/2, 6), stats.Significant(r.WallNs, 6), stats.Significant(r.UserNs+r.SystemNs, 6))
			if r.RunqueueWaitNs.Known() {
				fmt.Fprintf(out, "\t%s wait-ns/op", stats.Significant(r.RunqueueWaitNs.Value(), 6))
			}
			if r.MaxRSSBytes != nil {
				fmt.Fprintf(out, "\t%d peak-RSS-bytes", *r.MaxRSSBytes)
			}
			for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
				if x := r.Metrics[name]; x.Known() {
					fmt.Fprintf(out, "\t%s %s", stats.Significant(x.Value(), 6), name)
				}
			}
			fmt.Fprintln(out)
		}
	}
	return out.Flush()
}

// benchmarkName returns a command in the form of a benchmark's name: one word, with slashes between
// its parts.
func benchmarkName(p program.Report) string {
	name := "BenchmarkRun/command=" + oneWord(p.Command)
	for _, parameter := range slices.Sorted(maps.Keys(p.Parameters)) {
		name += "/" + parameter + "=" + oneWord(p.Parameters[parameter])
	}
	return name
}

// oneWord replaces each character that would end a word or a part of a name by an underscore.
func oneWord(t string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, t)
}
