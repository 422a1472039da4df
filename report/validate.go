package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/validate"
)

// Validation writes for people how good methods are on this machine: the coverage of
// their claims comes last.
func Validation(w io.Writer, d record.Validation, s Style) {
	machineLines(w, d.Header, s)
	timerTable(w, d.Timers)
	fitLines(w, d.Fits)
	for _, work := range worksOf(d.Cells) {
		errorTable(w, d.Cells, work, s)
	}
	validationReasons(w, d.Cells, s)
	compensationTable(w, d.Compensation)
	reachTable(w, d.Reach, s)
	truthLine(w, d.Cells)
	caveats(w, d.Header, s)
	coverageTable(w, "its claim held", d.Coverage, s)
	if d.AddedUp != nil {
		fmt.Fprintln(w)
		coverageTable(w, fmt.Sprintf("its claim held, in %d runs", d.AddedUp.Runs), d.AddedUp.Coverage, s)
	}
}

// timerTable is Figure 9.21 of Bryant 2003.
func timerTable(w io.Writer, timers []validate.Timer) {
	if len(timers) == 0 {
		return
	}
	out := newTable(w, 2, 3)
	out.AppendHeader(table.Row{"clock", "resolution", "latency"})
	for _, t := range timers {
		resolution := "?"
		if t.ResolutionNs != nil {
			resolution = duration(*t.ResolutionNs)
		}
		out.AppendRow(table.Row{t.Name, resolution, duration(t.LatencyNs)})
	}
	out.Render()
	fmt.Fprintln(w)
}

// fitLines say how long short runs took, and how far they lay from their line.
func fitLines(w io.Writer, fits []record.ValidationFit) {
	for _, f := range fits {
		fmt.Fprintf(w, "%s at load %d: r rounds take %s r %+.3g ns, short runs to within %s\n", f.Work, f.Load, duration(f.RoundNs), f.StartNs, relative(f.Error))
	}
	if len(fits) > 0 {
		fmt.Fprintln(w)
	}
}

func worksOf(cells []record.ValidationCell) []string {
	return distinct(cells, func(c record.ValidationCell) string { return c.Work })
}

