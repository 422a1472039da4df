package view

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"chronoscope/record"
	"chronoscope/remedy"
	"chronoscope/stats"
	"chronoscope/validate"
)

var _ = register(90, "validate", validation,
	listing(func(d record.Validation) []validate.Outcome { return d.Outcomes }, "scheme work load duration_ns expected estimate error no_truth marks covered verdict reasons kind neighbours resumed_from"), methodFigures)

// validation shows how good methods are on a machine.
func validation(d record.Validation) *Sheet {
	s := sheet("Validation", d.Header)
	for _, scheme := range []string{validate.OwnKBest, validate.OwnProgram} {
		if t, measured := coverageTile(scheme, d.Coverage); measured {
			s.Tiles = append(s.Tiles, t)
		}
	}
	s.add(resumed(d.Outcomes), sourceTimers(d.Timers), fits(d.Fits), errorCharts(d), intervalCounting(d.Samples), measuredAgain(d.Samples))
	for _, work := range distinct(d.Outcomes, workOf) {
		s.add(errorsByLength(d.Outcomes, work))
	}
	s.add(ownDoubts(d.Outcomes), compensation(d.Compensation), reach(d.Reach), reachByRegime(d.Reach), truth(d.Outcomes), coverage("its claim held", d.Coverage))
	if d.AddedUp != nil {
		s.add(coverage(fmt.Sprintf("its claim held, in %d runs", d.AddedUp.Runs), d.AddedUp.Coverage))
	}
	return s
}

// resumed says how many cells an earlier start of the validation measured, and when: other programs
// may have run on the machine then.
func resumed(cells []validate.Outcome) Section {
	var first, last time.Time
	n := 0
	for _, c := range cells {
		if c.Resumed == nil {
			continue
		}
		if n++; n == 1 || c.Resumed.Before(first) {
			first = *c.Resumed
		}
		if c.Resumed.After(last) {
			last = *c.Resumed
		}
	}
	if n == 0 {
		return Section{}
	}
	return Section{Title: "Of an earlier start", Lines: []Line{say(
		"%d of %d figures were measured by an earlier start, from %s to %s, and are marked %s; %s measures them anew",
		n, len(cells), first.Format(time.DateTime), last.Format(time.DateTime), resumedMark, remedy.Of(remedy.Restart))}}
}

// resumedMark marks errors that an earlier start measured.
const resumedMark = "*"

// errorOf writes a cell's error with its sign, and with the mark of an earlier start.
func errorOf(c validate.Outcome) string {
	if c.Resumed != nil {
		return signed(c.Error) + resumedMark
	}
	return signed(c.Error)
}

func workOf(c validate.Outcome) validate.Work     { return c.Work }
func regimeOf(c validate.Outcome) validate.Regime { return c.Regime }

// beside says what ran during a measurement.
func beside(r validate.Regime) string {
	if r.Named().Neighbours == validate.NoNeighbours {
		return "alone"
	}
	return "beside " + r.String()
}

func methodOf(c validate.Outcome) string { return method(c.Scheme, c.Kind) }

// ownOf returns the rank of a method among this project's own ones, and -1 for other methods.
func ownOf(method string) int {
	return slices.IndexFunc([]string{validate.OwnProgram, validate.OwnKBest}, func(own string) bool { return strings.HasPrefix(method, own) })
}

// method returns a scheme's name, with what the measured programs do.
func method(scheme string, k validate.Kind) string {
	if k == validate.Compute {
		return scheme
	}
	return fmt.Sprintf("%s (%s)", scheme, k)
}

// isShown reports whether text and tables include a scheme. Of the K-best schemes only those with
// K = 3, the source's value, are shown.
func isShown(scheme string) bool {
	_, k, numbered := strings.Cut(scheme, "-k")
	return !numbered || strings.HasPrefix(k, "3")
}

// coverageTile says how often the intervals of a scheme covered the truth, in all regimes together.
func coverageTile(scheme string, rows []validate.Coverage) (Tile, bool) {
	cells, covered, unusable, unjudged := 0, 0, 0, 0
	for _, c := range where(rows, func(c validate.Coverage) bool { return c.Scheme == scheme }) {
		cells, covered, unusable, unjudged = cells+c.Cells, covered+c.Covered, unusable+c.Unusable, unjudged+c.Unjudged
	}
	share := leftOut(validate.Coverage{Cells: cells, Unusable: unusable, Unjudged: unjudged})
	return Tile{
		Topic: "Claims of " + scheme, Figure: fmt.Sprintf("%d of %d held, %.0f %% left out", covered, cells, 100*share),
		Sentence: fmt.Sprintf("Its 95 %% interval held the truth in %d of %d cells. In %d others it said itself that it has no usable figure; %d were left out, as their truth is not known.", covered, cells, unusable, unjudged),
	}, cells+unusable+unjudged > 0
}

