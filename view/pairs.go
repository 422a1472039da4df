package view

import (
	"fmt"
	"slices"
	"strings"

	"chronoscope/stats"
)

// pairs shows how results compare: their times over the time of the first. If there are sentences,
// text shows them instead of the table.
func pairs(all []stats.Pair, sentences []Line) Section {
	same := 1.0
	values := []float64{same}
	for _, p := range all {
		values = append(values, p.Ratio.Lo, p.Ratio.Hi, p.Ratio.Value)
	}
	chart := Chart{Label: "Ratios of times", Marker: &same, X: logarithmic("times as long", Plain, values)}
	t := table(words("this", "beside"), numbers("times as long", "95 % interval", "p"), words("outcome"))
	for _, p := range all {
		if p.Metric != "" && p.Outcome == stats.Same {
			continue
		}
		row := Row{Name: comparedIn(p) + " beside " + p.A, Figure: string(p.Outcome)}
		value, bounds := ratio(p.Ratio)
		if value != stats.Unknown {
			row.Figure += ", " + value + " times"
			row.Points = []Point{{At: p.Ratio.Value, Mark: "diamond", Look: "s2", Title: value}}
			row.Spans = []Span{{p.Ratio.Lo, p.Ratio.Hi, "thick", bounds}}
		}
		chart.Rows = append(chart.Rows, row)
		t.row(comparedIn(p), p.A, value, bounds, probability(p.PValue), outcomeOf(p))
	}
	if len(sentences) > 0 {
		t.In = OnPage
	}
	return Section{
		Title: "How they compare", Lead: "Below 1 is faster, above 1 slower; an interval that holds 1 leaves it open.",
		Lines: sentences, Charts: []Chart{chart}, Table: t, Notes: slices.Concat(zeroNotes(all), measuredNotes(all), duetNotes(all)),
	}
}

// measuredNotes says what the ratios were on the machine as it was, where that is known better than the ratio on an idle one.
func measuredNotes(all []stats.Pair) (lines []Line) {
	for _, p := range all {
		if p.AsMeasured == nil {
			continue
		}
		value, bounds := ratio(*p.AsMeasured)
		lines = append(lines, Line{Text: fmt.Sprintf("on the machine as it was, %s takes %s times as long as %s (95 %% interval %s); the interval above is that on an idle machine, and allows for what shared cores and cold caches may have cost one of them more than the other", p.B, value, p.A, bounds)})
	}
	return lines
}

// zeroNotes says of which metrics the ratio is one of sums, since some values are 0.
func zeroNotes(all []stats.Pair) (lines []Line) {
	for _, p := range all {
		if p.Zeros == 0 || p.Ratio.Lo == 1 && p.Ratio.Hi == 1 && p.PValue.Known() && p.PValue.Value() == 1 {
			continue // all pairs are equal, so that nothing depends on it
		}
		text := fmt.Sprintf("%s of %s beside %s: a value is 0 in %d of %d pairs, so the ratio is the median of the ratios of two pairs' sums", p.Metric, p.B, p.A, p.Zeros, p.Ratio.N)
		if !stats.IsFinite(p.Ratio.Value) {
			text = fmt.Sprintf("%s of %s beside %s: a value is 0 in %d of %d pairs, too many for a ratio: look at both values", p.Metric, p.B, p.A, p.Zeros, p.Ratio.N)
		}
		lines = append(lines, Line{Text: text})
	}
	return lines
}

// duetNotes says how many ratios of times are from duets, and why others are not.
func duetNotes(all []stats.Pair) (lines []Line) {
	n, times := 0, 0
	var without []Line
	for _, p := range all {
		if p.Metric != "" {
			continue
		}
		times++
		if p.Duets {
			n++
		}
		if p.NoDuets != "" {
			without = append(without, Line{Text: fmt.Sprintf("no duets, or no more, of %s beside %s: %s", p.B, p.A, p.NoDuets)})
		}
	}
	if n > 0 {
		lines = append(lines, Line{Text: fmt.Sprintf("%d of %d ratios of times are from duets: both processes shared one CPU, so that what slows the machine slows both", n, times)})
	}
	return append(lines, without...)
}

// comparedIn names the quantity that a pair compares.
func comparedIn(p stats.Pair) string {
	if p.Metric == "" {
		return p.B
	}
	return p.B + " " + p.Metric
}

// outcomeOf writes the outcome of a pair. Words such as "faster" fit times, but not other metrics.
func outcomeOf(p stats.Pair) string {
	outcome := string(p.Outcome)
	switch {
	case p.Metric != "" && p.Outcome == stats.Slower:
		outcome = "worse"
	case p.Metric != "" && p.Outcome == stats.Faster:
		outcome = "better"
	}
	if p.Side() == stats.Beyond {
		outcome += ", beyond the limit"
	}
	return outcome
}

// pairSentences says which command is faster.
func pairSentences(all []stats.Pair) (lines []Line) {
	for _, p := range all {
		value, bounds := ratio(p.Ratio)
		text := fmt.Sprintf("%s can't be set beside %s: the reasons below say why", p.B, p.A)
		switch {
		case value == stats.Unknown && p.Zeros > 0:
			text = fmt.Sprintf("%s of %s beside %s: too many values are 0 for a ratio", p.Metric, p.B, p.A)
		case value == stats.Unknown && p.Metric != "" && p.Why != "":
			text = fmt.Sprintf("%s of %s can't be set beside %s: %s", p.Metric, p.B, p.A, p.Why)
		case value != stats.Unknown:
			interval := "no interval"
			if bounds != stats.Unknown {
				interval = "95 % interval " + bounds
			}
			text = fmt.Sprintf("%s takes %s times as long as %s (%s", p.B, value, p.A, interval)
			if p.Metric != "" {
				text = fmt.Sprintf("%s of %s beside %s: %s, above 1 is worse (%s", p.Metric, p.B, p.A, value, interval)
			}
			if p.PValue.Known() {
				text += strings.Replace(", p = "+probability(p.PValue), "= <", "<", 1)
			}
			text += ")"
			if p.Outcome == stats.Undecided {
				better := "faster"
				if p.Metric != "" {
					better = "better"
				}
				text = "too little is known to say which is " + better + "; as measured, " + text
			}
		}
		lines = append(lines, Line{Strong: outcomeOf(p) + ":", Text: text, In: InText})
	}
	return lines
}
