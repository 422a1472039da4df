package render

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// Markdown writes programs as the table of hyperfine --export-markdown, whose columns are wall
// times, with further columns: the time without other programs, CPU time, the wait for a CPU, and
// the verdict. All are in the unit that suits the first command.
func Markdown(w io.Writer, d record.Programs) error {
	d = view.Shown(d)
	out := bufio.NewWriter(w)
	var rows []program.Report
	for _, p := range d.Results {
		if len(p.Counted()) > 0 {
			rows = append(rows, p)
		}
	}
	unit := markdownUnit{"ms", 1e6, 1}
	if len(rows) > 0 && newHyperfineResult(rows[0]).Mean >= 1 {
		unit = markdownUnit{"s", 1e9, 3}
	}
	fmt.Fprintf(out, "| Command | Mean [%[1]s] | Min [%[1]s] | Max [%[1]s] | Relative | Alone [%[1]s] | CPU [%[1]s] | Waited [%[1]s] | Verdict |\n", unit.name)
	fmt.Fprintln(out, "|:---|---:|---:|---:|---:|---:|---:|---:|:---|")
	fastest := fastestOf(rows)
	for i, p := range rows {
		r := newHyperfineResult(p)
		fmt.Fprintf(out, "| `%s` | %s | %s | %s | %s | %s | %s | %s | %s |\n", strings.ReplaceAll(p.Command, "|", `\|`),
			plusMinus(r.Mean*1e9, 1e9*r.StdDev.Value(), unit), unit.of(r.Min*1e9), unit.of(r.Max*1e9), relativeTo(r, fastest, i == fastest.place),
			alone(p.Estimate, unit), unit.of(p.CPU.Value), unit.of(p.RunqueueWaitNs.Value()), p.Verdict)
	}
	return out.Flush()
}

// markdownUnit is the unit of a table's times.
type markdownUnit struct {
	name   string
	ns     float64
	places int
}

// of writes a time without its unit.
func (u markdownUnit) of(ns float64) string {
	if !stats.IsFinite(ns) {
		return "?"
	}
	return fmt.Sprintf("%.*f", u.places, ns/u.ns)
}

// plusMinus writes a value and its deviation, if that is known.
func plusMinus(ns, deviationNs float64, unit markdownUnit) string {
	if !stats.IsFinite(deviationNs) {
		return unit.of(ns)
	}
	return unit.of(ns) + " ± " + unit.of(deviationNs)
}

// alone writes an estimate ± half the width of its interval.
func alone(e stats.Estimate, unit markdownUnit) string {
	fine := unit
	fine.places += 2 // the interval is often narrower than a tenth of a millisecond
	return plusMinus(e.Value, e.HalfWidth(), fine)
}

// fastest is the command with the least mean.
type fastest struct {
	place  int
	result hyperfineResult
}

func fastestOf(rows []program.Report) (f fastest) {
	for i, p := range rows {
		if r := newHyperfineResult(p); i == 0 || r.Mean < f.result.Mean {
			f = fastest{i, r}
		}
	}
	return f
}

// relativeTo writes how many times as long as the fastest a command takes. The deviation is that of
// a quotient of independent values, to first order.
func relativeTo(r hyperfineResult, f fastest, itself bool) string {
	ratio := r.Mean / f.result.Mean
	if itself || !r.StdDev.Known() || !f.result.StdDev.Known() {
		return fmt.Sprintf("%.2f", ratio)
	}
	return fmt.Sprintf("%.2f ± %.2f", ratio, ratio*math.Hypot(r.StdDev.Value()/r.Mean, f.result.StdDev.Value()/f.result.Mean))
}
