package view

import (
	"fmt"

	"chronoscope/lateness"
	"chronoscope/record"
	"chronoscope/stats"
)

var _ = register(75, "lateness", latenesses, latenessFields, latenessFigures)

// latenesses shows how late the timers are.
func latenesses(d record.Lateness) *Sheet {
	s := sheet("How late timers are", d.Header)
	if best, worst := bestAndWorst(d.Timers); best != nil {
		s.Tiles = append(s.Tiles, timerTile("The best quality", *best), timerTile("The worst quality", *worst))
	}
	s.add(timerLateness(d))
	return s
}

// bestAndWorst returns the timers with the highest and the lowest quality; nil if none has a quality.
func bestAndWorst(all []lateness.Result) (best, worst *lateness.Result) {
	for i := range all {
		q := all[i].Quality
		if q.Known() && (best == nil || q.Value() > best.Quality.Value()) {
			best = &all[i]
		}
		if q.Known() && (worst == nil || q.Value() < worst.Quality.Value()) {
			worst = &all[i]
		}
	}
	return best, worst
}

func timerTile(topic string, r lateness.Result) Tile {
	sentence := fmt.Sprintf("%s, asked for %s, is typically that late", r.Name, stats.Duration(r.RequestedNs, 3))
	switch {
	case r.Late.P99Ns.Known():
		sentence += fmt.Sprintf(", and one time in a hundred %s", duration(r.Late.P99Ns))
	case r.Late.MaxNs.Known():
		sentence += fmt.Sprintf(", and %s at worst", duration(r.Late.MaxNs))
	}
	return Tile{
		Topic: topic, Figure: fmt.Sprintf("%s late", duration(r.Late.MedianNs)), Verdict: r.Verdict,
		Sentence: sentence + "." + because(r.Reasons),
	}
}

// timerLateness shows each timer at each length.
func timerLateness(d record.Lateness) Section {
	t := table(words("timer"), numbers("asked for", "least", "median", "p95", "p99", "page:95 % interval of p99", "worst", "missed", "drift", "quality"), words("verdict", "page:reasons"))
	s := Section{
		Title: "How late timers wake those who wait for them",
		Lead:  "The drift is that of a periodic timer against the clock, and of the others in a loop that asks for them again and again. The quality is 100 % for a timer that is never late, and 50 % if one time in a hundred (without a p99: at worst) it is late by as much as it was asked for.",
		Table: t,
	}
	var notes folds
	for _, r := range d.Timers {
		t.row(r.Name, stats.Duration(r.RequestedNs, 3), duration(r.Late.MinNs), duration(r.Late.MedianNs), duration(r.Late.P95Ns), duration(r.Late.P99Ns), p99Range(r), duration(r.Late.MaxNs),
			r.Missed, drift(r), percent(r.Quality), r.Verdict, joined(r.Reasons))
		for _, reason := range r.Reasons {
			notes.add(fold{verdict: r.Verdict, text: reason}, r.Name)
		}
	}
	s.drawLateness(d.Timers)
	s.Notes = append(s.Notes, notes.lines(len(d.Timers), len(d.Timers))...)
	if d.TimerSlackNs.Known() {
		s.Notes = append(s.Notes, say("Timer slack: the kernel may delay this program's own timers by %s, to wake once for several (prctl(2), PR_SET_TIMERSLACK).", duration(d.TimerSlackNs)))
	}
	if d.Load > 1 {
		s.Notes = append(s.Notes, say("%d threads wanted the CPUs, including the waiting one.", d.Load))
	}
	return s
}

// p99Range writes the interval of the 99th percentile.
func p99Range(r lateness.Result) string {
	for _, e := range r.Percentiles.Known() {
		if e.Statistic == "p99" {
			return e.Range()
		}
	}
	return stats.Unknown
}

// drawLateness adds a chart with a row for each timer that ever woke, and the legend of the marks in it.
func (s *Section) drawLateness(timers []lateness.Result) {
	chart := Chart{Label: "How late each timer was"}
	var values []float64
	p99s := 0
	for _, r := range timers {
		if !r.Late.MaxNs.Known() {
			continue
		}
		row := Row{Name: fmt.Sprintf("%s, %s", r.Name, stats.Duration(r.RequestedNs, 3)), Figure: duration(r.Late.MedianNs)}
		row.Spans = []Span{{max(1, r.Late.MinNs.Value()), max(1, r.Late.MaxNs.Value()), "thick", duration(r.Late.MinNs) + " to " + duration(r.Late.MaxNs)}}
		row.mark(r.Late.MedianNs, "diamond", "s2")
		if r.Late.P99Ns.Known() {
			row.mark(r.Late.P99Ns, "triangle", "s1")
			p99s++
		}
		values = append(values, row.Spans[0].From, row.Spans[0].To)
		chart.Rows = append(chart.Rows, row)
	}
	chart.X = logarithmic("late by", Time, values)
	s.Charts = []Chart{chart}
	s.Legend = []Key{{Mark: "diamond", Look: "s2", Text: "median"}, {Line: true, Look: "thick", Text: "least to worst"}}
	if p99s > 0 {
		s.Legend = append(s.Legend, Key{Mark: "triangle", Look: "s1", Text: "p99"})
	}
}

// mark adds a point for a time, if it is known.
func (r *Row) mark(at stats.Float, mark, look string) {
	if at.Known() {
		r.Points = append(r.Points, Point{At: max(1, at.Value()), Mark: mark, Look: look, Title: duration(at)})
	}
}

func drift(r lateness.Result) string {
	switch {
	case !r.DriftPPM.Known():
		return stats.Unknown
	case r.Drift.Covers(0):
		return "none seen"
	}
	return stats.Share(r.DriftPPM.Value() / 1e6)
}

// latenessFields makes one row for each timer and length.
func latenessFields(d record.Lateness) Fields {
	return fieldsOf(d.Timers, "name requested_ns periodic wakes early late missed drift_ppm quality verdict reasons")
}

// latenessFigures returns the percentiles of each timer's lateness. Waiting under load is other work. Without
// load its name is empty, so that an index that history made earlier still agrees.
func latenessFigures(d record.Lateness) (all []Figure) {
	for _, r := range d.Timers {
		name := fmt.Sprintf("%s, asked for %s", r.Name, stats.Duration(r.RequestedNs, 3))
		for _, e := range r.Percentiles.Known() {
			all = timeFigure(all, FigureKey{TopicLateness, name, stats.PercentileName(e.Statistic)}, e, r.Verdict, r.Reasons, nil)
		}
	}
	if d.Load > 1 {
		for i := range all {
			all[i].Work = fmt.Sprintf("waiting where %d threads want the CPUs", d.Load)
		}
	}
	return all
}
