package report

import (
	"fmt"
	"strings"

	"chronoscope/record"
	"chronoscope/stats"
)

// slowClockSheet shows what slow clocks make of an event.
func slowClockSheet(d record.SlowClock) *sheet {
	s := sheetOf("Slow clocks", d.Header)
	for _, e := range d.Estimates {
		s.Tiles = append(s.Tiles, tile{
			Topic: "By " + e.Method, Figure: perOperation(e.Estimate), Verdict: e.Verdict,
			Sentence: fmt.Sprintf("An event of about %s by %s, which ticks every %s; a fine clock says %s.%s", duration(d.EventNs), e.Clock, duration(e.TickNs), perOperation(e.Truth), because(e.Reasons)),
		})
	}
	s.add(slowEstimateSection(d.Estimates), planSection(d))
	return s
}

func slowEstimateSection(all []record.SlowEstimate) section {
	if len(all) == 0 {
		return section{}
	}
	var values []float64
	for _, e := range all {
		values = append(values, e.Estimate.Lo, e.Estimate.Hi, e.Estimate.Value, e.Truth.Value)
	}
	chart := rowChart{label: "What each method found, beside a fine clock", title: "time of the event", x: linear(values, tickDuration)}
	table := tableOf(words("method", "clock"), figuresOf("estimate", "95 % interval", "fine clock", "trials", "ticks", "took"), words("verdict", "reasons"))
	for _, e := range all {
		row := chartRow{name: e.Method + " by " + e.Clock, figure: WithError(e.Estimate)}
		row.spans, row.points = estimateMark(e.Estimate)
		if v := stats.Finite(e.Truth.Value); v != nil {
			row.points = append(row.points, rowPoint{at: *v, mark: "bar", class: "s0", title: "a fine clock says " + durationTo(*v, 5)})
		}
		chart.rows = append(chart.rows, row)
		table.row(e.Method, e.Clock, perOperation(e.Estimate), span95(e.Estimate), perOperation(e.Truth), fmt.Sprint(e.Trials), fmt.Sprint(e.Edges), duration(e.ElapsedNs), e.Verdict, strings.Join(e.Reasons, "; "))
	}
	return section{
		Title:  "What a slow clock says",
		Lead:   "The diamond is a method's result, the thick line its 95 % interval, and the upright line what a fine clock says of the same executions.",
		Legend: []legendKey{{Mark: "diamond", Class: "s2", Text: "estimate"}, {Line: true, Class: "thick", Text: "95 % interval"}, {Mark: "bar", Class: "s0", Text: "fine clock"}},
		Panels: []panel{{Chart: chart.chart()}},
		Table:  table,
	}
}

// planSection says what so many digits take.
func planSection(d record.SlowClock) section {
	table := tableOf(figuresOf("digits", "±", "Bernoulli trials", "they take here", "in a tight loop", "a counting thread"))
	for _, r := range d.Plan {
		table.row(fmt.Sprint(r.Digits), duration(r.EpsilonNs), trialCount(r.Trials), longTime(r.BernoulliNs), longTime(r.DiscreteNs), longTime(r.CounterNs))
	}
	return section{Title: "What it takes to know an event of " + duration(d.EventNs), Lead: "Trials by equation (3) of Lambert and Power (2008), as if they were independent of one another.", Table: table}
}
