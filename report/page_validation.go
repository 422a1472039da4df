package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/validate"
)

// validationSheet shows how good methods are on a machine.
func validationSheet(d record.Validation) *sheet {
	s := sheetOf("Validation", d.Header)
	for _, scheme := range []string{validate.OwnKBest, validate.OwnProgram} {
		if t, measured := coverageTile(scheme, d.Coverage); measured {
			s.Tiles = append(s.Tiles, t)
		}
	}
	s.add(errorSection(d.Cells), reachSection(d.Reach), coverageSection(d.Coverage))
	if len(d.Compensation) > 0 {
		s.add(compensationSection(d.Compensation))
	}
	s.add(timersSection(d.Timers))
	return s
}

// coverageTile says how often the claims of a scheme held, at all loads together.
func coverageTile(scheme string, rows []validate.Coverage) (tile, bool) {
	cells, covered, unusable, unjudged := 0, 0, 0, 0
	for _, c := range rows {
		if c.Scheme == scheme {
			cells, covered, unusable, unjudged = cells+c.Cells, covered+c.Covered, unusable+c.Unusable, unjudged+c.Unjudged
		}
	}
	share := leftOut(validate.Coverage{Cells: cells, Unusable: unusable, Unjudged: unjudged})
	return tile{
		Topic: "Claims of " + scheme, Figure: fmt.Sprintf("%d of %d held, %.0f %% left out", covered, cells, 100*share),
		Sentence: fmt.Sprintf("Its 95 %% interval held the truth in %d of %d cells; in %d others it said itself that it has no usable figure, and of %d nobody knows the truth.", covered, cells, unusable, unjudged),
	}, cells+unusable+unjudged > 0
}

// errorSection has a chart for each scheme: its error over the length of the work.
func errorSection(cells []record.ValidationCell) section {
	cells = slices.DeleteFunc(slices.Clone(cells), func(c record.ValidationCell) bool { return !shownInText(c.Scheme) })
	loads := distinct(cells, func(c record.ValidationCell) int { return c.Load })
	slices.Sort(loads)
	s := section{
		Title: "How far methods of measuring are off",
		Lead: "The error of each method over the length of the work, both on logarithmic scales, at each number of processes on the CPU. " +
			"At the foot are errors of 0.01 % and less, better than the truth is known (after Bryant and O'Hallaron 2003, Figures 9.8 to 9.22).",
		Table: errorData(cells),
	}
	for i, load := range loads {
		s.Legend = append(s.Legend, legendKey{Mark: seriesMark(i), Line: true, Class: seriesClass(i), Text: fmt.Sprintf("load %d", load)})
	}
	for _, scheme := range distinct(cells, func(c record.ValidationCell) string { return c.Scheme }) {
		s.Panels = append(s.Panels, panel{Title: scheme, Chart: errorChart(cells, scheme, loads)})
	}
	return s
}

func errorChart(cells []record.ValidationCell, scheme string, loads []int) *chart {
	var times []float64
	for _, c := range cells {
		times = append(times, float64(c.DurationNs))
	}
	chart := seriesChart{
		label: "Error of " + scheme + " over the length of the work", xTitle: "length of the work", yTitle: "error",
		x: logarithmic(times, tickDuration), y: scale{lo: leastError, hi: mostError, log: true, label: tickPercent},
	}
	for i, load := range loads {
		for _, work := range worksOf(cells) {
			one := series{look: i, joined: work == string(validate.Chain)}
			for _, c := range cells {
				if c.Scheme == scheme && c.Load == load && c.Work == work && c.Error != nil && !c.NoTruth {
					one.points = append(one.points, seriesPoint{c.Expected.Value, math.Max(math.Abs(*c.Error), leastError),
						fmt.Sprintf("%s at load %d: %s of %s, %s", scheme, load, perOperation(c.Expected), work, signedPercent(*c.Error))})
				}
			}
			slices.SortFunc(one.points, func(a, b seriesPoint) int { return cmp.Compare(a.x, b.x) })
			chart.series = append(chart.series, one)
		}
	}
	return chart.chart()
}

func errorData(cells []record.ValidationCell) *dataTable {
	table := tableOf(words("method", "work"), figuresOf("load", "length", "truth", "estimate", "error"), words("held", "verdict", "reasons"))
	for _, c := range cells {
		off, held := "?", ""
		if c.Error != nil && !c.NoTruth {
			off = signedPercent(*c.Error)
		}
		if c.Covered != nil {
			held = map[bool]string{true: "yes", false: "no"}[*c.Covered]
		}
		table.row(c.Scheme, c.Work, fmt.Sprint(c.Load), duration(float64(c.DurationNs)), perOperation(c.Expected), perOperation(c.Estimate), off, held, c.Verdict, strings.Join(c.Reasons, "; "))
	}
	return table
}

// reachSection shows between which durations a method can be relied on.
func reachSection(rows []validate.Reach) section {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r validate.Reach) bool { return !shownInText(r.Scheme) })
	table := tableOf(words("method"), figuresOf("load", "within", "from", "to"))
	for _, r := range rows {
		from, to := ns(r.MinDurationNs), ns(r.MaxDurationNs)
		if r.MaxDurationNs == nil {
			from, to = "never", "never"
		}
		table.row(r.Scheme, fmt.Sprint(r.Load), relative(r.Tolerance), from, to)
	}
	return section{Title: "What can be relied on", Lead: "Between which durations each method kept within a tolerance.", Table: table}
}

// coverageSection says how often each claim held.
func coverageSection(rows []validate.Coverage) section {
	table := tableOf(words("method"), figuresOf("load", "held", "of", "unusable", "no truth", "± typically"))
	for _, c := range rows {
		if !shownInText(c.Scheme) {
			continue
		}
		table.row(c.Scheme, fmt.Sprint(c.Load), fmt.Sprint(c.Covered), fmt.Sprint(c.Cells), fmt.Sprint(c.Unusable), fmt.Sprint(c.Unjudged), relativeOf(c.MedianWidth))
	}
	return section{Title: "How often the claims held", Lead: "A claim holds where the method's interval meets that of the truth; a 95 % interval should in 19 of 20 cells.", Table: table}
}

// compensationSection says what compensation for interrupts takes off.
func compensationSection(rows []validate.Compensation) section {
	table := tableOf(figuresOf("length", "error", "seen to go", "taken off", "of what was seen", "residual", validate.OwnKBest+"'s"))
	for _, c := range rows {
		table.row(compensationCells(c)...)
	}
	return section{
		Title: "What interrupts take, and compensation takes off", Table: table,
		Lead: "The source's K-best (K = 3) without competitors, beside what a trace of that same run saw go (after Bryant and O'Hallaron 2003, Figure 9.16).",
	}
}

func timersSection(timers []validate.Timer) section {
	table := tableOf(words("clock"), figuresOf("resolution", "latency"))
	for _, t := range timers {
		table.row(t.Name, ns(t.ResolutionNs), ns(stats.Finite(t.LatencyNs)))
	}
	return section{Title: "Clocks of the source", Lead: "As Figure 9.21 of Bryant and O'Hallaron (2003) has them.", Table: table}
}
