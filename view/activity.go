package view

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"chronoscope/activity"
	"chronoscope/record"
	"chronoscope/stats"
)

var _ = register(30, "activity", activities, activityFields, activityFigures)

// activities shows when threads ran, and what kept them from running.
func activities(d record.Activity) *Sheet {
	s := sheet("Activity", d.Header)
	for _, t := range d.Traces {
		s.Tiles = append(s.Tiles, noiseTile(t))
		if t.Interrupts != nil {
			s.Tiles = append(s.Tiles, tickTile(t))
		}
	}
	if w := d.Switching; w != nil {
		s.Tiles = append(s.Tiles, Tile{
			Topic: "Context switch", Figure: short(w.Cost), Verdict: w.Verdict,
			Sentence: fmt.Sprintf("From one thread to another on CPU %d: at least %s, 95 in 100 below %s.", w.CPU, duration(w.LeastNs), duration(w.P95Ns)),
		})
	}
	s.add(traceSections(d.Traces)...)
	s.add(switching(d.Switching))
	return s
}

func place(t activity.Analysis) string {
	if t.CPU == nil {
		return "a CPU of the system's choice"
	}
	return fmt.Sprintf("CPU %d", *t.CPU)
}

func noiseTile(t activity.Analysis) Tile {
	n := Tile{Topic: "Noise on " + place(t), Figure: "unknown", Sentence: fmt.Sprintf("In %s no activity was seen.", duration(t.DurationNs))}
	if !t.ActiveRatio.Known() {
		return n
	}
	n.Figure = stats.Share(1-t.ActiveRatio.Value()) + " lost"
	n.Sentence = fmt.Sprintf("In %s a thread ran %s of the time", duration(t.DurationNs), percent(t.ActiveRatio))
	if cause, total := worstCause(t); total > 0 {
		n.Sentence += fmt.Sprintf(". Most of the rest, %s, is %s: %s", stats.Share(total/t.DurationNs), cause, cause.Meaning())
	}
	n.Sentence += "."
	for _, u := range t.Undisturbed {
		if u.LengthNs == 1e6 {
			n.Sentence += fmt.Sprintf(" Work of 1 ms is undisturbed in %s of trials.", percent(u.Probability))
		}
	}
	return n
}

// worstCause returns the cause that took most of the time.
func worstCause(t activity.Analysis) (worst activity.Cause, totalNs float64) {
	for _, c := range activity.Causes() {
		if total := t.Causes[c].TotalNs; total > totalNs {
			worst, totalNs = c, total
		}
	}
	return worst, totalNs
}

func tickTile(t activity.Analysis) Tile {
	i := t.Interrupts
	times := "once"
	if n := i.Count + i.Hidden; n != 1 {
		times = fmt.Sprintf("%d times", n)
	}
	return Tile{
		Topic: "Timer tick of " + place(t), Figure: "every " + durationTo(i.PeriodNs, 4),
		Sentence: fmt.Sprintf("This kernel's timer interrupted the thread %s: at least %s each, typically %s.", times, duration(i.MinNs), duration(i.MedianNs)),
	}
}

// traceSections returns the sections of all traces, with those of one kind together.
func traceSections(traces []activity.Analysis) (sections []Section) {
	sections = append(sections, traceLanes(traces))
	for _, t := range traces {
		sections = append(sections, named(t), causes(t))
	}
	return append(sections, undisturbed(traces))
}

