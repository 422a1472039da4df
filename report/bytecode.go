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

	"chronoscope/bytecode"
	"chronoscope/bytecode/analysis"
	"chronoscope/record"
	"chronoscope/stats"
)

// Bytecode writes for people what a virtual machine's instructions take: the table first,
// then what the times have in common, and last how well the methods agree.
func Bytecode(w io.Writer, d record.Bytecode, s Style) {
	machineLines(w, d.Header, s)
	for _, r := range append([]record.BytecodeRun{d.BytecodeRun}, d.Others...) {
		fmt.Fprintf(w, "%s: %s\n", s.bold(machineName(r)), strings.Join(runFacts(r), ", "))
	}
	fmt.Fprintln(w)
	instructionTable(w, d, s)
	summaryLines(w, d.BytecodeRun, s)
	granularityTable(w, d.BytecodeRun)
	groupLines(w, d.BytecodeRun, s)
	fitTable(w, d.Fits, s)
	predictionLines(w, d.Predictions, s)
	for _, r := range append([]record.BytecodeRun{d.BytecodeRun}, d.Others...) {
		bytecodeReasons(w, r, s)
	}
	caveats(w, d.Header, s)
}

// runFacts say how a run was made.
func runFacts(r record.BytecodeRun) []string {
	facts := []string{
		r.Java.Name, fmt.Sprintf("sequences of %d", r.Length), numbered(r.Starts, "virtual machine"),
		fmt.Sprintf("%d timed and %d of them left out as slow", r.Stretches, r.Slow), "in " + duration(r.ElapsedNs),
	}
	if stats.Finite(r.Overhead.Value) != nil {
		facts = append(facts, fmt.Sprintf("an empty trial by %s takes %s", r.Method, WithError(r.Overhead)))
	}
	return facts
}

// instructionTable has a row for each instruction and form, and a column for each further
// run.
func instructionTable(w io.Writer, d record.Bytecode, s Style) {
	header := table.Row{"instruction", "", "by " + d.Method, "±"}
	beside := d.Method != string(bytecode.TSC) // which is not beside itself
	if beside {
		header = append(header, "by tsc", "off")
	}
	for _, other := range d.Others {
		header = append(header, columnName(d.BytecodeRun, other))
	}
	var numbers []int
	for column := 3; column <= len(header); column++ {
		numbers = append(numbers, column)
	}
	out := newTable(w, numbers...)
	out.AppendHeader(append(header, "group", "verdict"))
	for _, i := range d.Instructions {
		row := table.Row{s.bold(i.Mnemonic), formName(i.Form), perOperation(i.Time), uncertainty(i.Time)}
		if beside {
			row = append(row, perOperation(i.TSC), offReference(i))
		}
		for _, other := range d.Others {
			if j, ok := other.Instruction(i.Mnemonic, i.Form); ok {
				row = append(row, besideTime(j.Time))
			} else {
				row = append(row, "")
			}
		}
		out.AppendRow(append(row, groupName(i), s.verdict(i.Verdict)))
	}
	out.Render()
	fmt.Fprintln(w)
}

// besideTime has a fixed number of places: what a compiler leaves of an instruction may be
// next to nothing.
func besideTime(e stats.Estimate) string {
	if stats.Finite(e.Value) == nil {
		return "?"
	}
	return fmt.Sprintf("%.3f ns", e.Value)
}

// formName is empty for the usual form.
func formName(form string) string {
	if form == string(bytecode.Homogeneous) {
		return ""
	}
	return form
}

// columnName tells another run from the first.
func columnName(first, other record.BytecodeRun) string {
	if other.Java == first.Java {
		return other.Mode
	}
	return machineName(other)
}

// offReference is how far a time lies from the time stamp counter's.
func offReference(i record.BytecodeInstruction) string {
	if stats.Finite(i.Time.Value) == nil || !(i.TSC.Value > 0) {
		return "?"
	}
	return signedPercent((i.Time.Value - i.TSC.Value) / i.TSC.Value)
}

// groupName marks outliers.
func groupName(i record.BytecodeInstruction) string {
	name := word(i.Cluster)
	if i.Outlier != nil && *i.Outlier {
		name += " (outlier)"
	}
	return name
}