// sourceTimers shows the resolution and latency of clocks (Figure 9.21 of Bryant 2003).
func sourceTimers(timers []validate.Timer) Section {
	t := table(words("clock"), numbers("resolution", "latency"))
	for _, timer := range timers {
		t.row(timer.Name, duration(timer.ResolutionNs), duration(timer.LatencyNs))
	}
	return Section{Title: "Clocks of the source", Lead: "As Figure 9.21 of Bryant and O'Hallaron (2003) has them.", Table: t}
}

// fits shows the line that gives the truth of each work, and how far short runs lay from it.
func fits(all []validate.WorkFit) Section {
	s := Section{Title: "How the truth is known"}
	for _, f := range all {
		s.Lines = append(s.Lines, say("%s %s: r rounds take %s r %+.3g ns, short runs to within %s", f.Work, beside(f.Regime), duration(f.RoundNs), f.StartNs, stats.Share(f.Error)))
	}
	return s
}

// Charts show errors from leastError, about the error of the truth itself, to mostError.
const leastError, mostError = 1e-4, 30

// errorCharts has a chart for each scheme: its error over the length of the work.
func errorCharts(d record.Validation) Section {
	regimes := regimesOf(d.Outcomes, regimeOf)
	t := table(words("method", "work", "neighbours"), numbers("length", "truth", "estimate", "error"), words("held", "verdict", "reasons"))
	s := Section{
		Title: "How far methods of measuring are off", In: OnPage,
		Lead: "The error of each method over the length of the work, both on logarithmic scales, beside each kind of neighbours; the number is the load: how many threads want the CPU. " +
			"At the foot are errors of 0.01 % and less, better than the truth is known. Joined marks are a chain of multiplications (after Bryant and O'Hallaron 2003, Figures 9.8 to 9.22).",
		Table: t,
	}
	for i, r := range regimes {
		s.Legend = append(s.Legend, seriesKey(i, r.String()))
	}
	methods := distinct(d.Outcomes, methodOf)
	slices.SortStableFunc(methods, func(a, b string) int { return cmp.Compare(ownOf(b), ownOf(a)) })
	for _, method := range methods {
		s.Charts = append(s.Charts, errorChart(d.Outcomes, method, regimes))
	}
	for _, c := range d.Outcomes {
		off, held := stats.Unknown, ""
		if !c.NoTruth {
			off = errorOf(c)
		}
		if c.Covered != nil {
			held = map[bool]string{true: "yes", false: "no"}[*c.Covered]
		}
		t.row(methodOf(c), c.Work, c.Regime, duration(float64(c.DurationNs)), written(c.Expected), written(c.Estimate), off, held, c.Verdict, joined(c.Reasons))
	}
	return s
}

// regimesOf returns the regimes of some elements, in order.
func regimesOf[E any](all []E, of func(E) validate.Regime) []validate.Regime {
	regimes := distinct(all, of)
	slices.SortFunc(regimes, validate.CompareRegimes)
	return regimes
}

// intervalCounting shows Figure 9.8 of Bryant 2003: the relative error of the kernel's accounts for
// each sample, at most 100 %.
func intervalCounting(samples []validate.CellSamples) Section {
	s := samplesSection("How far interval counting is off", "Each mark is one sample by an account of the kernel's; beyond 100 % it stands at the edge (as Figure 9.8 of Bryant and O'Hallaron 2003).", samples)
	for _, account := range []struct {
		title string
		of    func(validate.CellSamples) []stats.Float
	}{
		{"by times", func(x validate.CellSamples) []stats.Float { return x.TimesNs }},
		{"by getrusage", func(x validate.CellSamples) []stats.Float { return x.GetrusageNs }},
	} {
		chart := Chart{Title: account.title, Label: "Error of interval counting " + account.title, Y: Axis{Title: "error", Lo: -1, Hi: 1, Unit: Shares}}
		for i, r := range regimesOf(samples, func(x validate.CellSamples) validate.Regime { return x.Regime }) {
			one := Series{Look: i}
			for _, x := range where(samples, func(x validate.CellSamples) bool { return x.Regime == r }) {
				for _, ns := range account.of(x) {
					if !ns.Known() {
						continue
					}
					off := (ns.Value() - x.Expected.Value) / x.Expected.Value
					one.Points = append(one.Points, XY{x.Expected.Value, math.Max(-1, math.Min(1, off)), fmt.Sprintf("%s: %s of %s, %s", r, written(x.Expected), x.Work, signed(off))})
				}
			}
			chart.Series = append(chart.Series, one)
		}
		if times := chart.xs(); len(times) > 0 {
			chart.X = logarithmic("expected time", Time, times)
			s.Charts = append(s.Charts, chart)
		}
	}
	return withCharts(s)
}

