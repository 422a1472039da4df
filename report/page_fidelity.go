package report

import (
	"fmt"
	"math"
	"strings"

	"chronoscope/clock/check"
	"chronoscope/record"
	"chronoscope/stats"
)

// fidelitySheet shows whether counters can be trusted.
func fidelitySheet(d record.Fidelity) *sheet {
	s := sheetOf("Fidelity", d.Header)
	s.Tiles = trustTiles(d.Trust)
	s.add(trustSections(d.Trust)...)
	return s
}

func trustSections(d record.Trust) []section {
	return []section{countedSection(d.Sandwiches), differenceSection(d.Sandwiches), checkSection(d.Checks)}
}

// countedSection is Figure 1 of Kuperberg 2011b, of the first workload.
func countedSection(all []record.Sandwich) section {
	if len(all) == 0 || len(all[0].Samples) == 0 {
		return section{}
	}
	first := all[0]
	var requested, both []float64
	counted, reference := series{look: 1}, series{look: 0, joined: true}
	table := tableOf(figuresOf("requested", "by "+first.Reference, "by "+first.Counter, "ticks"))
	for _, p := range first.Samples {
		requested = append(requested, p.RequestedNs)
		both = append(both, p.ReferenceNs, orElse(p.CounterNs, p.ReferenceNs))
		reference.points = append(reference.points, seriesPoint{p.RequestedNs, p.ReferenceNs, ""})
		if p.CounterNs != nil {
			counted.points = append(counted.points, seriesPoint{p.RequestedNs, *p.CounterNs,
				fmt.Sprintf("asked for %s: %s by %s, %s by %s", duration(p.RequestedNs), durationTo(*p.CounterNs, 7), first.Counter, durationTo(p.ReferenceNs, 7), first.Reference)})
		}
		table.row(duration(p.RequestedNs), durationTo(p.ReferenceNs, 9), nsTo(p.CounterNs, 9), fmt.Sprint(p.CounterTicks))
	}
	return section{
		Title: fmt.Sprintf("%s beside %s: %s", first.Counter, first.Reference, first.Workload),
		Lead: "What both clocks measured, over what was asked for: a counter that stops or slows down falls below the line " +
			"(as in Figure 1 of Kuperberg and Reussner, ICPE 2011).",
		Legend: []legendKey{{Mark: seriesMark(1), Class: "s1", Text: first.Counter}, {Line: true, Mark: seriesMark(0), Class: "s0", Text: first.Reference}},
		Panels: []panel{{Chart: seriesChart{
			label: "Counted over requested time", x: linear(requested, tickDuration), y: linear(both, tickDuration),
			xTitle: "requested", yTitle: "measured", series: []series{reference, counted},
		}.chart()}},
		Table: table,
	}
}

// nsTo writes a time with that many digits, "?" for one that is not known.
func nsTo(v *float64, digits int) string {
	if v == nil {
		return "?"
	}
	return durationTo(*v, digits)
}

// differenceSection shows for each workload how far the counter was from the reference.
func differenceSection(all []record.Sandwich) section {
	if len(all) == 0 {
		return section{}
	}
	var values []float64
	for _, s := range all {
		values = append(values, orZero(s.PermittedNs), -orZero(s.PermittedNs), orZero(s.MaxErrorNs), -orZero(s.MaxErrorNs))
	}
	zero := 0.0
	chart := rowChart{label: "Counter less reference, by workload", title: "counter less reference", zero: &zero, x: linear(values, tickDuration)}
	table := tableOf(words("workload"), figuresOf("samples", "moved", "rate in MHz", "±", "worst error", "permitted", "worst share"), words("verdict", "reasons"))
	means := map[string]bool{}
	section := section{
		Title: "How far the counter was off",
		Lead: "Each dot is one run of a workload, read by both clocks. The grey bar is what the steps of the clocks, " +
			"and the time between reading one and the other, explain; a fault lies beyond it.",
		Legend: []legendKey{{Mark: "dot", Class: "s1", Text: "counter less reference"}, {Bar: true, Class: "permitted", Text: "explained"}},
		Table:  table,
	}
	for _, s := range all {
		chart.rows = append(chart.rows, differenceRow(s))
		table.row(s.Workload, fmt.Sprint(s.Count), fmt.Sprint(s.Migrations), megahertz(s.Rate.Value), interval(s.Rate),
			ns(s.MaxErrorNs), ns(s.PermittedNs), ppm(s.MaxErrorPPM), s.Verdict, strings.Join(s.Reasons, "; "))
		if !means[s.VerdictMeans] && s.VerdictMeans != "" {
			means[s.VerdictMeans] = true
			section.Notes = append(section.Notes, fmt.Sprintf("%s: %s", s.Verdict, s.VerdictMeans))
		}
	}
	section.Panels = []panel{{Chart: chart.chart()}}
	return section
}

func differenceRow(s record.Sandwich) chartRow {
	row := chartRow{name: s.Workload, figure: "at most " + ns(s.MaxErrorNs)}
	if s.PermittedNs != nil {
		row.bars = []rowSpan{{from: -*s.PermittedNs, to: *s.PermittedNs, class: "permitted", title: fmt.Sprintf("up to %s are explained", duration(*s.PermittedNs))}}
	}
	for i, p := range s.Samples {
		off := float64(p.CounterTicks)/s.Rate.Value*1e9 - p.ReferenceNs
		row.points = append(row.points, rowPoint{at: off, mark: "dot", class: "s1", rise: scattered(i),
			title: fmt.Sprintf("%s off in %s", signedDuration(off), duration(p.ReferenceNs))})
	}
	return row
}

func signedDuration(ns float64) string {
	if ns < 0 {
		return "\u2212" + duration(math.Abs(ns))
	}
	return "+" + duration(ns)
}

// checkSection says what was asked of each clock by itself.
func checkSection(all []check.Finding) section {
	if len(all) == 0 {
		return section{}
	}
	table := tableOf(words("clock", "question"), figuresOf("largest fault", "measured"), words("verdict", "reasons", "notes"))
	section := section{Title: "Each clock by itself", Table: table}
	fine := 0
	for _, f := range all {
		found := ""
		if f.Estimate != nil {
			found = measured(*f.Estimate)
		}
		fault := ""
		if f.WorstNs != nil {
			fault = duration(*f.WorstNs)
		}
		if f.Verdict == stats.Trusted {
			fine++
		}
		for _, reason := range f.Reasons {
			section.Notes = append(section.Notes, fmt.Sprintf("%s, %s is %s: %s", f.Clock, f.Check, f.Verdict, reason))
		}
		table.row(f.Clock, string(f.Check), fault, found, f.Verdict, strings.Join(f.Reasons, "; "), strings.Join(f.Notes, "; "))
	}
	section.Lead = fmt.Sprintf("%d questions were asked of %d clocks; %d answers are as they should be.", len(all), len(distinct(all, func(f check.Finding) string { return f.Clock })), fine)
	return section
}