// summaryLines are Figure 2 and Table 3 of Lambert 2008.
func summaryLines(w io.Writer, r record.BytecodeRun, s Style) {
	m := r.Summary
	if m.Instructions == 0 {
		return
	}
	fmt.Fprintf(w, "%s take %s to %s: median %s, quartiles %s and %s, mean %s.\n", s.bold(numbered(m.Instructions, "instruction")),
		ns(m.MinNs), ns(m.MaxNs), ns(m.MedianNs), ns(m.Q1Ns), ns(m.Q3Ns), ns(m.MeanNs))
	var outliers []analysis.Timing
	for _, i := range r.Instructions {
		if i.Outlier != nil && *i.Outlier {
			outliers = append(outliers, analysis.Timing{Name: i.Mnemonic, Ns: i.Time.Value})
		}
	}
	slices.SortStableFunc(outliers, func(a, b analysis.Timing) int { return cmp.Compare(b.Ns, a.Ns) })
	if len(outliers) > 0 {
		line(w, "outliers", "%s", timingList(outliers))
		line(w, "in 2008", "%s", timingList(analysis.Lambert.Outliers))
	}
	fmt.Fprintln(w)
}

func timingList(timings []analysis.Timing) string {
	var all []string
	for _, t := range timings {
		all = append(all, t.Name+" "+duration(t.Ns))
	}
	return strings.Join(all, ", ")
}

// granularityTable is Table 4 of Lambert 2008, beside the source's.
func granularityTable(w io.Writer, r record.BytecodeRun) {
	if len(r.Clusters) == 0 {
		return
	}
	out := newTable(w, 2, 3, 4, 5)
	out.AppendHeader(table.Row{"ignoring differences up to the", "of", "makes groups", "in 2008", "groups"})
	for i, c := range r.Clusters {
		then := analysis.Lambert.Granularities[i]
		out.AppendRow(table.Row{c.Statistic, duration(c.GranularityNs), c.Groups, duration(then.Ns), then.Groups})
	}
	out.Render()
	fmt.Fprintln(w)
}

// groupLines are Table 6 of Lambert 2008.
func groupLines(w io.Writer, r record.BytecodeRun, s Style) {
	for _, g := range r.Groups {
		line(w, "("+g.Label+")", "%s: %s", spanOf(g), strings.Join(g.Instructions, ", "))
	}
	if len(r.Groups) > 0 {
		fmt.Fprintln(w)
	}
}

// spanOf says how many instructions a group has, and how long they take.
func spanOf(g record.BytecodeGroup) string {
	n := len(g.Instructions)
	if n == 1 {
		return "1 of " + duration(g.LeastNs)
	}
	return fmt.Sprintf("%d of %s to %s", n, duration(g.LeastNs), duration(g.MostNs))
}

// fitTable says how well the methods agree with the time stamp counter, as section 5 of
// Lambert 2008 does.
func fitTable(w io.Writer, fits []record.BytecodeFit, s Style) {
	if len(fits) == 0 {
		return
	}
	out := newTable(w, 3, 4, 5, 6, 7, 8)
	out.AppendHeader(table.Row{"tsc over", "", "points", "r", "slope", "intercept", "median error", "greatest"})
	for _, f := range fits {
		out.AppendRow(table.Row{s.bold(f.Method), f.Pairing, f.Points, rName(f.PearsonR), slopeName(f), interceptName(f.InterceptNs), shareName(f.MedianError), shareName(f.MaxError)})
	}
	l := analysis.Lambert
	out.AppendRow(table.Row{"in 2008", string(bytecode.Unpaired), l.Instructions, rName(&l.PearsonR), fmt.Sprintf("%.3f", l.Slope), interceptName(l.InterceptNs), "", ""})
	out.Render()
	fmt.Fprintln(w)
	for _, f := range fits {
		if len(f.LeftOut) > 0 {
			line(w, f.Method, "%s, without what is unusable: %s", f.Pairing, listed(f.LeftOut, 12))
		}
		if len(f.Strays) > 0 {
			line(w, f.Method, "%s, above %d ns %d of %d are off by more than %s: %s", f.Pairing, record.StrayAboveNs, len(f.Strays), f.Above, relative(record.StrayShare), listed(f.Strays, 12))
		}
	}
	fmt.Fprintln(w, "A slope above 1 says that the method reports less than the time stamp counter.")
	fmt.Fprintln(w)
}

func rName(r *float64) string {
	if r == nil {
		return "?"
	}
	return fmt.Sprintf("%.6f", *r)
}

func slopeName(f record.BytecodeFit) string {
	if f.SlopeHi == nil {
		return fmt.Sprintf("%.4f", f.Slope)
	}
	return fmt.Sprintf("%.4f ± %.4f", f.Slope, *f.SlopeHi-f.Slope)
}

// interceptName has a fixed number of places: its distance from zero is what counts.
func interceptName(ns float64) string { return fmt.Sprintf("%.3f ns", ns) }

