package report

import (
	"fmt"
	"math"
	"strings"

	"chronoscope/record"
	"chronoscope/stats"
)

// clocksSheet shows a ranking of clocks.
func clocksSheet(d record.Clocks) *sheet {
	s := sheetOf("Clocks", d.Header)
	for _, p := range purposes(d.Best) {
		if c := clockNamed(d.Clocks, p.name); c != nil {
			s.Tiles = append(s.Tiles, clockTile("For "+p.purpose, *c))
		}
	}
	s.add(rankingSections(d.Ranking)...)
	return s
}

// clockNamed is nil where there is no clock of that name.
func clockNamed(clocks []record.Clock, name *string) *record.Clock {
	for i, c := range clocks {
		if name != nil && c.Name == *name {
			return &clocks[i]
		}
	}
	return nil
}

func clockTile(topic string, c record.Clock) tile {
	return tile{
		Topic: topic, Figure: c.Name, Verdict: c.Verdict,
		Sentence: fmt.Sprintf("It moves in steps of %s, and a call takes %s. Read by %s.", accuracy(c.Accuracy), ns(c.Cost.MedianNs), or(c.API, "an unknown call")),
	}
}

// rankingSections are the figures of a ranking.
func rankingSections(r record.Ranking) []section {
	return []section{qualitySection(r), costSection(r), rateSection(r), unavailableSection(r)}
}

// qualitySection ranks the clocks by what they are worth.
func qualitySection(r record.Ranking) section {
	chart := rowChart{label: "Quality of each clock", title: "quality", x: scale{lo: 0, label: tickPercent}}
	table := tableOf(words("clock", "kind"), figuresOf("quality", "accuracy", "±", "median cost", "99th percentile", "spread", "accuracy in cycles", "cost in cycles"), words("verdict", "reasons"))
	for _, c := range r.Clocks {
		quality := orZero(c.Quality)
		chart.x.hi = math.Max(chart.x.hi, quality)
		chart.rows = append(chart.rows, chartRow{
			name: c.Name, figure: percent(c.Quality),
			bars: []rowSpan{{from: 0, to: quality, class: string(c.Verdict), title: fmt.Sprintf("%s: quality %s, %s", c.Name, percent(c.Quality), c.Verdict)}},
		})
		table.row(c.Name, string(c.Kind), percent(c.Quality), accuracy(c.Accuracy), interval(c.Accuracy), ns(c.Cost.MedianNs), ns(c.Cost.P99Ns),
			spread(c.Spread), cyclesOf(c.Cycles.Accuracy), cyclesOf(c.Cycles.Cost), c.Verdict, strings.Join(c.Reasons, "; "))
	}
	s := section{
		Title: "Which clock is best",
		Lead: "Quality joins accuracy a, cost c and spread s of a clock: a^−0.1 · c^−0.1 · s^0.5, with a and c in cycles of the core " +
			"(Kuperberg, Krogmann and Reussner, ICPE 2011). Spread is the share of calls whose cost is within one accuracy of the median. " +
			"A clock that steps back, changes its rate, or disagrees between threads has quality 0.",
		Legend: verdictLegend(chart.rows),
		Table:  table,
	}
	if chart.x.hi > 0 {
		chart.x.hi *= 1.05
		s.Panels = []panel{{Chart: chart.chart()}}
	}
	return s
}

// verdictLegend explains the looks of bars, where there is more than one.
func verdictLegend(rows []chartRow) []legendKey {
	seen := map[string]bool{}
	for _, row := range rows {
		for _, b := range row.bars {
			seen[b.class] = true
		}
	}
	if len(seen) < 2 {
		return nil
	}
	var keys []legendKey
	for _, v := range []stats.Verdict{stats.Trusted, stats.Suspect, stats.Unusable} {
		if seen[string(v)] {
			keys = append(keys, legendKey{Bar: true, Class: string(v), Text: string(v)})
		}
	}
	return keys
}

