package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"chronoscope/record"
	"chronoscope/stats"
)

// fewSubjects have a column each; of more, only how their values are spread is shown.
const fewSubjects = 6

// Comparison writes machines or runs side by side for people.
func Comparison(w io.Writer, d record.Comparison, s Style) {
	subjectLines(w, d, s)
	var alone []string
	for _, topic := range distinct(d.Rows, func(r record.ComparisonRow) string { return r.Topic }) {
		switch {
		case !shared(d, topic):
			alone = append(alone, topic)
		case topic == clockTopic:
			clockTables(w, d, s)
		default:
			comparisonTable(w, d, topic, s)
		}
	}
	if len(alone) > 0 {
		fmt.Fprintf(w, "Known of one alone, and left out here: %s.\n\n", printable(strings.Join(alone, ", ")))
	}
	comparisonReasons(w, d, s)
	caveats(w, d.Header, s)
}

// subjectLines say what is compared.
func subjectLines(w io.Writer, d record.Comparison, s Style) {
	names := newTable(w)
	for i, o := range d.Origins[:min(len(d.Origins), fewSubjects)] {
		what := "against this one"
		if i > 0 {
			what = ""
		}
		names.AppendRow(table.Row{s.bold(printable(d.Subjects[i])), commandName(o.Command), machineOf(o), o.Started.UTC().Format("2006-01-02"), s.dim(what)})
	}
	names.Render()
	if more := len(d.Origins) - fewSubjects; more > 0 {
		fmt.Fprintf(w, "and %d more\n", more)
	}
	fmt.Fprintln(w)
}

// machineOf names a subject's machine.
func machineOf(o record.Origin) string {
	name := or(string(o.Machine.CPU), "a machine that is not known")
	if o.Machine.CoreHz != nil {
		name += fmt.Sprintf(" at %.2f GHz", *o.Machine.CoreHz/1e9)
	}
	return printable(name)
}

// clockTopic is that of the rows that clockTables writes.
const clockTopic = "clock"

// shared reports whether two subjects or more have something under a topic.
func shared(d record.Comparison, topic string) bool {
	first := -1
	for _, r := range d.Rows {
		for i, v := range r.Values {
			switch {
			case r.Topic != topic || v == nil || i == first:
			case first < 0:
				first = i
			default:
				return true
			}
		}
	}
	return false
}

// clockRows are the rows of one clock, by their quantity.
type clockRows struct {
	name string
	by   map[string]record.ComparisonRow
}

func clocksOf(d record.Comparison) (clocks []clockRows) {
	place := map[string]int{}
	for _, r := range d.Rows {
		if r.Topic != clockTopic {
			continue
		}
		i, known := place[r.Name]
		if !known {
			i = len(clocks)
			place[r.Name] = i
			clocks = append(clocks, clockRows{r.Name, map[string]record.ComparisonRow{}})
		}
		clocks[i].by[r.Quantity] = r
	}
	return clocks
}

// value is that of a subject, nil where it has none.
func (c clockRows) value(quantity string, subject int) *record.ComparisonValue {
	if r, ok := c.by[quantity]; ok {
		return r.Values[subject]
	}
	return nil
}

// clockTables write the clocks of two subjects at a time, as Tables 1 and 2 of Kuperberg
// 2011a do, and how the qualities of all of them compare.
func clockTables(w io.Writer, d record.Comparison, s Style) {
	clocks := clocksOf(d)
	if len(d.Subjects) <= fewSubjects {
		for first := 0; first < len(d.Subjects); first += 2 {
			clockPair(w, d, clocks, first, min(first+2, len(d.Subjects)), s)
		}
	}
	qualityTable(w, d, clocks, s)
}

