package report

import (
	"fmt"
	"strings"

	"chronoscope/record"
	"chronoscope/stats"
)

// comparisonSheet shows machines or runs side by side.
func comparisonSheet(d record.Comparison) *sheet {
	s := sheetOf("Comparison", d.Header)
	s.Machine, s.Facts, s.Started = strings.Join(d.Subjects, " beside "), nil, ""
	for i, o := range d.Origins[:min(len(d.Origins), len(d.Subjects))] {
		s.Facts = append(s.Facts, originFact(d.Subjects[i], o))
	}
	for _, topic := range distinct(d.Rows, func(r record.ComparisonRow) string { return r.Topic + ", " + r.Quantity }) {
		s.add(comparisonSection(d, topic))
	}
	return s
}

// originFact says where a subject is from.
func originFact(subject string, o record.Origin) string {
	fact := subject + ": "
	if o.Machine != nil {
		fact += or(string(o.Machine.CPU), "unknown CPU")
	}
	if !o.Started.IsZero() {
		fact += o.Started.Format(", 2 January 2006")
	}
	return fact
}

// comparisonSection shows the rows of one topic and quantity, each subject's figure as a
// share of the first one's.
func comparisonSection(d record.Comparison, topic string) section {
	same := 1.0
	values := []float64{same}
	chart := rowChart{label: topic, zero: &same, title: "times that of " + shortened(first(d.Subjects), mostName) + logNote(scale{log: true})}
	table := tableOf(words("name"), figuresOf(d.Subjects...), words("outcome", "reasons"))
	for _, r := range d.Rows {
		if r.Topic+", "+r.Quantity != topic {
			continue
		}
		row := chartRow{name: r.Name}
		if len(d.Subjects) == 2 {
			row.figure = r.Outcome
		}
		cells, reasons := []any{r.Name}, []string{}
		for _, v := range r.Values {
			cells = append(cells, comparedValue(v, r.Unit))
		}
		for i, c := range r.Changes {
			if c == nil {
				continue
			}
			reasons = append(reasons, c.Reasons...)
			if c.Ratio.Unit != "ratio" || !(c.Ratio.Value > 0) {
				continue // of ranks it is the difference
			}
			values = append(values, c.Ratio.Value, c.Ratio.Lo, c.Ratio.Hi)
			row.points = append(row.points, rowPoint{at: c.Ratio.Value, mark: seriesMark(i), class: seriesClass(i), title: fmt.Sprintf("%s: %.4g times, %s", d.Subjects[i+1], c.Ratio.Value, c.Outcome)})
			if c.Ratio.Lo > 0 && stats.Finite(c.Ratio.Hi) != nil {
				row.spans = append(row.spans, rowSpan{c.Ratio.Lo, c.Ratio.Hi, "thin", ratioBounds(c.Ratio)})
			}
		}
		if len(row.points) > 0 {
			chart.rows = append(chart.rows, row)
		}
		table.row(append(cells, r.Outcome, strings.Join(reasons, "; "))...)
	}
	s := section{Title: capitalized(topic), Table: table}
	if len(chart.rows) > 0 {
		s.Lead = "A mark is a figure over that of " + first(d.Subjects) + ", and the line its 95 % interval, where it is known."
		chart.x = logarithmic(values, tickNumber)
		s.Panels = []panel{{Chart: chart.chart()}}
		for i, name := range d.Subjects[min(1, len(d.Subjects)):] {
			s.Legend = append(s.Legend, legendKey{Mark: seriesMark(i), Class: seriesClass(i), Text: name})
		}
	}
	return s
}

// first is the first of some names.
func first(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return names[0]
}

// comparedValue writes a figure of a subject in its unit.
func comparedValue(v *record.ComparisonValue, unit string) string {
	if v == nil {
		return ""
	}
	value := stats.Finite(v.Estimate.Value)
	text := "?"
	switch {
	case value == nil:
	case unit == "ns":
		text = durationTo(*value, 4)
	case unit == "share":
		text = relative(*value)
	case unit == "rank":
		text = tickNumber(*value)
	default:
		text = strings.TrimSpace(fmt.Sprintf("%.4g %s", *value, unit))
	}
	if v.Of != "" {
		text = v.Of + ", " + text
	}
	return text
}