// costSection shows how the cost of a call is distributed, and the accuracy beside it.
func costSection(r record.Ranking) section {
	var all []float64
	for _, c := range r.Clocks {
		for _, v := range []*float64{c.Cost.MinNs, c.Cost.MaxNs, stats.Finite(c.Accuracy.Value)} {
			all = append(all, orZero(v))
		}
	}
	chart := rowChart{label: "Cost of a call, and accuracy, of each clock", title: "time, on a logarithmic scale", x: logarithmic(all, tickDuration)}
	table := tableOf(words("clock"), figuresOf("least", "median", "95th percentile", "99th percentile", "most", "accuracy"), words("distribution"))
	for _, c := range r.Clocks {
		chart.rows = append(chart.rows, costRow(c))
		table.row(c.Name, ns(c.Cost.MinNs), ns(c.Cost.MedianNs), ns(c.Cost.P95Ns), ns(c.Cost.P99Ns), ns(c.Cost.MaxNs), accuracy(c.Accuracy), word(c.Cost.Family))
	}
	s := section{
		Title: "What a call costs, and how fine a clock is",
		Lead: "The cost of single calls: half of them lie below the median, 95 in 100 within the thick line, 99 in 100 within the thin one. " +
			"The diamond is the accuracy, the distance between two values that the clock can show: the farther to the left, the better.",
		Legend: []legendKey{
			{Mark: "dot", Class: "s1", Text: "median cost"}, {Line: true, Class: "thick", Text: "least to 95th percentile"},
			{Line: true, Class: "thin", Text: "to 99th"}, {Mark: "tick", Class: "faint", Text: "dearest call"}, {Mark: "diamond", Class: "s2", Text: "accuracy"},
		},
		Table: table,
	}
	if len(chart.rows) > 0 {
		s.Panels = []panel{{Chart: chart.chart()}}
	}
	return s
}

func costRow(c record.Clock) chartRow {
	row := chartRow{name: c.Name, figure: fmt.Sprintf("%s a call, accurate to %s", ns(c.Cost.MedianNs), accuracy(c.Accuracy))}
	span := func(from, to *float64, class, what string) {
		if from != nil && to != nil {
			row.spans = append(row.spans, rowSpan{*from, *to, class, fmt.Sprintf("%s: %s, %s to %s", c.Name, what, duration(*from), duration(*to))})
		}
	}
	span(c.Cost.MinNs, c.Cost.P99Ns, "thin", "99 in 100 calls")
	span(c.Cost.MinNs, c.Cost.P95Ns, "thick", "95 in 100 calls")
	point := func(v *float64, mark, class, what string) {
		if v != nil && *v > 0 {
			row.points = append(row.points, rowPoint{at: *v, mark: mark, class: class, title: fmt.Sprintf("%s: %s %s", c.Name, what, durationTo(*v, 4))})
		}
	}
	point(c.Cost.MaxNs, "tick", "faint", "the dearest call took")
	point(stats.Finite(c.Accuracy.Value), "diamond", "s2", "accuracy")
	point(c.Cost.MedianNs, "dot", "s1", "median cost")
	return row
}

// rateSection says how fast counters run, and what others say of it.
func rateSection(r record.Ranking) section {
	table := tableOf(words("counter", "rate by"), figuresOf("MHz", "±", "off"))
	for _, c := range r.Counters {
		table.row(c.Name, c.Reference, megahertz(c.RateHz.Value), interval(c.RateHz), "")
		for _, claim := range c.Claims {
			table.row("", claim.Source, megahertz(claim.Hz), "", minus(significant(claim.PPM, 3))+" ppm")
		}
	}
	return section{Title: "How fast the counters run", Lead: "Measured against a clock of the kernel's, and beside it what others say. What they say is not used.", Table: table}
}

// unavailableSection lists what can't be read here.
func unavailableSection(r record.Ranking) section {
	table := tableOf(words("clock", "why it can't be read", "what helps"))
	for _, u := range r.Unavailable {
		table.row(u.Name, u.Reason, word(u.Remedy))
	}
	return section{Title: "Not available here", Table: table}
}

// cyclesOf writes a number of cycles.
func cyclesOf(v *float64) string {
	switch {
	case v == nil:
		return "?"
	case *v >= 1e6:
		return fmt.Sprintf("%.2g", *v)
	}
	return fmt.Sprintf("%.0f", *v)
}