// clockPair writes what the qualities of some subjects rest on, the best clock of the
// first of them first.
func clockPair(w io.Writer, d record.Comparison, clocks []clockRows, from, to int, s Style) {
	var right []int
	names, columns := table.Row{""}, table.Row{"clock"}
	for i := from; i < to; i++ {
		names = append(names, s.bold(printable(d.Subjects[i])), "", "", "", "")
		columns = append(columns, "accuracy", "cost", "cycles of both", "spread", "quality")
		for range 5 {
			right = append(right, len(right)+2)
		}
	}
	out := newTable(w, right...)
	out.AppendHeader(names)
	out.AppendHeader(columns)
	for _, c := range byQuality(clocks, from) {
		row := table.Row{clockLabel(c.name)}
		there := false
		for i := from; i < to; i++ {
			there = there || c.value("quality", i) != nil || c.value("cost", i) != nil
			row = append(row, cell(c.value("accuracy", i)), cell(c.value("cost", i)), bothCycles(c, i), spreadCell(c.value("spread", i)), marked(c.value("quality", i)))
		}
		if there {
			out.AppendRow(row)
		}
	}
	out.Render()
	fmt.Fprintln(w)
}

// byQuality puts the best clock of a subject first.
func byQuality(clocks []clockRows, subject int) []clockRows {
	quality := func(c clockRows) float64 {
		if v := c.value("quality", subject); v != nil {
			return v.Estimate.Value
		}
		return -1
	}
	sorted := slices.Clone(clocks)
	slices.SortStableFunc(sorted, func(a, b clockRows) int { return cmp.Compare(quality(b), quality(a)) })
	return sorted
}

// clockLabel is a clock's name, with the one that the published tables have for it.
func clockLabel(name string) string {
	for _, t := range record.PublishedTimers {
		if t.Clock == name {
			return fmt.Sprintf("%s (%s)", name, t.Short)
		}
	}
	return printable(name)
}

func bothCycles(c clockRows, subject int) string {
	accuracy, cost := c.value("accuracy in cycles", subject), c.value("cost in cycles", subject)
	if accuracy == nil || cost == nil {
		return "-"
	}
	return significant(accuracy.Estimate.Value, 3) + " + " + significant(cost.Estimate.Value, 3)
}

func spreadCell(v *record.ComparisonValue) string {
	if v == nil {
		return "-"
	}
	return spread(&v.Estimate.Value)
}

// qualityTable writes quality and rank of each clock in all subjects, and what changed.
func qualityTable(w io.Writer, d record.Comparison, clocks []clockRows, s Style) {
	if len(d.Subjects) > fewSubjects {
		var rows []record.ComparisonRow
		for _, c := range clocks {
			if r, ok := c.by["quality"]; ok {
				rows = append(rows, r)
			}
		}
		spreadTable(w, clockTopic, rows, s)
		return
	}
	var right []int
	header := table.Row{"quality (rank)"}
	for i, name := range d.Subjects {
		right = append(right, i+2)
		header = append(header, printable(name))
	}
	out := newTable(w, right...)
	out.AppendHeader(append(header, "outcome", "rank"))
	for _, c := range clocks {
		quality, ok := c.by["quality"]
		if !ok {
			continue
		}
		row := table.Row{clockLabel(c.name)}
		for i := range d.Subjects {
			text := marked(quality.Values[i])
			if rank := c.value("rank", i); rank != nil {
				text += fmt.Sprintf(" (%.0f)", rank.Estimate.Value)
			}
			row = append(row, text)
		}
		out.AppendRow(append(row, printable(quality.Outcome), rankWords(c)))
	}
	out.Render()
	fmt.Fprintln(w)
}

// rankWords say what became of a clock's rank in the last subject.
func rankWords(c clockRows) string {
	r, ok := c.by["rank"]
	if !ok || r.Outcome == "same" {
		return ""
	}
	last := r.Changes[len(r.Changes)-1]
	if last == nil {
		return ""
	}
	return strings.Join(wrap(printable(strings.Join(last.Reasons, "; ")), 48), "\n")
}