// measuredAgain shows Figures 9.11 and 9.12 of Bryant 2003: the samples of a long and of a short
// procedure, one after the other.
func measuredAgain(samples []validate.CellSamples) Section {
	s := samplesSection("A procedure, measured again and again", "The wall time of each measurement, in their order, of a long and of a short procedure (as Figures 9.11 and 9.12 of Bryant and O'Hallaron 2003).", samples)
	for _, about := range []struct {
		title string
		ns    int64
	}{{"a long procedure", 30e6}, {"a short procedure", 1e6}} {
		var places, times []float64
		chart := Chart{Title: about.title, Label: "Measured times of " + about.title}
		for i, r := range regimesOf(samples, func(x validate.CellSamples) validate.Regime { return x.Regime }) {
			one := Series{Look: i, Joined: true}
			for n, ns := range nearest(samples, r, about.ns).WallNs {
				places, times = append(places, float64(n+1)), append(times, ns)
				one.Points = append(one.Points, XY{float64(n + 1), ns, fmt.Sprintf("%s, measurement %d: %s", r, n+1, stats.Duration(ns, 4))})
			}
			chart.Series = append(chart.Series, one)
		}
		chart.X, chart.Y = linear("measurement", Plain, places), linear("measured time", Time, append(times, 0))
		if len(times) > 0 {
			s.Charts = append(s.Charts, chart)
		}
	}
	return withCharts(s)
}

// nearest returns the samples of the shortest work in a regime that takes ns or longer; of several works as long as
// that, it prefers [validate.Ints]. It returns empty samples if there is none.
func nearest(samples []validate.CellSamples, r validate.Regime, ns int64) (best validate.CellSamples) {
	for _, x := range samples {
		longer := x.Regime == r && x.DurationNs >= ns
		if longer && (best.WallNs == nil || x.DurationNs < best.DurationNs || x.DurationNs == best.DurationNs && x.Work == validate.Ints) {
			best = x
		}
	}
	return best
}

// samplesSection returns a section with a row for each cell, and a key for each regime.
func samplesSection(title, lead string, samples []validate.CellSamples) Section {
	t := table(words("work", "neighbours"), numbers("truth", "least", "median", "most", "samples"))
	s := Section{Title: title, Lead: lead, In: OnPage, Table: t}
	for i, r := range regimesOf(samples, func(x validate.CellSamples) validate.Regime { return x.Regime }) {
		s.Legend = append(s.Legend, Key{Mark: SeriesMark(i), Look: SeriesLook(i), Text: r.String()})
	}
	for _, x := range samples {
		least, most := extremes(x.WallNs)
		median := stats.Median(x.WallNs)
		t.row(x.Work, x.Regime, written(x.Expected), duration(least), duration(median), duration(most), len(x.WallNs))
	}
	return s
}

// withCharts returns s if it has charts, and otherwise an empty section.
func withCharts(s Section) Section {
	if len(s.Charts) == 0 {
		return Section{}
	}
	return s
}

func errorChart(cells []validate.Outcome, method string, regimes []validate.Regime) Chart {
	var times []float64
	for _, c := range cells {
		times = append(times, float64(c.DurationNs))
	}
	chart := Chart{
		Title: method, Label: "Error of " + method + " over the length of the work", X: logarithmic("length of the work", Time, times),
		Y: Axis{Title: "error", Lo: leastError, Hi: mostError, Log: true, Unit: Shares},
	}
	chart.X.Title = "length of the work"
	for i, r := range regimes {
		for _, work := range distinct(cells, workOf) {
			one := Series{Look: i, Joined: work == validate.Chain}
			for _, c := range cells {
				if methodOf(c) == method && c.Regime == r && c.Work == work && c.Error.Known() && !c.NoTruth {
					one.Points = append(one.Points, XY{c.Expected.Value, math.Max(math.Abs(c.Error.Value()), leastError),
						fmt.Sprintf("%s %s: %s of %s, %s", method, beside(r), written(c.Expected), work, signed(c.Error))})
				}
			}
			slices.SortFunc(one.Points, func(a, b XY) int { return cmp.Compare(a.X, b.X) })
			chart.Series = append(chart.Series, one)
		}
	}
	return chart
}

