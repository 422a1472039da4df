package view

import (
	"fmt"
	"time"

	"chronoscope/record"
	"chronoscope/stats"
)

var _ = register(70, "slowclock", slowClock, slowClockFields, eventFigures)

// slowClock shows what slow clocks measure of an event, or how long they would take for it.
func slowClock(d record.SlowClock) *Sheet {
	s := sheet("Slow clocks", d.Header)
	for _, e := range d.Estimates {
		s.Tiles = append(s.Tiles, Tile{
			Topic: "By " + string(e.Method), Figure: written(e.Estimate), Verdict: e.Verdict,
			Sentence: fmt.Sprintf("An event of about %s by %s, which ticks every %s; a fine clock says %s.%s", duration(d.EventNs), e.Clock, duration(e.TickNs), written(e.Truth), because(e.Reasons)),
		})
	}
	s.add(slowEstimates(d), slowPlan(d))
	return s
}

// slowEstimates shows each method's result next to that of a fine clock.
func slowEstimates(d record.SlowClock) Section {
	if len(d.Estimates) == 0 {
		return Section{}
	}
	first := d.Estimates[0]
	var values []float64
	chart := Chart{Label: "What each method found, beside a fine clock"}
	t := table(words("method", "page:clock"), numbers("estimate", "95 % interval", "±", "fine clock", "trials", "ticks", "time"), words("verdict", "page:reasons"))
	s := Section{
		Title:  "What a slow clock says",
		Lead:   "The diamond is a method's result, the thick line its 95 % interval, and the upright line what a fine clock says of the same executions.",
		Lines:  []Line{{Strong: "An event of " + duration(d.EventNs), Text: fmt.Sprintf("by %s, which ticks every %s", first.Clock, duration(first.TickNs))}},
		Legend: append(intervalKeys("estimate"), Key{Mark: "bar", Look: "s0", Text: "fine clock"}),
		Table:  t,
	}
	for _, e := range d.Estimates {
		values = append(values, e.Estimate.Lo, e.Estimate.Hi, e.Estimate.Value, e.Truth.Value)
		row := Row{Name: string(e.Method) + " by " + e.Clock, Figure: e.Estimate.TimeWithError()}
		row.Spans, row.Points = interval(e.Estimate)
		if truth := e.Truth.Value; stats.IsFinite(truth) {
			row.Points = append(row.Points, Point{At: truth, Mark: "bar", Look: "s0", Title: "a fine clock says " + durationTo(truth, 5)})
		}
		chart.Rows = append(chart.Rows, row)
		t.row(e.Method, e.Clock, written(e.Estimate), e.Estimate.Range(), plusMinus(e.Estimate), written(e.Truth), e.Trials, e.Edges, duration(e.ElapsedNs), e.Verdict, joined(e.Reasons))
		s.Notes = append(s.Notes, reasonLines(e.Verdict, string(e.Method), e.Reasons)...)
	}
	chart.X = linear("time of the event", Time, values)
	s.Charts = []Chart{chart}
	return s
}

// slowPlan says how long each number of significant digits takes.
func slowPlan(d record.SlowClock) Section {
	if len(d.Plan) == 0 {
		return Section{}
	}
	t := table(numbers("digits", "±", "Bernoulli trials", "they take here", "in a tight loop", "a counting thread"))
	for _, r := range d.Plan {
		t.row(r.Digits, duration(r.EpsilonNs), trialCount(r.Trials), durationTo(r.BernoulliNs, 2), durationTo(r.DiscreteNs, 2), durationTo(r.CounterNs, 2))
	}
	return Section{
		Title: "What it takes to know an event of " + duration(d.EventNs),
		Lines: []Line{{Strong: "What it takes to know an event", Text: "of " + duration(d.EventNs), In: InText}},
		Table: t,
		Notes: []Line{say("Trials by equation (3) of Lambert and Power (2008), as if they were independent. In a tight loop every tick counts, " +
			"and most fall into the event. What a counting thread takes follows from how wide its interval was after a first short measurement, at this load.")},
	}
}

// trialCount writes a number of trials, which may be unknown or too large to write in full.
func trialCount(n stats.Float) string {
	if n.Value() >= 1e6 {
		return fmt.Sprintf("%.1e", n.Value())
	}
	return stats.Significant(n.Value(), 2)
}

// slowClockFields returns a row for each method, or for each row of the plan.
func slowClockFields(d record.SlowClock) Fields {
	if len(d.Plan) > 0 {
		return fieldsOf(d.Plan, "digits epsilon_ns trials source_ns bernoulli_ns discrete_ns counter_ns")
	}
	return fieldsOf(d.Estimates, "method clock tick_ns trials edges elapsed_ns estimate overhead equation2 truth phase_locked verdict reasons")
}

// eventFigures returns the event's time by each method. Events of different lengths are different
// work.
func eventFigures(d record.SlowClock) (all []Figure) {
	for _, e := range d.Estimates {
		all = timeFigure(all, FigureKey{TopicEvent, string(e.Method) + " with " + e.Clock, QuantityTime}, e.Estimate, e.Verdict, e.Reasons, nil)
	}
	for i := range all {
		all[i].Work = fmt.Sprintf("an event of %v", time.Duration(d.EventNs))
	}
	return all
}