// distinct are the values of some elements, each once, in their order.
func distinct[E any, T comparable](elements []E, of func(E) T) []T {
	var all []T
	for _, e := range elements {
		if v := of(e); !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// errorTable writes a line for each scheme and load, a column for each duration.
func errorTable(w io.Writer, cells []record.ValidationCell, work string, s Style) {
	cells = slices.DeleteFunc(slices.Clone(cells), func(c record.ValidationCell) bool { return c.Work != work || !shownInText(c.Scheme) })
	durations := distinct(cells, func(c record.ValidationCell) int64 { return c.DurationNs })
	slices.Sort(durations)
	columns := []int{2}
	header := table.Row{"error of " + work, "load"}
	for i, d := range durations {
		columns = append(columns, i+3)
		header = append(header, duration(float64(d)))
	}
	out := newTable(w, columns...)
	out.AppendHeader(header)
	for _, scheme := range distinct(cells, func(c record.ValidationCell) string { return c.Scheme }) {
		own := slices.DeleteFunc(slices.Clone(cells), func(c record.ValidationCell) bool { return c.Scheme != scheme })
		for i, load := range distinct(own, func(c record.ValidationCell) int { return c.Load }) {
			row := table.Row{"", load}
			if i == 0 {
				row[0] = s.bold(scheme)
			}
			for _, d := range durations {
				row = append(row, errorAt(own, load, d))
			}
			out.AppendRow(row)
		}
	}
	out.Render()
	fmt.Fprintln(w)
}

// shownInText leaves all K but the source's own to the other formats.
func shownInText(scheme string) bool {
	_, k, numbered := strings.Cut(scheme, "-k")
	return !numbered || strings.HasPrefix(k, "3")
}

func errorAt(cells []record.ValidationCell, load int, ns int64) string {
	i := slices.IndexFunc(cells, func(c record.ValidationCell) bool { return c.Load == load && c.DurationNs == ns })
	if i < 0 {
		return ""
	}
	switch {
	case cells[i].Error == nil:
		return "-"
	case cells[i].NoTruth: // with the verdict, as nothing else says that it was wrong
		return fmt.Sprintf("(%s %s)", signedPercent(*cells[i].Error), cells[i].Verdict)
	}
	return signedPercent(*cells[i].Error)
}

// signedPercent writes an error with two digits, and with a mark where no digit is left.
func signedPercent(share float64) string {
	switch abs := math.Abs(share); {
	case abs < 0.00005:
		return "0.00 %"
	case abs < 0.1:
		return fmt.Sprintf("%+.2f %%", 100*share)
	}
	return fmt.Sprintf("%+.0f %%", 100*share)
}

// validationReasons writes why this project's own results are not trusted, those of one
// reason together.
func validationReasons(w io.Writer, cells []record.ValidationCell, s Style) {
	var order []string
	places := map[string][]string{}
	for _, c := range cells {
		if c.Scheme != validate.OwnKBest && c.Scheme != validate.OwnProgram {
			continue
		}
		reasons := c.Reasons
		for _, mark := range c.Marks {
			reasons = append(slices.Clip(reasons), "left out of the counts: "+mark)
		}
		for _, reason := range reasons {
			key := string(c.Verdict) + " " + c.Scheme + "|" + reason
			if places[key] == nil {
				order = append(order, key)
			}
			places[key] = append(places[key], fmt.Sprintf("%s %s at load %d", c.Work, duration(float64(c.DurationNs)), c.Load))
		}
	}
	for _, key := range order {
		who, reason, _ := strings.Cut(key, "|")
		verdict, scheme, _ := strings.Cut(who, " ")
		fmt.Fprintf(w, "%s %s, %s: %s\n", s.verdict(stats.Verdict(verdict)), scheme, strings.Join(places[key], ", "), reason)
	}
	if len(order) > 0 {
		fmt.Fprintln(w)
	}
}

// compensationTable writes what compensation for timer interrupts takes off the error of
// the source's K-best, beside what a trace of the same run saw go.
func compensationTable(w io.Writer, rows []validate.Compensation) {
	if len(rows) == 0 {
		return
	}
	out := newTable(w, 2, 3, 4, 5, 6, 7)
	out.AppendHeader(table.Row{"compensation, alone", "error", "seen to go", "taken off", "of what was seen", "residual", validate.OwnKBest + "'s"})
	for _, c := range rows {
		out.AppendRow(compensationCells(c))
	}
	out.Render()
	fmt.Fprintln(w)
}

// compensationCells are duration, error, what was seen to go, what is taken off, which share
// of what was seen that is, the residual, and that of this project's K-best.
func compensationCells(c validate.Compensation) []any {
	share, own := "?", "-"
	if c.LostNs > 0 {
		share = fmt.Sprintf("%.0f %%", 100*c.RemovedNs/c.LostNs)
	}
	if c.OwnResidual != nil {
		own = signedPercent(*c.OwnResidual)
	}
	return []any{duration(c.DurationNs), duration(c.ErrorNs), duration(c.LostNs), duration(c.RemovedNs), share, signedPercent(c.Residual), own}
}

// reachTable writes up to which duration each scheme can be relied on.
func reachTable(w io.Writer, rows []validate.Reach, s Style) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r validate.Reach) bool { return !shownInText(r.Scheme) })
	if len(rows) == 0 {
		return
	}
	loads := distinct(rows, func(r validate.Reach) int { return r.Load })
	slices.Sort(loads)
	header, columns := table.Row{"relied on to within", ""}, []int{2}
	for i, load := range loads {
		header, columns = append(header, fmt.Sprintf("load %d", load)), append(columns, i+3)
	}
	out := newTable(w, columns...)
	out.AppendHeader(header)
	for _, scheme := range distinct(rows, func(r validate.Reach) string { return r.Scheme }) {
		for i, tolerance := range validate.Tolerances {
			row := table.Row{"", relative(tolerance)}
			if i == 0 {
				row[0] = s.bold(scheme)
			}
			for _, load := range loads {
				row = append(row, reachAt(rows, scheme, load, tolerance))
			}
			out.AppendRow(row)
		}
	}
	out.Render()
	fmt.Fprintln(w)
}