// causes shows what a trace's time was lost to.
func causes(t activity.Analysis) Section {
	values := []float64{1e-6, 1e-2}
	for _, total := range t.Causes {
		values = append(values, total.TotalNs/t.DurationNs)
	}
	chart := Chart{Label: "Share of time lost to each cause", X: logarithmic("share of time", Shares, values)}
	rows := table(words("cause"), numbers("gaps", "share of time", "total", "worst"), words("what it is"))
	for _, c := range activity.Causes() {
		total, seen := t.Causes[c]
		if !seen {
			continue
		}
		part := total.TotalNs / t.DurationNs
		chart.Rows = append(chart.Rows, Row{
			Name: c.String(), Figure: fmt.Sprintf("%s in %s, worst %s", stats.Share(part), stats.Count(total.Count, "gap"), duration(total.MaxNs)),
			Bars: []Span{{chart.X.Lo, part, "cause " + c.String(), c.Meaning()}},
		})
		rows.row(c, total.Count, fmt.Sprintf("%.4f %%", 100*part), duration(total.TotalNs), duration(total.MaxNs), c.Meaning())
	}
	return Section{
		Title: "What took the time on " + place(t),
		Lines: []Line{{Strong: place(t), Text: fmt.Sprintf("active %s of %s, read with %s; gaps above %s count",
			percent(t.ActiveRatio), duration(t.DurationNs), t.Clock, duration(t.ThresholdNs))}},
		Notes: traceNotes(t), Charts: []Chart{chart}, Table: rows,
	}
}

// mostCulprits limits the rows of [named]; one more row sums up the rest, which only JSON lists.
const mostCulprits = 12

// named shows which threads and interrupts took the time of a trace.
func named(t activity.Analysis) Section {
	n := t.Named
	if n == nil || len(n.Parts) == 0 {
		return Section{}
	}
	rows := table(words("cause", "who"), numbers("times", "share of time", "total", "worst"))
	var rest activity.NamedPart
	parts := n.By("name")
	for i, p := range parts {
		if i >= mostCulprits && len(parts) > mostCulprits+1 {
			rest.Count, rest.Share, rest.TotalNs, rest.MaxNs = rest.Count+p.Count, rest.Share+p.Share, rest.TotalNs+p.TotalNs, max(rest.MaxNs, p.MaxNs)
			continue
		}
		rows.row(p.Cause, culprit(p.Cause, p.Who), p.Count, fmt.Sprintf("%.4f %%", 100*p.Share), duration(p.TotalNs), duration(p.MaxNs))
	}
	if rest.Count > 0 {
		rows.row("the rest", fmt.Sprintf("%d more", len(parts)-mostCulprits), rest.Count, fmt.Sprintf("%.4f %%", 100*rest.Share), duration(rest.TotalNs), duration(rest.MaxNs))
	}
	s := Section{
		Title:   "Who took the time on " + place(t),
		Lead:    "By the kernel's events: threads that had the CPU, and interrupts.",
		Heading: "Who took the time on " + place(t) + ", by the kernel's events:",
		Table:   rows,
	}
	for i, m := range n.Worst {
		var ran []string
		for _, p := range m.Ran[:min(len(m.Ran), 3)] {
			ran = append(ran, fmt.Sprintf("%s %s", cmp.Or(culprit(p.Cause, p.Who), p.Cause.String()), duration(p.DurationNs)))
		}
		if more := len(m.Ran) - len(ran); more > 0 {
			ran = append(ran, fmt.Sprintf("%d more", more))
		}
		label := ""
		if i == 0 {
			label = "the worst moments"
		}
		s.Notes = append(s.Notes, labelled(label, "%s at %s (%s): %s", duration(m.DurationNs), durationTo(m.StartNs, 7), m.Cause, strings.Join(ran, ", ")))
	}
	if gaps := n.Agreement(); gaps < 0.95 {
		s.Notes = append(s.Notes, say("without rights %s of the gaps are put down to the same cause; of switches and handlers the events are the ones to believe", stats.Share(gaps)))
	}
	return s
}

// culprit names the thread or interrupt that took the time of a cause. Where events are missing, the kernel's accounts may
// say that another thread had the CPU, but not which.
func culprit(c activity.Cause, who activity.Culprit) string {
	if c == activity.Preempted && who == (activity.Culprit{}) {
		return "not known, as events are missing"
	}
	return who.String()
}

