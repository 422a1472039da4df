package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"

	"chronoscope/gobench"
	"chronoscope/record"
	"chronoscope/stats"
)

// GoBench writes benchmarks in the Go benchmark format, as benchstat reads it
// (golang.org/design/14313-benchmark-format): one line for each repetition, with the corrected time
// as ns/op and the benchmark's other metrics. Results of two revisions differ in the key revision:
// benchstat -col revision shows them side by side.
//
// A repetition whose time, a difference of two runs, is not positive is left out: its benchmark is
// unusable. Rates that the benchmark computes with its own timer, such as MB/s, are corrected in
// proportion to the time.
func GoBench(w io.Writer, d record.Bench) error {
	out := bufio.NewWriter(w)
	goBenchHeader(out, d.Header)
	var at struct{ pkg, revision string }
	for i, b := range d.Results {
		if i == 0 || at.pkg != b.Package {
			at.pkg = b.Package
			fmt.Fprintf(out, "pkg: %s\n", b.Package)
		}
		if revision := cmp.Or(b.Revision, workingTree); len(d.Pairs) > 0 && at.revision != revision {
			at.revision = revision
			fmt.Fprintf(out, "revision: %s\n", revision)
		}
		name := b.Name
		if b.Procs > 1 && b.SetProcs == 0 { // where it was set, the name has it
			name = fmt.Sprintf("%s-%d", name, b.Procs)
		}
		for _, rep := range b.Repetitions {
			if !(rep.TimeNs > 0) {
				continue
			}
			fmt.Fprintf(out, "%s\t%d\t%s ns/op", name, b.Iterations, stats.Significant(rep.TimeNs, 6))
			for _, m := range b.Metrics {
				fmt.Fprintf(out, "\t%s %s", stats.Significant(metricAt(m, rep.TimeNs, b.Wall), 6), m.Unit)
			}
			fmt.Fprintln(out)
		}
	}
	return out.Flush()
}

// goBenchHeader writes the keys that every result shares.
func goBenchHeader(w io.Writer, h record.Header) {
	fmt.Fprintf(w, "goos: %s\ngoarch: %s\n", h.Machine.OS, h.Machine.Arch)
	if h.Machine.CPU != "" {
		fmt.Fprintf(w, "cpu: %s\n", h.Machine.CPU)
	}
}

// metricAt returns the value of a metric, corrected for an operation that takes ns nanoseconds.
func metricAt(m gobench.Metric, ns float64, wall stats.Estimate) float64 {
	if m.Unit == "MB/s" && ns > 0 && wall.Value > 0 {
		return m.Value * wall.Value / ns
	}
	return m.Value
}

// workingTree is the value of the key revision for the working tree. An import converts it back.
const workingTree = record.WorkingTree