// comparisonTable writes the rows of a topic.
func comparisonTable(w io.Writer, d record.Comparison, topic string, s Style) {
	rows := slices.DeleteFunc(slices.Clone(d.Rows), func(r record.ComparisonRow) bool { return r.Topic != topic })
	if len(d.Subjects) > fewSubjects {
		spreadTable(w, topic, rows, s)
		return
	}
	header, right := table.Row{topic, ""}, []int{}
	for i, name := range d.Subjects {
		header, right = append(header, printable(name)), append(right, i+3)
	}
	if len(d.Subjects) == 2 {
		header = append(header, "ratio", "95 % interval", "p", "outcome")
		right = append(right, 5, 6, 7)
	}
	out := newTable(w, right...)
	out.AppendHeader(header)
	for _, r := range rows {
		row := table.Row{strings.Join(wrap(printable(r.Name), 36), "\n"), printable(r.Quantity)}
		for i, v := range r.Values {
			row = append(row, cellBeside(v, r, i, len(d.Subjects)))
		}
		if len(d.Subjects) == 2 {
			row = append(row, changeCells(r.Changes[0], s)...)
		}
		out.AppendRow(row)
	}
	out.Render()
	fmt.Fprintln(w)
}

// cellBeside is a value, and in a comparison of several how it does beside the first.
func cellBeside(v *record.ComparisonValue, r record.ComparisonRow, i, subjects int) string {
	text := marked(v)
	if v != nil && v.Of != "" {
		text = printable(v.Of) + " " + text
	}
	if subjects > 2 && i > 0 && r.Changes[i-1] != nil && stats.Finite(r.Changes[i-1].Ratio.Value) != nil {
		text += fmt.Sprintf(" (x%.3f %s)", r.Changes[i-1].Ratio.Value, printable(r.Changes[i-1].Outcome))
	}
	return text
}

// changeCells are ratio, interval, probability and outcome.
func changeCells(c *record.ComparisonChange, s Style) table.Row {
	if c == nil {
		return table.Row{"-", "-", "-", ""}
	}
	ratio, bounds, probability := "-", "-", "-"
	if stats.Finite(c.Ratio.Value) != nil {
		ratio = fmt.Sprintf("%.4f", c.Ratio.Value)
	}
	if stats.Finite(c.Ratio.Lo) != nil && stats.Finite(c.Ratio.Hi) != nil {
		bounds = fmt.Sprintf("%.4f to %.4f", c.Ratio.Lo, c.Ratio.Hi)
	}
	if c.PValue != nil {
		probability = significant(*c.PValue, 2)
	}
	return table.Row{ratio, bounds, probability, s.bold(printable(c.Outcome))}
}

// spreadTable is for many subjects: the first and the last of them, and how the others are
// spread.
func spreadTable(w io.Writer, topic string, rows []record.ComparisonRow, s Style) {
	out := newTable(w, 3, 4, 5, 6, 7, 8, 9)
	out.AppendHeader(table.Row{topic, "", "known of", "first", "least", "median", "most", "last", "last/first", "outcome"})
	for _, r := range rows {
		var values []float64
		for _, v := range r.Values {
			if v != nil && stats.Finite(v.Estimate.Value) != nil {
				values = append(values, v.Estimate.Value)
			}
		}
		if len(values) == 0 {
			continue
		}
		slices.Sort(values)
		of := func(x float64) string { return inUnit(x, r.Unit) }
		ratio := "-"
		if r.Change != nil {
			ratio = fmt.Sprintf("%.4f", r.Change.Value)
		}
		out.AppendRow(table.Row{
			strings.Join(wrap(printable(r.Name), 36), "\n"), printable(r.Quantity), len(values), marked(r.Values[0]),
			of(values[0]), of(stats.Quantile(values, 0.5)), of(values[len(values)-1]), marked(r.Values[len(r.Values)-1]), ratio, s.bold(printable(r.Outcome)),
		})
	}
	out.Render()
	fmt.Fprintln(w)
}

// marks are put behind values that are not trusted.
var marks = map[stats.Verdict]string{stats.Suspect: " *", stats.Unusable: " **"}