// errorsByLength has, in text, a row for each method and regime, and a column for each duration.
func errorsByLength(cells []validate.Outcome, work validate.Work) Section {
	cells = where(cells, func(c validate.Outcome) bool { return c.Work == work && isShown(c.Scheme) })
	durations := distinct(cells, func(c validate.Outcome) int64 { return c.DurationNs })
	slices.Sort(durations)
	t := table(words("error of "+string(work), "neighbours"))
	for _, d := range durations {
		t.Columns = append(t.Columns, numbers(duration(float64(d)))...)
	}
	for _, method := range distinct(cells, methodOf) {
		own := where(cells, func(c validate.Outcome) bool { return methodOf(c) == method })
		name := strong(method)
		for _, r := range regimesOf(own, regimeOf) {
			row := []any{name, r}
			for _, d := range durations {
				row = append(row, errorAt(own, r, d))
			}
			t.row(row...)
			name = ""
		}
	}
	return Section{In: InText, Table: t}
}

func errorAt(cells []validate.Outcome, r validate.Regime, length int64) string {
	i := slices.IndexFunc(cells, func(c validate.Outcome) bool { return c.Regime == r && c.DurationNs == length })
	switch {
	case i < 0:
		return ""
	case !cells[i].Error.Known():
		return "-"
	case cells[i].NoTruth: // without a truth no error is marked as wrong, so that the verdict is shown
		return fmt.Sprintf("(%s %s)", errorOf(cells[i]), cells[i].Verdict)
	}
	return errorOf(cells[i])
}

// figuresInText matches numbers. Reasons that differ only in numbers are merged.
var figuresInText = regexp.MustCompile(`[0-9][0-9.,]*`)

// ownDoubts says why this project's own results are not trusted, with one line for each reason.
func ownDoubts(cells []validate.Outcome) Section {
	var reasons folds
	first := map[string]string{}
	for _, c := range cells {
		if c.Scheme != validate.OwnKBest && c.Scheme != validate.OwnProgram {
			continue
		}
		what := strings.TrimPrefix(string(c.Work)+" ", string(validate.Chain)+" ")
		all := slices.Clone(c.Reasons)
		for _, mark := range c.Marks {
			all = append(all, "left out of the counts: "+mark)
		}
		for _, reason := range all {
			pattern := figuresInText.ReplaceAllString(reason, "#")
			if first[pattern] == "" {
				first[pattern] = reason
			}
			reasons.add(fold{verdict: c.Verdict, mark: methodOf(c) + ",", text: first[pattern]}, fmt.Sprintf("%s%s %s", what, duration(float64(c.DurationNs)), beside(c.Regime)))
		}
	}
	return Section{In: InText, Lines: reasons.lines(-1, len(cells))}
}

// compensation shows the error of Bryant's K-best, the time that interrupts took according to a trace of the same
// run, and the time that the compensation for timer interrupts subtracts.
func compensation(rows []validate.Compensation) Section {
	t := table(words("compensation, alone"), numbers("error", "seen to go", "taken off", "of what was seen", "residual", validate.OwnKBest+"'s"))
	for _, c := range rows {
		part, own := stats.Unknown, "-"
		if c.LostNs > 0 {
			part = fmt.Sprintf("%.0f %%", 100*c.RemovedNs/c.LostNs)
		}
		if c.OwnResidual.Known() {
			own = signed(c.OwnResidual)
		}
		t.row(duration(c.DurationNs), duration(c.ErrorNs), duration(c.LostNs), duration(c.RemovedNs), part, signed(c.Residual), own)
	}
	return Section{
		Title: "What interrupts take, and compensation takes off", Table: t,
		Lead: "The source's K-best (K = 3) without competitors, beside what a trace of that same run saw go (after Bryant and O'Hallaron 2003, Figure 9.16).",
	}
}

// reach shows, on a page, for which durations a method is reliable.
func reach(rows []validate.Reach) Section {
	t := table(words("method", "neighbours"), numbers("within", "from", "to"))
	for _, r := range where(rows, func(r validate.Reach) bool { return isShown(r.Scheme) }) {
		from, to := duration(r.MinDurationNs), duration(r.MaxDurationNs)
		if !r.MaxDurationNs.Known() {
			from, to = "never", "never"
		}
		t.row(method(r.Scheme, r.Kind), r.Regime, stats.Share(r.Tolerance), from, to)
	}
	return Section{Title: "What can be relied on", In: OnPage, Lead: "Between which durations each method kept within a tolerance.", Table: t}
}

