package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"chronoscope/activity"
	"chronoscope/record"
	"chronoscope/stats"
)

// activitySheet shows when threads ran, and what kept them from it.
func activitySheet(d record.Activity) *sheet {
	s := sheetOf("Activity", d.Header)
	for _, t := range d.Traces {
		s.Tiles = append(s.Tiles, noiseTile(t))
		if t.Interrupts != nil {
			s.Tiles = append(s.Tiles, tickTile(t))
		}
	}
	if w := d.Switching; w != nil {
		s.Tiles = append(s.Tiles, tile{
			Topic: "Context switch", Figure: nsTo(stats.Finite(w.Cost.Value), 3), Verdict: w.Verdict,
			Sentence: fmt.Sprintf("From one thread to another on CPU %d: at least %s, 95 in 100 below %s.", w.CPU, ns(w.LeastNs), ns(w.P95Ns)),
		})
	}
	s.add(traceSections(d.Traces)...)
	s.add(coldSection(d.Switching))
	return s
}

func tickTile(t record.Trace) tile {
	i := t.Interrupts
	return tile{
		Topic: "Timer tick of " + place(t), Figure: "every " + durationTo(i.PeriodNs, 4),
		Sentence: fmt.Sprintf("This kernel's timer interrupted the thread %s: at least %s each, typically %s.", timesOf(i.Count+i.Hidden), ns(i.MinCostNs), ns(i.MedianCostNs)),
	}
}

