package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"chronoscope/program"
	"chronoscope/stats"
)

// fewestShown is the least number of known percentiles for which they are shown: the median alone
// says nothing about the tail.
const fewestShown = 2

// hasTails reports whether a command was run often enough for a percentile above the median.
func hasTails(p program.Report) bool {
	return p.Percentiles != nil && len(p.Percentiles.Wall.Known()) >= fewestShown
}

// percentileLines writes the percentiles of single runs.
func percentileLines(p program.Report, unit stats.TimeUnit) []Line {
	if !hasTails(p) {
		return nil
	}
	return []Line{
		labelled("runs", "alone on the machine: %s", p.Percentiles.Time.In(unit)),
		labelled("", "by the clock: %s", p.Percentiles.Wall.In(unit)),
	}
}

// programPercentiles shows how single runs are distributed, for commands that were run often
// enough.
func programPercentiles(all []program.Report, unit stats.TimeUnit) Section {
	shown := where(all, hasTails)
	t := table(words("command", "time"), numbers("n"), words(tailNames()...), numbers("worst"))
	for _, p := range shown {
		t.row(tailRow(p.Command, "alone on the machine", p.Percentiles.Time, unit)...)
		t.row(tailRow(p.Command, "by the clock", p.Percentiles.Wall, unit)...)
	}
	s := Section{
		Title: "Single runs",
		Lead: "Each step is a run: this share of the runs took no longer. Crosses are outliers; point at one for its causes. " +
			"Percentiles have 95 % intervals by order statistics; a percentile for which there are too few runs is missing.",
		Charts: []Chart{runDistribution(shown, unit)}, Table: t,
	}
	if len(all) == 1 {
		t.In = OnPage // text has lines for this
	}
	labels := programLabels(shown)
	for i, p := range shown {
		s.Legend = append(s.Legend, seriesKey(i, labels[i]))
		s.Notes = append(s.Notes, where([]Line{{Text: strings.Join(p.Percentiles.Wall.Reasons, "; "), In: OnPage}}, func(l Line) bool { return l.Text != "" })...)
	}
	s.Notes = slices.CompactFunc(s.Notes, func(a, b Line) bool { return a.Text == b.Text })
	return s
}

// tailNames returns the names of the percentiles in a table. The table has a column for each, whatever a record holds.
func tailNames() (names []string) {
	for _, p := range stats.TailPercentiles {
		names = append(names, stats.PercentileName(stats.QuantileName(p)))
	}
	return names
}

// tailRow returns a row of a table of percentiles, each with its interval.
func tailRow(name, what string, t stats.Tails, unit stats.TimeUnit) []any {
	known := map[string]string{}
	for _, e := range t.Known() {
		known[stats.PercentileName(e.Statistic)] = fmt.Sprintf("%s (%s)", unit.Time(e), unit.Range(e))
	}
	row := []any{name, what, t.N}
	for _, percentile := range tailNames() {
		row = append(row, cmp.Or(known[percentile], stats.Unknown))
	}
	return append(row, unit.Duration(t.WorstNs.Value(), 3))
}

// mostSteps is how many steps of an empirical distribution function are drawn.
const mostSteps = 2000

// runDistribution is the empirical distribution function of the wall times of each command's runs.
func runDistribution(all []program.Report, unit stats.TimeUnit) Chart {
	var values []float64
	c := Chart{Label: "Share of the runs that took no longer than that", Y: Axis{Title: "share of the runs", Lo: 0, Hi: 1, Unit: Shares}}
	for i, p := range all {
		outliers := Series{Look: 3}
		causes := map[int]string{}
		for _, o := range p.Outliers {
			causes[o.Run] = cmp.Or(strings.Join(o.Causes, ", "), "cause not known")
		}
		order := make([]int, 0, len(p.Runs))
		for run := range p.Runs {
			if !p.Runs[run].Rejected {
				order = append(order, run)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Runs[a].WallNs, p.Runs[b].WallNs) })
		steps := Series{Look: i, Joined: true, Plain: true}
		for rank, run := range order {
			at := XY{X: p.Runs[run].WallNs, Y: float64(rank+1) / float64(len(order))}
			values = append(values, at.X)
			steps.Points = append(steps.Points, XY{X: at.X, Y: float64(rank) / float64(len(order))}, at)
			if why, apart := causes[run]; apart {
				at.Title = fmt.Sprintf("run %d: %s by the clock: %s", run+1, unit.Duration(at.X, 4), why)
				outliers.Points = append(outliers.Points, at)
			}
		}
		steps.Points = stats.Thinned(steps.Points, mostSteps)
		c.Series = append(c.Series, steps)
		if len(outliers.Points) > 0 {
			c.Series = append(c.Series, outliers)
		}
	}
	c.X = suited("time by the clock", Time, values)
	return c
}
