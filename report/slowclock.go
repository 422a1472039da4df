package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"chronoscope/record"
	"chronoscope/stats"
)

// SlowClock writes for people what slow clocks make of an event, or what they would
// take for it.
func SlowClock(w io.Writer, d record.SlowClock, s Style) {
	machineLines(w, d.Header, s)
	slowEstimates(w, d, s)
	planTable(w, d, s)
	caveats(w, d.Header, s)
}

func slowEstimates(w io.Writer, d record.SlowClock, s Style) {
	if len(d.Estimates) == 0 {
		return
	}
	first := d.Estimates[0]
	fmt.Fprintf(w, "%s by %s, which ticks every %s\n\n", s.bold("An event of "+duration(d.EventNs)), first.Clock, duration(first.TickNs))
	out := newTable(w, 2, 3, 4, 5, 6, 7, 8)
	out.AppendHeader(table.Row{"method", "estimate", "95 % interval", "±", "fine clock", "trials", "ticks", "time", "verdict"})
	for _, e := range d.Estimates {
		out.AppendRow(table.Row{
			e.Method, perOperation(e.Estimate), span95(e.Estimate), halfInterval(e.Estimate), perOperation(e.Truth),
			e.Trials, e.Edges, duration(e.ElapsedNs), s.verdict(e.Verdict),
		})
	}
	out.Render()
	fmt.Fprintln(w)
	for _, e := range d.Estimates {
		for _, reason := range e.Reasons {
			line(w, e.Method, "%s: %s", s.verdict(e.Verdict), reason)
		}
	}
	fmt.Fprintln(w)
}

// span95 writes an interval's two ends.
func span95(e stats.Estimate) string {
	if stats.Finite(e.Lo) == nil || stats.Finite(e.Hi) == nil {
		return "?"
	}
	return durationTo(e.Lo, 4) + " to " + durationTo(e.Hi, 4)
}

func planTable(w io.Writer, d record.SlowClock, s Style) {
	if len(d.Plan) == 0 {
		return
	}
	fmt.Fprintf(w, "%s of %s\n\n", s.bold("What it takes to know an event"), duration(d.EventNs))
	out := newTable(w, 1, 2, 3, 4, 5, 6)
	out.AppendHeader(table.Row{"digits", "±", "Bernoulli trials", "they take here", "in a tight loop", "a counting thread"})
	for _, r := range d.Plan {
		out.AppendRow(table.Row{r.Digits, duration(r.EpsilonNs), trialCount(r.Trials), longTime(r.BernoulliNs), longTime(r.DiscreteNs), longTime(r.CounterNs)})
	}
	out.Render()
	fmt.Fprintln(w)
	fmt.Fprintln(w, "Trials by equation (3) of Lambert and Power, as if they were independent; in a tight loop")
	fmt.Fprintln(w, "as many ticks count as there are, and most fall into the event. What a counting thread takes")
	fmt.Fprintln(w, "follows from how wide its interval was after a first short measurement, at this load.")
	fmt.Fprintln(w)
}

// trialCount writes a number that may be beyond counting.
func trialCount(n *float64) string {
	switch {
	case n == nil:
		return "?"
	case *n < 1e6:
		return significant(*n, 2)
	}
	return fmt.Sprintf("%.1e", *n)
}

// longTime writes a duration that may be years.
func longTime(ns *float64) string {
	const hour, day, year = 3600e9, 86400e9, 365.25 * 86400e9
	switch {
	case ns == nil:
		return "?"
	case *ns >= year:
		return significant(*ns/year, 2) + " years"
	case *ns >= 2*day:
		return significant(*ns/day, 2) + " days"
	case *ns >= hour:
		return significant(*ns/hour, 2) + " hours"
	}
	return durationTo(*ns, 2)
}

// SlowClockCSV writes one row a method, or a row of the plan; columns are named as the
// JSON fields.
func SlowClockCSV(w io.Writer, d record.SlowClock) error {
	out := csv.NewWriter(w)
	if len(d.Plan) > 0 {
		out.Write([]string{"digits", "epsilon_ns", "trials", "source_ns", "bernoulli_ns", "discrete_ns", "counter_ns"})
		for _, r := range d.Plan {
			out.Write([]string{
				strconv.Itoa(r.Digits), decimal(r.EpsilonNs), number(r.Trials), number(r.SourceNs),
				number(r.BernoulliNs), number(r.DiscreteNs), number(r.CounterNs),
			})
		}
	} else {
		out.Write(slowColumns())
		for _, e := range d.Estimates {
			out.Write(slowRow(e))
		}
	}
	out.Flush()
	return out.Error()
}

func slowColumns() []string {
	columns := []string{"method", "clock", "tick_ns", "trials", "edges", "elapsed_ns"}
	for _, e := range []string{"estimate", "overhead", "equation2", "truth"} {
		for _, field := range []string{"value", "lo", "hi", "confidence", "unit", "statistic", "n", "discarded"} {
			columns = append(columns, e+"."+field)
		}
	}
	return append(columns, "phase_locked", "verdict", "reasons")
}

func slowRow(e record.SlowEstimate) []string {
	row := []string{e.Method, e.Clock, decimal(e.TickNs), strconv.FormatInt(e.Trials, 10), strconv.FormatInt(e.Edges, 10), decimal(e.ElapsedNs)}
	for _, v := range []stats.Estimate{e.Estimate, e.Overhead, e.Equation2, e.Truth} {
		row = append(row, number(stats.Finite(v.Value)), number(stats.Finite(v.Lo)), number(stats.Finite(v.Hi)), decimal(stats.Confidence),
			v.Unit, v.Statistic, strconv.Itoa(v.N), strconv.Itoa(v.Discarded))
	}
	return append(row, strconv.FormatBool(e.Locked), string(e.Verdict), strings.Join(e.Reasons, "; "))
}