func timesOf(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// traceSections are the figures of traces, those of one kind together.
func traceSections(traces []record.Trace) []section {
	if len(traces) == 0 {
		return nil
	}
	return append(append([]section{pictureSection(traces)}, causeSections(traces)...), undisturbedSection(traces))
}

// causeSections show for each trace what the time was lost to.
func causeSections(traces []record.Trace) []section {
	var all []section
	for _, t := range traces {
		all = append(all, causeSection(t))
	}
	return all
}

func causeSection(t record.Trace) section {
	var shares []float64
	for _, total := range t.Causes {
		shares = append(shares, total.TotalNs/t.DurationNs)
	}
	chart := rowChart{label: "Share of time lost to each cause", title: "share of time, on a logarithmic scale", x: logarithmic(append(shares, 1e-6, 1e-2), tickPercent)}
	table := tableOf(words("cause"), figuresOf("gaps", "share of time", "total", "worst"), words("what it is"))
	for _, c := range activity.Causes() {
		total, seen := t.Causes[c.String()]
		if !seen {
			continue
		}
		part := total.TotalNs / t.DurationNs
		chart.rows = append(chart.rows, chartRow{
			name: c.String(), figure: fmt.Sprintf("%s in %s, worst %s", relative(part), numbered(total.Count, "gap"), duration(total.MaxNs)),
			bars: []rowSpan{{from: chart.x.lo, to: part, class: "cause " + c.String(), title: causeMeans[c]}},
		})
		table.row(c.String(), fmt.Sprint(total.Count), fmt.Sprintf("%.4f %%", 100*part), duration(total.TotalNs), duration(total.MaxNs), causeMeans[c])
	}
	s := section{
		Title: "What took the time on " + place(t),
		Lead:  fmt.Sprintf("Read with %s for %s; gaps above %s count.", t.Clock, duration(t.DurationNs), duration(t.ThresholdNs)),
		Notes: traceNotes(t), Table: table,
	}
	if len(chart.rows) > 0 {
		s.Panels = []panel{{Chart: chart.chart()}}
	}
	return s
}

// traceNotes say what else a trace tells.
func traceNotes(t record.Trace) []string {
	var notes []string
	for _, c := range t.Combs {
		notes = append(notes, fmt.Sprintf("Every %s a %s gap: %d of them, least %s, median %s, worst %s.",
			durationTo(c.PeriodNs, 5), c.Source, c.Count, ns(c.MinCostNs), ns(c.MedianCostNs), ns(c.MaxCostNs)))
	}
	for _, note := range combShares(t) {
		notes = append(notes, capitalized(note)+".")
	}
	if a := t.Accounting; a != nil {
		notes = append(notes, fmt.Sprintf("Counted by ticks the thread used %s (%s, which stand for %s to %s); it used %s.",
			durationTo(a.ChargedNs, 4), numbered(a.Ticks, "tick"), durationTo(a.AboveNs, 4), durationTo(a.BelowNs, 4), durationTo(a.UsedNs, 4)))
	}
	if t.SliceNs != nil && t.Causes[activity.Preempted.String()].Count > 1 {
		notes = append(notes, fmt.Sprintf("Between two preemptions the thread typically ran for %s.", duration(*t.SliceNs)))
	}
	if t.Dropped > 0 {
		notes = append(notes, fmt.Sprintf("%d periods were dropped, since the trace was full.", t.Dropped))
	}
	return append(notes, t.Caveats...)
}

// undisturbedSection shows how likely work runs undisturbed, by its length.
func undisturbedSection(traces []record.Trace) section {
	var lengths []float64
	var curves []series
	var legend []legendKey
	table := tableOf(words("where"), figuresOf("work of", "runs without any gap", "trials for 3", "keeps its CPU", "trials for 3"))
	for i, t := range traces {
		without := series{look: 2 * i, joined: true}
		keeps := series{look: 2*i + 1, joined: true}
		for _, u := range t.Undisturbed {
			lengths = append(lengths, u.LengthNs)
			title := func(p float64, what string) string {
				return fmt.Sprintf("work of %s %s in %s of trials", duration(u.LengthNs), what, percent(&p))
			}
			without.points = append(without.points, seriesPoint{u.LengthNs, u.Probability, title(u.Probability, "runs without any gap")})
			keeps.points = append(keeps.points, seriesPoint{u.LengthNs, u.UnpreemptedProbability, title(u.UnpreemptedProbability, "keeps its CPU")})
			table.row(place(t), duration(u.LengthNs), percent(&u.Probability), trials(u.Trials), percent(&u.UnpreemptedProbability), trials(u.UnpreemptedTrials))
		}
		curves = append(curves, without, keeps)
		legend = append(legend,
			legendKey{Line: true, Mark: seriesMark(without.look), Class: seriesClass(without.look), Text: "no gap at all, " + place(t)},
			legendKey{Line: true, Mark: seriesMark(keeps.look), Class: seriesClass(keeps.look), Text: "keeps its CPU, " + place(t)})
	}
	if len(lengths) == 0 {
		return section{}
	}
	return section{
		Title:  "How long work runs undisturbed",
		Lead:   "The share of trials in which work of a length meets no gap at all, and in which at least no other thread takes its CPU.",
		Legend: legend,
		Panels: []panel{{Chart: seriesChart{
			label: "Share of undisturbed trials over the length of work", x: logarithmic(lengths, tickDuration), y: scale{lo: 0, hi: 1, label: tickPercent},
			xTitle: "length of the work, on a logarithmic scale", yTitle: "share of trials", series: curves,
		}.chart()}},
		Table: table,
	}
}

// coldSection shows what cold caches cost after a switch.
func coldSection(w *record.Switching) section {
	if w == nil {
		return section{}
	}
	chart := rowChart{label: "Time of a walk through memory, warm and after a switch", title: "time of a walk, on a logarithmic scale"}
	table := tableOf(words("walking", "order"), figuresOf("warm", "after a switch", "caches swept", "extra", "95 % interval"))
	var all []float64
	for _, c := range w.Cold {
		row := chartRow{name: size(c.Bytes) + ", " + c.Pattern, figure: nsTo(stats.Finite(c.Extra.Value), 3) + " extra"}
		for _, p := range []struct {
			e                 stats.Estimate
			mark, class, what string
		}{{c.AfterIdleSwitch, "ring", "s0", "after a switch"}, {c.Warm, "dot", "s1", "warm"}, {c.AfterBusySwitch, "diamond", "s2", "after caches were swept"}} {
			all = append(all, p.e.Value)
			row.points = append(row.points, rowPoint{at: p.e.Value, mark: p.mark, class: p.class, title: p.what + ": " + nsTo(stats.Finite(p.e.Value), 4)})
		}
		chart.rows = append(chart.rows, row)
		table.row(size(c.Bytes), c.Pattern, perOperation(c.Warm), perOperation(c.AfterIdleSwitch), perOperation(c.AfterBusySwitch), perOperation(c.Extra), bounds(c.Extra))
	}
	s := section{
		Title:  "What cold caches cost",
		Lead:   "One walk through a working set: warm, after a switch to a thread that touches nothing, and after one that sweeps the caches.",
		Legend: []legendKey{{Mark: "dot", Class: "s1", Text: "warm"}, {Mark: "ring", Class: "s0", Text: "after a switch"}, {Mark: "diamond", Class: "s2", Text: "caches swept"}},
		Notes:  append(append([]string{}, w.Reasons...), w.Caveats...),
		Table:  table,
	}
	if len(chart.rows) > 0 {
		chart.x = logarithmic(all, tickDuration)
		s.Panels = []panel{{Chart: chart.chart()}}
	}
	return s
}

// picture is a trace that can be zoomed and hovered. It holds what is needed for that,
// packed.
type picture struct {
	ID   string
	Name string
	Data pictureData
}

// pictureData is read by the page's script. Times are whole nanoseconds.
type pictureData struct {
	Name   string   `json:"name"`
	EndNs  int64    `json:"end_ns"`
	Causes []string `json:"causes"`
	// Gaps holds three numbers a gap: from the end of the one before to its start, its
	// length, and its cause's place in Causes.
	Gaps []int64 `json:"gaps"`
	// Hidden gaps were left out, the shortest, and none of them is longer than HiddenNs.
	Hidden   int   `json:"hidden"`
	HiddenNs int64 `json:"hidden_ns"`
}

// mostGaps of a page are shown: some 13 bytes each.
const mostGaps = 100_000

// mostLanes of a picture are drawn. All causes there are fit; of a record that names more
// the others share the last one.
const (
	mostLanes   = 16
	otherCauses = "other"
)

// pictureSection shows the traces whose periods are known.
func pictureSection(traces []record.Trace) section {
	s := section{
		Title: "When the thread ran, and what kept it from running",
		Lead: "A lane for each cause. A column is as high as the share of its time that was lost, on a logarithmic scale from 0.01 % to all of it. " +
			"Drag across the picture to zoom in, point at a column to read it, and double-click for all again; with the keyboard + and −, the arrows, and 0.",
	}
	recorded := 0
	for _, t := range traces {
		if len(t.Periods) > 0 {
			recorded++
		}
	}
	table := tableOf(words("where", "period", "cause"), figuresOf("start", "duration"))
	for _, t := range traces {
		if len(t.Periods) == 0 {
			continue
		}
		data := packed(t, mostGaps/recorded)
		s.Pictures = append(s.Pictures, &picture{Name: data.Name, Data: data})
		if data.Hidden > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf("%s: %d gaps are not drawn, none of them longer than %s. They are in the totals below.", data.Name, data.Hidden, duration(float64(data.HiddenNs))))
		}
		for _, p := range longest(t.Periods, 20) {
			table.row(place(t), p.Label, word(p.Cause), durationTo(p.StartNs, 7), durationTo(p.DurationNs, 4))
		}
	}
	if recorded > 0 {
		s.Table = table
	}
	return s
}