// traceNotes returns the lines below a trace's table.
func traceNotes(t activity.Analysis) (notes []Line) {
	for _, c := range t.Combs {
		notes = append(notes, say("every %s%s a %s gap: %d of them, least %s, median %s, worst %s",
			durationTo(c.PeriodNs, 5), periodError(t, c), c.Source, c.Count, duration(c.MinNs), duration(c.MedianNs), duration(c.MaxNs)))
	}
	notes = append(notes, before(t)...)
	notes = append(notes, combShares(t)...)
	if i := t.Interrupts; i != nil {
		if i.Hidden > 0 {
			notes = append(notes, say("%d more timer interrupts fell into gaps that had begun before", i.Hidden))
		}
		if i.Counted != nil && i.Sleepers != nil {
			notes = append(notes, say("the kernel counted %d timer interrupts: %d are its tick, and %d gaps are put down to timers of sleepers", *i.Counted, i.Count+i.Hidden, *i.Sleepers))
		}
	}
	notes = append(notes, accounting(t)...)
	if t.SliceNs.Known() && t.Causes[activity.Preempted].Count > 1 {
		notes = append(notes, say("Between two preemptions the thread typically ran for %s; a preemption typically cost %s beyond the wait.", duration(t.SliceNs), duration(t.SwitchNs)))
	}
	if t.Dropped > 0 {
		notes = append(notes, say("%d periods were dropped: the trace was full. A higher threshold or a shorter recording keeps all.", t.Dropped))
	}
	for _, c := range t.Caveats {
		notes = append(notes, say("caveat: %s", c))
	}
	return notes
}

// At most mostBefore gaps of at least leastBeforeNs are listed before the gap that ended a recording.
const mostBefore, leastBeforeNs = 5, 10e3

// before returns the gap that ended the recording, and the gaps just before it.
func before(t activity.Analysis) (notes []Line) {
	if t.LateNs == nil {
		return nil
	}
	at := slices.IndexFunc(t.Periods, func(p activity.TimedPeriod) bool { return p.Cause != nil && p.DurationNs == *t.LateNs })
	if at < 0 {
		return []Line{say("the recording ended after a gap of %s", duration(*t.LateNs))}
	}
	late := t.Periods[at]
	notes = append(notes, say("%s at %s (%s): the recording ended then", duration(late.DurationNs), durationTo(late.StartNs, 7), *late.Cause))
	for i := at - 1; i >= 0 && len(notes) <= mostBefore; i-- {
		if p := t.Periods[i]; p.Cause != nil && p.DurationNs >= leastBeforeNs {
			notes = append(notes, say("%s before that: %s (%s)", duration(late.StartNs-p.StartNs), duration(p.DurationNs), *p.Cause))
		}
	}
	return notes
}

// periodError writes the uncertainty of the tick's period, measured in the time of the trace's
// clock. It is empty for other combs.
func periodError(t activity.Analysis, c activity.Comb) string {
	if t.Interrupts == nil || c.Source != activity.TimerTick || math.IsNaN(t.Interrupts.Period.Lo) {
		return ""
	}
	return " ± " + farther(t.Interrupts.Period) + " by " + t.Clock
}

// combShares explains why the number of gaps of a cause differs from the number in its combs.
func combShares(t activity.Analysis) (notes []Line) {
	for _, cause := range activity.Causes() {
		teeth, own := 0, 0
		for _, c := range t.Combs {
			if c.Source == cause && c.Attributed != nil {
				teeth += c.Count
				own += *c.Attributed
			}
		}
		irregular := t.Causes[cause].Count - own
		if teeth == 0 || teeth == own && irregular <= 0 {
			continue
		}
		note := fmt.Sprintf("of %d regular %s gaps %d are counted under that cause", teeth, cause, own)
		if elsewhere := teeth - own; elsewhere > 0 {
			note += fmt.Sprintf(", and %d under what else befell the thread then", elsewhere)
		}
		if irregular > 0 {
			note += fmt.Sprintf("; %d more there come at no regular time", irregular)
		}
		notes = append(notes, say("%s", note))
	}
	return notes
}

