package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chronoscope/clock/check"
	"chronoscope/record"
	"chronoscope/stats"
)

// Fidelity writes for people whether counters can be trusted.
func Fidelity(w io.Writer, d record.Fidelity, s Style) {
	machineLines(w, d.Header, s)
	sandwiches(w, d.Sandwiches, s)
	checks(w, d.Checks, s)
	caveats(w, d.Header, s)
}

// sandwiches writes what each workload says of the counter.
func sandwiches(w io.Writer, all []record.Sandwich, s Style) {
	if len(all) == 0 {
		return
	}
	first := all[0]
	oscillators := "the same oscillator, as far as is known"
	if first.Independent {
		oscillators = "different oscillators"
	}
	fmt.Fprintf(w, "%s beside %s, which rest on %s\n\n", s.bold(first.Counter), first.Reference, oscillators)
	out := table.NewWriter()
	out.SetOutputMirror(w)
	out.SetStyle(plain)
	var columns []table.ColumnConfig
	for n := 2; n <= 8; n++ {
		columns = append(columns, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	out.SetColumnConfigs(columns)
	out.AppendHeader(table.Row{"workload", "samples", "moved", "rate in MHz", "±", "worst error", "permitted", "worst share", "verdict"})
	for _, r := range all {
		out.AppendRow(table.Row{
			r.Workload, r.Count, r.Migrations, megahertz(r.Rate.Value), interval(r.Rate),
			ns(r.MaxErrorNs), ns(r.PermittedNs), ppm(r.MaxErrorPPM), s.verdict(r.Verdict),
		})
	}
	out.Render()
	fmt.Fprintln(w)
	said := map[string]bool{}
	for _, r := range all {
		for _, reason := range r.Reasons {
			fmt.Fprintf(w, "%s beside %s: %s\n", r.Verdict, r.Workload, reason)
		}
		if !said[r.VerdictMeans] {
			said[r.VerdictMeans] = true
			fmt.Fprintf(w, "%s: %s\n", r.Verdict, r.VerdictMeans)
		}
	}
	fmt.Fprintln(w)
}

func megahertz(hz float64) string {
	if v := stats.Finite(hz); v != nil {
		return significant(hz/1e6, 10)
	}
	return "?"
}

// ppm writes parts per million.
func ppm(v *float64) string {
	if v == nil {
		return "?"
	}
	return significant(*v, 3) + " ppm"
}

// checks writes what was asked of every clock by itself: what was measured, and
// what is not as it should be.
func checks(w io.Writer, all []check.Finding, s Style) {
	if len(all) == 0 {
		return
	}
	var clocks, questions []string
	fine := 0
	asked := map[string]bool{}
	for _, f := range all {
		if !asked[f.Clock] {
			asked[f.Clock] = true
			clocks = append(clocks, f.Clock)
		}
		if !asked[string(f.Check)] {
			asked[string(f.Check)] = true
			questions = append(questions, string(f.Check))
		}
		if f.Verdict == stats.Trusted {
			fine++
		}
	}
	fmt.Fprintf(w, "%s: %d checks of %d clocks, %d passed (%s)\n", s.bold("Each clock by itself"), len(all), len(clocks), fine, strings.Join(questions, ", "))
	for _, f := range all {
		for _, reason := range f.Reasons {
			fmt.Fprintf(w, "  %s %s, %s: %s\n", s.verdict(f.Verdict), f.Clock, f.Check, reason)
		}
	}
	for _, f := range all {
		if e := f.Estimate; e != nil && worthTelling[f.Check] && f.Clock == all[0].Clock {
			fmt.Fprintf(w, "  %s of %s: %s\n", f.Check, f.Clock, measured(*e))
		}
	}
	notes(w, all)
	fmt.Fprintln(w)
}

// notes writes each note once, with the clocks that it is about.
func notes(w io.Writer, all []check.Finding) {
	about := map[string][]string{}
	var order []string
	for _, f := range all {
		for _, note := range f.Notes {
			if about[note] == nil {
				order = append(order, note)
			}
			about[note] = append(about[note], f.Clock)
		}
	}
	for _, note := range order {
		fmt.Fprintf(w, "  note on %s: %s\n", strings.Join(about[note], ", "), note)
	}
}

// worthTelling are the checks whose figure is of interest where all is well, too.
var worthTelling = map[check.Question]bool{check.CPUOffset: true, check.CPUSkew: true, check.Drift: true}

// measured writes an estimate with its bounds, as finely as these are apart.
func measured(e stats.Estimate) string {
	digits := max(0, 2-int(math.Floor(math.Log10(e.Hi-e.Lo))))
	unit := math.Pow(10, float64(-digits))
	value := math.Round(e.Value/unit)*unit + 0 // no minus before a zero
	return fmt.Sprintf("%.*f %s (%.*f to %.*f)", digits, value, e.Unit, digits, e.Lo, digits, e.Hi)
}

// FidelityCSV writes one row a sample; columns are named as the JSON fields.
func FidelityCSV(w io.Writer, d record.Fidelity) error {
	out := csv.NewWriter(w)
	out.Write([]string{"counter", "reference", "workload", "requested_ns", "reference_ns", "counter_ticks", "counter_ns"})
	for _, r := range d.Sandwiches {
		for _, p := range r.Samples {
			out.Write([]string{
				r.Counter, r.Reference, r.Workload, number(&p.RequestedNs), number(&p.ReferenceNs),
				strconv.FormatInt(p.CounterTicks, 10), number(p.CounterNs),
			})
		}
	}
	out.Flush()
	return out.Error()
}