func reachAt(rows []validate.Reach, scheme string, load int, tolerance float64) string {
	for _, r := range rows {
		if r.Scheme == scheme && r.Load == load && r.Tolerance == tolerance {
			switch {
			case r.MaxDurationNs == nil:
				return "never"
			case *r.MinDurationNs == *r.MaxDurationNs:
				return duration(*r.MaxDurationNs)
			}
			return duration(*r.MinDurationNs) + " to " + duration(*r.MaxDurationNs)
		}
	}
	return ""
}

// truthLine says how well the truth was known: a claim that holds meets its interval, so that
// the wider that is, the less it says.
func truthLine(w io.Writer, cells []record.ValidationCell) {
	var widths []float64
	for _, c := range cells {
		if width := c.Expected.RelativeHalfWidth(); !c.NoTruth && !math.IsNaN(width) {
			widths = append(widths, width)
		}
	}
	if len(widths) > 0 {
		slices.Sort(widths)
		fmt.Fprintf(w, "The truth was known to ±%s, typically, and to ±%s at worst: a claim holds that holds its value, within that and 1 %%. In brackets are cells that are left out of the counts, as the truth is not known there: with the error against it, and the method's own verdict.\n\n", relative(stats.Median(widths)), relative(widths[len(widths)-1]))
	}
}

// coverageTable writes how often each scheme's claim held, this project's own last.
func coverageTable(w io.Writer, title string, rows []validate.Coverage, s Style) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(c validate.Coverage) bool { return !shownInText(c.Scheme) })
	if len(rows) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b validate.Coverage) int { return cmp.Compare(own(a.Scheme), own(b.Scheme)) })
	out := newTable(w, 2, 3, 4, 5, 6)
	out.AppendHeader(table.Row{title, "load", "in", "unusable", "no truth", "± typically"})
	name := ""
	for _, c := range rows {
		shown := ""
		if c.Scheme != name {
			name, shown = c.Scheme, s.bold(c.Scheme)
		}
		width := "?"
		if c.MedianWidth != nil {
			width = relative(*c.MedianWidth)
		}
		out.AppendRow(table.Row{shown, c.Load, claimsHeld(c), c.Unusable, c.Unjudged, width})
	}
	out.Render()
}

// claimsHeld is how often a claim held, never without the share of the cells that were left out.
func claimsHeld(c validate.Coverage) string {
	return fmt.Sprintf("%d of %d cells, %.0f %% left out", c.Covered, c.Cells, 100*leftOut(c))
}

// leftOut is the share of the cells that were not judged for want of a truth.
func leftOut(c validate.Coverage) float64 {
	return float64(c.Unjudged) / math.Max(1, float64(c.Cells+c.Unusable+c.Unjudged))
}

func own(scheme string) int {
	return slices.Index([]string{validate.OwnProgram, validate.OwnKBest}, scheme)
}

// ValidationCSV writes one row a cell; columns are named as the JSON fields.
func ValidationCSV(w io.Writer, d record.Validation) error {
	out := csv.NewWriter(w)
	header := []string{"scheme", "work", "load", "duration_ns"}
	for _, e := range []string{"expected", "estimate"} {
		for _, field := range []string{"value", "lo", "hi", "confidence", "unit", "statistic", "n", "discarded"} {
			header = append(header, e+"."+field)
		}
	}
	out.Write(append(header, "error", "no_truth", "marks", "covered", "verdict", "reasons"))
	for _, c := range d.Cells {
		row := []string{c.Scheme, c.Work, strconv.Itoa(c.Load), strconv.FormatInt(c.DurationNs, 10)}
		for _, e := range []stats.Estimate{c.Expected, c.Estimate} {
			row = append(row, number(stats.Finite(e.Value)), number(stats.Finite(e.Lo)), number(stats.Finite(e.Hi)), decimal(stats.Confidence),
				e.Unit, e.Statistic, strconv.Itoa(e.N), strconv.Itoa(e.Discarded))
		}
		covered := ""
		if c.Covered != nil {
			covered = strconv.FormatBool(*c.Covered)
		}
		out.Write(append(row, number(c.Error), strconv.FormatBool(c.NoTruth), strings.Join(c.Marks, "; "), covered, string(c.Verdict), strings.Join(c.Reasons, "; ")))
	}
	out.Flush()
	return out.Error()
}