// accounting says what accounting by ticks would have charged to the thread.
func accounting(t activity.Analysis) (notes []Line) {
	a := t.Accounting
	if a == nil {
		return nil
	}
	notes = append(notes, say("Counted by ticks the thread used %s (%s, which stand for more than %s and less than %s); it used %s.",
		durationTo(a.ChargedNs, 4), stats.Count(a.Ticks, "tick"), durationTo(a.AboveNs, 4), durationTo(a.BelowNs, 4), durationTo(a.UsedNs, 4)))
	if a.ThreadNs.Known() && a.TimesNs.Known() && a.CPUBusyNs.Known() {
		notes = append(notes, say("The kernel says %s by getrusage, %s of all threads by times, and %s busy for %s by /proc/stat.",
			durationTo(a.ThreadNs, 4), durationTo(a.TimesNs, 4), place(t), durationTo(a.CPUBusyNs, 4)))
	}
	if l := a.LongRunInactive; !math.IsNaN(l.Lo) {
		notes = append(notes, say("In the long run the thread can expect to be inactive for %s of the time (%s to %s).", stats.Percent(l.Value), stats.Percent(l.Lo), stats.Percent(l.Hi)))
	}
	return notes
}

// undisturbed shows the probability that work runs undisturbed, by its length.
func undisturbed(traces []activity.Analysis) Section {
	chart := Chart{Label: "Share of undisturbed trials over the length of work", Y: Axis{Title: "share of trials", Hi: 1, Unit: Shares}}
	where := "page:where"
	if len(traces) > 1 {
		where = "where"
	}
	t := table(words(where), numbers("work of", "runs without any gap", "trials for 3", "keeps its CPU", "trials for 3"))
	s := Section{
		Title: "How long work runs undisturbed",
		Lead:  "The share of trials in which work of a length meets no gap at all, and in which at least no other thread takes its CPU.",
		Table: t,
	}
	for i, trace := range traces {
		without, keeps := Series{Look: 2 * i, Joined: true}, Series{Look: 2*i + 1, Joined: true}
		for _, u := range trace.Undisturbed {
			title := func(p float64, what string) string {
				return fmt.Sprintf("work of %s %s in %s of trials", duration(u.LengthNs), what, percent(p))
			}
			without.Points = append(without.Points, XY{u.LengthNs, u.Probability, title(u.Probability, "runs without any gap")})
			keeps.Points = append(keeps.Points, XY{u.LengthNs, u.Unpreempted, title(u.Unpreempted, "keeps its CPU")})
			t.row(place(trace), duration(u.LengthNs), percent(u.Probability), trials(u.Trials), percent(u.Unpreempted), trials(u.UnpreemptedTrials))
		}
		chart.Series = append(chart.Series, without, keeps)
		s.Legend = append(s.Legend, seriesKey(without.Look, "no gap at all, "+place(trace)), seriesKey(keeps.Look, "keeps its CPU, "+place(trace)))
	}
	if len(t.Rows) == 0 {
		return Section{}
	}
	chart.X = logarithmic("length of the work", Time, chart.xs())
	s.Charts = []Chart{chart}
	return s
}

// trials writes an expected number of trials.
func trials(n stats.Float) string {
	if !n.Known() {
		return "never"
	}
	return stats.Significant(n.Value(), 2)
}