// marked is a value with its mark.
func marked(v *record.ComparisonValue) string {
	if v == nil {
		return "-"
	}
	return cell(v) + marks[v.Verdict]
}

// cell is a value in the unit that suits it.
func cell(v *record.ComparisonValue) string {
	if v == nil {
		return "-"
	}
	return inUnit(v.Estimate.Value, v.Estimate.Unit)
}

func inUnit(x float64, unit string) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "?"
	case unit == "ns":
		return durationTo(x, 4)
	case unit == "share" && (x == 0 || math.Abs(x) >= 0.01):
		return fmt.Sprintf("%.2f %%", 100*x)
	case unit == "share":
		return relative(x)
	case unit == "rank":
		return fmt.Sprintf("%.0f", x)
	}
	return significant(x, 4) + " " + printable(unit)
}

// comparisonReasons say what the marks stand for, and what could not be compared.
func comparisonReasons(w io.Writer, d record.Comparison, s Style) {
	var said folds
	for _, r := range d.Rows {
		for i, v := range r.Values {
			if v == nil {
				continue
			}
			for _, reason := range v.Reasons {
				said.note(fold{strings.TrimSpace(marks[v.Verdict]), printable(reason)}, printable(d.Subjects[i]+" "+r.Name))
			}
		}
		for i, c := range r.Changes {
			if c == nil || r.Quantity == "rank" {
				continue
			}
			for _, reason := range c.Reasons {
				said.note(fold{printable(c.Outcome), printable(reason)}, printable(d.Subjects[i+1]+" "+r.Name))
			}
		}
	}
	said.writeNamed(w)
}

// note is add, once for each name.
func (f *folds) note(what fold, name string) {
	if !slices.Contains(f.names[what], name) {
		f.add(what, name)
	}
}

// writeNamed writes each fold with the names that it is about, of many only some.
func (f *folds) writeNamed(w io.Writer) {
	for _, what := range f.order {
		names := f.names[what]
		list := strings.Join(names[:min(len(names), mostListed)], ", ")
		if more := len(names) - mostListed; more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		for i, part := range wrap(fmt.Sprintf("%s %s: %s", what.mark, list, what.text), textWidth+labelWidth-2) {
			if i > 0 {
				part = "  " + part
			}
			fmt.Fprintln(w, part)
		}
	}
	if len(f.order) > 0 {
		fmt.Fprintln(w)
	}
}

// ComparisonCSV writes one line for each subject of each row; columns are named as the
// JSON fields.
func ComparisonCSV(w io.Writer, d record.Comparison) error {
	out := csv.NewWriter(w)
	out.Write([]string{
		"topic", "name", "quantity", "unit", "better", "subject", "estimate.value", "estimate.lo", "estimate.hi", "of", "verdict", "reasons",
		"ratio.value", "ratio.lo", "ratio.hi", "p_value", "outcome",
	})
	for _, r := range d.Rows {
		for i, v := range r.Values {
			if v == nil {
				continue
			}
			e := v.Estimate
			row := []string{
				r.Topic, r.Name, r.Quantity, e.Unit, r.Better, d.Subjects[i], number(stats.Finite(e.Value)), number(stats.Finite(e.Lo)), number(stats.Finite(e.Hi)),
				v.Of, string(v.Verdict), strings.Join(v.Reasons, "; "),
			}
			out.Write(append(row, changeFields(r, i)...))
		}
	}
	out.Flush()
	return out.Error()
}

// changeFields are those of a subject beside the first; empty where there is no change.
func changeFields(r record.ComparisonRow, subject int) []string {
	if subject == 0 || r.Changes[subject-1] == nil {
		return make([]string, 5)
	}
	c := r.Changes[subject-1]
	return []string{number(stats.Finite(c.Ratio.Value)), number(stats.Finite(c.Ratio.Lo)), number(stats.Finite(c.Ratio.Hi)), number(c.PValue), c.Outcome}
}