// reachByRegime shows the reach of each method in text, with a column for each regime.
func reachByRegime(rows []validate.Reach) Section {
	rows = where(rows, func(r validate.Reach) bool { return isShown(r.Scheme) })
	regimes := regimesOf(rows, func(r validate.Reach) validate.Regime { return r.Regime })
	t := table(words("relied on"), numbers("to within"))
	for _, r := range regimes {
		t.Columns = append(t.Columns, numbers(r.String())...)
	}
	for _, named := range distinct(rows, func(r validate.Reach) string { return method(r.Scheme, r.Kind) }) {
		name := strong(named)
		for _, tolerance := range validate.Tolerances {
			row := []any{name, stats.Share(tolerance)}
			for _, r := range regimes {
				row = append(row, reachAt(rows, named, r, tolerance))
			}
			t.row(row...)
			name = ""
		}
	}
	return Section{In: InText, Table: t}
}

func reachAt(rows []validate.Reach, named string, in validate.Regime, tolerance float64) string {
	for _, r := range rows {
		if method(r.Scheme, r.Kind) != named || r.Regime != in || r.Tolerance != tolerance {
			continue
		}
		switch {
		case !r.MaxDurationNs.Known():
			return "never"
		case r.MinDurationNs == r.MaxDurationNs:
			return duration(r.MaxDurationNs)
		}
		return duration(r.MinDurationNs) + " to " + duration(r.MaxDurationNs)
	}
	return ""
}

// truth says how well the truth was known. An estimate is judged against the truth's interval, so
// that a wide truth makes a covering interval less meaningful.
func truth(cells []validate.Outcome) Section {
	var widths []float64
	for _, c := range cells {
		if width := c.Expected.RelativeHalfWidth(); !c.NoTruth && !math.IsNaN(width) {
			widths = append(widths, width)
		}
	}
	if len(widths) == 0 {
		return Section{}
	}
	return Section{Title: "How well the truth is known", Lines: []Line{say(
		"The truth was known to ±%s typically, and to ±%s at worst. A claim holds where the method's interval holds the truth, to within that and 1 %%. "+
			"Cells whose truth is not known stand in brackets, with the method's own verdict; they are left out of the counts.",
		stats.Share(stats.Median(widths)), stats.Share(slices.Max(widths)))}}
}

// coverage shows how often each scheme's interval covered the truth, this project's schemes last.
func coverage(title string, rows []validate.Coverage) Section {
	rows = where(rows, func(c validate.Coverage) bool { return isShown(c.Scheme) })
	slices.SortStableFunc(rows, func(a, b validate.Coverage) int {
		return cmp.Or(cmp.Compare(ownOf(a.Scheme), ownOf(b.Scheme)), cmp.Compare(a.Kind, b.Kind))
	})
	t := table(words(title, "neighbours"), numbers("held", "left out", "unusable", "± typically"))
	before := ""
	for _, c := range rows {
		name := strong(method(c.Scheme, c.Kind))
		if string(name) == before {
			name = ""
		} else {
			before = string(name)
		}
		t.row(name, c.Regime, fmt.Sprintf("%d of %d", c.Covered, c.Cells), fmt.Sprintf("%d (%.0f %%)", c.Unjudged, 100*leftOut(c)), c.Unusable, share(c.MedianWidth))
	}
	return Section{Title: "How often the claims held", Lead: "A claim holds where the method's interval holds the truth, to within what is known of the truth and 1 %; a 95 % interval should in 19 of 20 cells. Left out are cells whose truth is not known.", Table: t}
}

// leftOut returns the share of the cells that were not judged because their truth is not known.
func leftOut(c validate.Coverage) float64 {
	return float64(c.Unjudged) / math.Max(1, float64(c.Cells+c.Unusable+c.Unjudged))
}

// methodFigures returns how often a method's interval covered the truth, and up to which duration
// it stayed within a tolerance.
func methodFigures(d record.Validation) (all []Figure) {
	for _, c := range d.Coverage {
		if c.Cells == 0 {
			continue
		}
		covered := float64(c.Covered) / float64(c.Cells)
		all = append(all, bareFigure(FigureKey{TopicMethod, method(c.Scheme, c.Kind) + " " + beside(c.Regime), "coverage"}, Higher, "share", covered, stats.Trusted, nil)...)
	}
	for _, r := range d.Reach {
		name := fmt.Sprintf("%s %s, within %g %%", method(r.Scheme, r.Kind), beside(r.Regime), 100*r.Tolerance)
		all = append(all, bareFigure(FigureKey{TopicMethod, name, "reach"}, Higher, "ns", r.MaxDurationNs, stats.Trusted, nil)...)
	}
	return all
}