// switching shows the cost of a context switch, and of the cold caches after it.
func switching(w *activity.Switching) Section {
	if w == nil {
		return Section{}
	}
	bounds := w.Cost.Range()
	if bounds == stats.Unknown {
		bounds = "too few for an interval"
	}
	chart := Chart{Label: "Time of a walk through memory, warm and after a switch"}
	t := table(numbers("walking"), words("order"), numbers("warm", "after a switch", "caches swept", "extra", "95 % interval"))
	for _, c := range w.Cold {
		bytes := int64(c.Bytes)
		row := Row{Name: size(&bytes) + ", " + string(c.Pattern), Figure: short(c.Extra) + " extra"}
		for _, p := range []struct {
			e                stats.Estimate
			mark, look, what string
		}{{c.AfterIdleSwitch, "ring", "s0", "after a switch"}, {c.Warm, "dot", "s1", "warm"}, {c.AfterBusySwitch, "diamond", "s2", "after caches were swept"}} {
			row.Points = append(row.Points, Point{At: p.e.Value, Mark: p.mark, Look: p.look, Title: p.what + ": " + written(p.e)})
		}
		chart.Rows = append(chart.Rows, row)
		t.row(size(&bytes), c.Pattern, short(c.Warm), short(c.AfterIdleSwitch), short(c.AfterBusySwitch), short(c.Extra), c.Extra.Range())
	}
	s := Section{
		Title:  "What a context switch and cold caches cost",
		Lead:   "One walk through a working set: warm, after a switch to a thread that touches nothing, and after one that sweeps the caches.",
		Legend: []Key{{Mark: "dot", Look: "s1", Text: "warm"}, {Mark: "ring", Look: "s0", Text: "after a switch"}, {Mark: "diamond", Look: "s2", Text: "caches swept"}},
		Table:  t,
	}
	cost := Line{Strong: "A context switch", Text: fmt.Sprintf("on CPU %d has an unknown cost", w.CPU)}
	if w.Cost.Value > 0 {
		cost.Text = fmt.Sprintf("on CPU %d costs %s (%s), at least %s, 95 in 100 below %s", w.CPU, short(w.Cost), bounds, duration(w.LeastNs), duration(w.P95Ns))
	}
	s.Lines = []Line{cost}
	s.Lines = append(s.Lines, reasonLines(w.Verdict, "", w.Reasons)...)
	for _, c := range w.Caveats {
		s.Lines = append(s.Lines, say("caveat: %s", c))
	}
	chart.X = logarithmic("time of a walk", Time, chart.xs())
	s.Charts = []Chart{chart}
	return s
}

// activityFields returns a row for each period of all traces.
func activityFields(d record.Activity) Fields {
	type row struct {
		CPU *int `json:"cpu"`
		activity.TimedPeriod
	}
	var rows []row
	for _, t := range d.Traces {
		for _, p := range t.Periods {
			rows = append(rows, row{t.CPU, p})
		}
	}
	return fieldsOf(rows, "cpu label state start_ns duration_ns start_ticks duration_ticks cause")
}

// noiseFigures returns the share of time that the traced CPUs lost, in total and by cause. CPUs of
// two machines can't be matched, so it is the mean over the CPUs.
func noiseFigures(traces []activity.Analysis) (all []Figure) {
	if len(traces) == 0 {
		return nil
	}
	lost, watchedNs := map[string]float64{}, 0.0
	var tick *activity.Interrupts
	for _, t := range traces {
		if !t.ActiveRatio.Known() {
			continue
		}
		watchedNs += t.DurationNs
		for cause, total := range t.Causes {
			lost[cause.String()] += total.TotalNs
		}
		lost["all"] += (1 - t.ActiveRatio.Value()) * t.DurationNs
		if tick == nil {
			tick = t.Interrupts
		}
	}
	if !(watchedNs > 0) {
		return nil
	}
	share := func(cause string) {
		x := lost[cause] / watchedNs
		all = append(all, bareFigure(FigureKey{TopicNoise, cause, "time lost"}, Lower, "share", x, stats.Trusted, nil)...)
		delete(lost, cause)
	}
	share("all")
	for _, cause := range slices.Sorted(maps.Keys(lost)) {
		share(cause)
	}
	if tick != nil {
		all = append(all, newFigure(FigureKey{TopicNoise, "timer-tick", "period"}, Neither, tick.Period, stats.Trusted, nil))
		all = append(all, bareFigure(FigureKey{TopicNoise, "timer-tick", "cost"}, Lower, "ns", tick.MedianNs, stats.Trusted, nil)...)
	}
	return all
}

func activityFigures(d record.Activity) []Figure { return noiseFigures(d.Traces) }