// longest are the longest inactive periods, the longest first.
func longest(periods []record.Period, most int) []record.Period {
	threshold := thresholdFor(periods, most)
	var all []record.Period
	for _, p := range periods {
		if p.State == "inactive" && p.DurationNs >= threshold {
			all = append(all, p)
		}
	}
	sortByLength(all)
	return all[:min(len(all), most)]
}

// packed takes the gaps of a trace, the longest if there are too many.
func packed(t record.Trace, most int) pictureData {
	d := pictureData{Name: capitalized(place(t)), EndNs: int64(math.Round(t.DurationNs)), Causes: []string{}, Gaps: []int64{}}
	if t.Dropped > 0 {
		last := t.Periods[len(t.Periods)-1]
		d.EndNs = int64(math.Round(last.StartNs + last.DurationNs))
	}
	threshold := thresholdFor(t.Periods, most)
	numbers := map[string]int64{} // of lanes, by cause
	for _, c := range activity.Causes() {
		if _, seen := t.Causes[c.String()]; seen {
			numbers[c.String()] = int64(len(d.Causes))
			d.Causes = append(d.Causes, c.String())
		}
	}
	before := int64(0)
	for _, p := range t.Periods {
		if p.State != "inactive" {
			continue
		}
		start := max(int64(math.Round(p.StartNs)), before)
		end := max(int64(math.Round(p.StartNs+p.DurationNs)), start)
		if p.DurationNs < threshold {
			d.Hidden++
			d.HiddenNs = max(d.HiddenNs, end-start)
			continue
		}
		name := word(p.Cause)
		if _, known := numbers[name]; !known && len(d.Causes) >= mostLanes-1 {
			name = otherCauses
		}
		cause, known := numbers[name]
		if !known {
			cause = int64(len(d.Causes))
			numbers[name] = cause
			d.Causes = append(d.Causes, name)
		}
		d.Gaps = append(d.Gaps, start-before, end-start, cause)
		before = end
	}
	return d
}

// thresholdFor is the length of the shortest of so many of the longest gaps; 0 where
// there are not as many.
func thresholdFor(periods []record.Period, most int) float64 {
	var lengths []float64
	for _, p := range periods {
		if p.State == "inactive" {
			lengths = append(lengths, p.DurationNs)
		}
	}
	if len(lengths) <= most {
		return 0
	}
	slices.Sort(lengths)
	return lengths[len(lengths)-most]
}

func sortByLength(periods []record.Period) {
	slices.SortStableFunc(periods, func(a, b record.Period) int { return cmp.Compare(b.DurationNs, a.DurationNs) })
}