func shareName(v *float64) string {
	if v == nil {
		return "?"
	}
	return relative(*v)
}

// predictionLines say how far the sum of single times leads.
func predictionLines(w io.Writer, all []record.BytecodePrediction, s Style) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "%s\n", s.bold(predictionTitle(all)))
	for _, p := range byPrediction(all) {
		line(w, signedName(p.Error), "%s: predicted %s, took %s", strings.Join(p.Instructions, ", "), WithError(p.Predicted), WithError(p.Measured))
	}
	fmt.Fprintln(w)
}

// predictionTitle sums the predictions up.
func predictionTitle(all []record.BytecodePrediction) string {
	var off []float64
	for _, p := range all {
		if p.Error != nil {
			off = append(off, math.Abs(*p.Error))
		}
	}
	slices.Sort(off)
	return fmt.Sprintf("%s predicted from single instructions: off by %s in the median, %s at most",
		numbered(len(all), "sequence"), shareName(stats.Finite(stats.Quantile(off, 0.5))), shareName(stats.Finite(stats.Quantile(off, 1))))
}

// byPrediction sorts from what took longer than predicted to what took less.
func byPrediction(all []record.BytecodePrediction) []record.BytecodePrediction {
	known := slices.DeleteFunc(slices.Clone(all), func(p record.BytecodePrediction) bool { return p.Error == nil })
	slices.SortStableFunc(known, func(a, b record.BytecodePrediction) int { return cmp.Compare(*a.Error, *b.Error) })
	return known
}

func signedName(v *float64) string {
	if v == nil {
		return "?"
	}
	return signedPercent(*v)
}

// bytecodeReasons says why results are not trusted, instructions of one reason together.
func bytecodeReasons(w io.Writer, r record.BytecodeRun, s Style) {
	for _, reason := range r.Reasons {
		fmt.Fprintf(w, "%s %s: %s\n", s.verdict(r.Verdict), machineName(r), reason)
	}
	for _, g := range reasonGroups(r) {
		fmt.Fprintf(w, "%s %s, %s: %s\n", s.verdict(g.verdict), machineName(r), listed(g.names, 12), g.reason)
	}
	for _, u := range r.Unused {
		fmt.Fprintf(w, "%s, %s was not used: %s\n", machineName(r), u.Method, u.Reason)
	}
}

// reasonGroup is a reason and the instructions that it holds for.
type reasonGroup struct {
	verdict stats.Verdict
	reason  string
	names   []string
}

func reasonGroups(r record.BytecodeRun) []reasonGroup {
	var groups []reasonGroup
	for _, i := range r.Instructions {
		for _, reason := range i.Reasons {
			n := slices.IndexFunc(groups, func(g reasonGroup) bool { return g.verdict == i.Verdict && g.reason == reason })
			if n < 0 {
				n, groups = len(groups), append(groups, reasonGroup{i.Verdict, reason, nil})
			}
			groups[n].names = append(groups[n].names, strings.TrimSpace(i.Mnemonic+" "+formName(i.Form)))
		}
	}
	return groups
}

// BytecodeCSV writes one row for each instruction and form, of all runs; columns are named
// as the JSON fields.
func BytecodeCSV(w io.Writer, d record.Bytecode) error {
	out := csv.NewWriter(w)
	header := []string{"java.version", "mode", "method", "mnemonic", "opcode", "kind", "form"}
	for _, e := range []string{"time", "tsc"} {
		for _, field := range []string{"value", "lo", "hi", "confidence", "unit", "statistic", "n", "discarded"} {
			header = append(header, e+"."+field)
		}
	}
	out.Write(append(header, "trials", "elapsed_ns", "outlier", "cluster", "verdict", "reasons"))
	for _, r := range append([]record.BytecodeRun{d.BytecodeRun}, d.Others...) {
		for _, i := range r.Instructions {
			row := []string{r.Java.Version, r.Mode, r.Method, i.Mnemonic, strconv.Itoa(i.Opcode), i.Kind, i.Form}
			for _, e := range []stats.Estimate{i.Time, i.TSC} {
				row = append(row, number(stats.Finite(e.Value)), number(stats.Finite(e.Lo)), number(stats.Finite(e.Hi)), decimal(stats.Confidence),
					e.Unit, e.Statistic, strconv.Itoa(e.N), strconv.Itoa(e.Discarded))
			}
			out.Write(append(row, strconv.FormatInt(i.Trials, 10), decimal(i.ElapsedNs), truth(i.Outlier), word(i.Cluster), string(i.Verdict), strings.Join(i.Reasons, "; ")))
		}
	}
	out.Flush()
	return out.Error()
}
