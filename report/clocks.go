package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chronoscope/clock"
	"chronoscope/record"
	"chronoscope/stats"
)

// Clocks writes the ranking of clocks for people.
func Clocks(w io.Writer, d record.Clocks, s Style) {
	machineLines(w, d.Header, s)
	if len(d.Clocks) > 0 {
		trustInClocks(w, d.Ranking, s)
		winners(w, d.Ranking, s)
		rankingTable(w, d.Ranking, s)
		reasons(w, d.Ranking, s)
	}
	unavailable(w, d.Ranking, s)
	runtimes(w, d.Ranking, s)
	caveats(w, d.Header, s)
}

// runtimes says which version of each runtime was measured, and how warm it was.
func runtimes(w io.Writer, r record.Ranking, s Style) {
	if len(r.Runtimes) == 0 {
		return
	}
	fmt.Fprintln(w, s.bold("Runtimes"))
	for _, runtime := range r.Runtimes {
		fmt.Fprintf(w, "  %-10s %s\n", runtime.Name, runtime.Version)
		if runtime.Warmup != "" {
			fmt.Fprintf(w, "  %-10s %s\n", "", s.dim("warm-up: "+runtime.Warmup))
		}
	}
	fmt.Fprintln(w)
}

// purposes are what a clock is chosen for, in the order in which they are
// shown.
func purposes(b record.Best) []struct {
	purpose string
	name    *string
} {
	return []struct {
		purpose string
		name    *string
	}{
		{"wall intervals", b.Wall},
		{"CPU time", b.CPU},
		{"timestamps", b.Timestamp},
		{"finest counter", b.Counter},
	}
}

// trustInClocks says in a line whether the clocks to use can be trusted.
func trustInClocks(w io.Writer, r record.Ranking, s Style) {
	j, worst, trusted := stats.NewJudgement(), "", 0
	chosen := false
	for _, p := range purposes(r.Best) {
		if p.name == nil {
			continue
		}
		chosen = true
		if c := find(r.Clocks, *p.name); c.Verdict.WorseThan(j.Verdict) {
			j.Verdict, worst = c.Verdict, c.Name
		}
	}
	for _, c := range r.Clocks {
		if c.Verdict == stats.Trusted {
			trusted++
		}
	}
	answer := "yes, those to use are " + s.verdict(stats.Trusted)
	switch {
	case !chosen:
		answer = "no, none of those measured is fit to use"
	case worst != "":
		answer = fmt.Sprintf("with care, %s is %s for the reason below", worst, s.verdict(j.Verdict))
	}
	fmt.Fprintf(w, "%s %s (%d of %s); chronoscope fidelity holds the counter against another clock\n\n",
		s.bold("Can I trust them?"), answer, trusted, numbered(len(r.Clocks), "clock"))
}

// winners writes the clock to use for each purpose.
func winners(w io.Writer, r record.Ranking, s Style) {
	fmt.Fprintln(w, s.bold("Use"))
	for _, p := range purposes(r.Best) {
		if p.name == nil {
			if len(r.Clocks)+len(r.Unavailable) < len(clock.Names()) {
				continue // only some clocks were asked for
			}
			fmt.Fprintf(w, "  %-15s none of the clocks measured is fit\n", p.purpose)
			continue
		}
		c := find(r.Clocks, *p.name)
		fmt.Fprintf(w, "  %-15s %s %9s, %7s a call, %s   %s\n", p.purpose, s.bold(fmt.Sprintf("%-18s", c.Name)),
			accuracy(c.Accuracy), ns(c.Cost.MedianNs), s.verdict(c.Verdict), s.dim(c.API))
	}
	fmt.Fprintln(w)
}

func find(clocks []record.Clock, name string) record.Clock {
	i := slices.IndexFunc(clocks, func(c record.Clock) bool { return c.Name == name })
	return clocks[i]
}

// rankingTable writes one line a clock.
func rankingTable(w io.Writer, r record.Ranking, s Style) {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(plain)
	right := func(n int) table.ColumnConfig {
		return table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight}
	}
	t.SetColumnConfigs([]table.ColumnConfig{right(1), right(5), right(7), right(8), right(9), right(10), {Number: 2, Hidden: len(r.Runtimes) == 0}})
	t.AppendHeader(table.Row{"quality", "runtime", "clock", "kind", "accuracy", "±", "cost", "p99", "spread", "cycles of both", "verdict"})
	for _, c := range r.Clocks {
		t.AppendRow(table.Row{
			percent(c.Quality), c.Runtime, strings.TrimPrefix(c.Name, c.Runtime+"/"), c.Kind, accuracy(c.Accuracy), interval(c.Accuracy),
			ns(c.Cost.MedianNs), ns(c.Cost.P99Ns), spread(c.Spread), cycles(c.Cycles), s.verdict(c.Verdict),
		})
	}
	t.Render()
	fmt.Fprintln(w)
}

// plain sets columns apart by blanks alone, which suits any terminal and any
// program that reads words.
var plain = func() table.Style {
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	return style
}()

func percent(share *float64) string {
	if share == nil {
		return "?"
	}
	return fmt.Sprintf("%.1f %%", 100**share)
}

func spread(share *float64) string {
	if share == nil {
		return "?"
	}
	return fmt.Sprintf("%.3f", *share)
}

// accuracy writes an accuracy with a digit more than other times: it is known
// that well, and 41.67 ns is worth telling from 42.
func accuracy(e stats.Estimate) string {
	if math.IsNaN(e.Value) {
		return "?"
	}
	return durationTo(e.Value, 4)
}

// interval is how far the value may be off, as a share of it: the farther end of its
// interval. Where the verdict is on half the interval, [halfInterval] is.
func interval(e stats.Estimate) string {
	off := math.Max(e.Hi-e.Value, e.Value-e.Lo) / e.Value
	switch {
	case math.IsNaN(off):
		return "?"
	case off == 0:
		return "exact"
	}
	return relative(off)
}

// halfInterval is half the width of the interval, as a share of the value: what a precision
// is asked for in, and what verdicts on it name.
func halfInterval(e stats.Estimate) string {
	switch half := e.RelativeHalfWidth(); {
	case math.IsNaN(half):
		return "?"
	case half == 0:
		return "exact"
	default:
		return relative(half)
	}
}

func cycles(c record.Cycles) string {
	if c.Accuracy == nil || c.Cost == nil {
		return "?"
	}
	return fmt.Sprintf("%s/%s", count(*c.Accuracy), count(*c.Cost))
}

// count writes a number of cycles.
func count(n float64) string {
	if n >= 1e5 {
		return fmt.Sprintf("%.1e", n)
	}
	return fmt.Sprintf("%.0f", n)
}

func (s Style) verdict(v stats.Verdict) string {
	colors := map[stats.Verdict]text.Colors{
		stats.Trusted: {text.FgGreen}, stats.Suspect: {text.FgYellow}, stats.Unusable: {text.FgRed},
	}
	return s.paint(colors[v], "%s", v)
}

// reasons says why a clock is not trusted.
func reasons(w io.Writer, r record.Ranking, s Style) {
	var said bool
	for _, c := range r.Clocks {
		for _, reason := range c.Reasons {
			fmt.Fprintf(w, "%s %s: %s\n", s.verdict(c.Verdict), c.Name, reason)
			said = true
		}
	}
	if said {
		fmt.Fprintln(w)
	}
}

// unavailable folds the clocks that can't be read together by reason.
func unavailable(w io.Writer, r record.Ranking, s Style) {
	if len(r.Unavailable) == 0 {
		return
	}
	type fold struct{ reason, remedy string }
	names := map[fold][]string{}
	var order []fold
	for _, u := range r.Unavailable {
		f := fold{reason: u.Reason}
		if u.Remedy != nil {
			f.remedy = *u.Remedy
		}
		if names[f] == nil {
			order = append(order, f)
		}
		names[f] = append(names[f], u.Name)
	}
	fmt.Fprintln(w, s.bold("Unavailable"))
	for _, f := range order {
		fmt.Fprintf(w, "  %s\n    %s\n", strings.Join(names[f], ", "), f.reason)
		if f.remedy != "" {
			fmt.Fprintf(w, "    remedy: %s\n", f.remedy)
		}
	}
	fmt.Fprintln(w)
}

// ClocksCSV writes one row a clock; columns are named as the JSON fields, those
// of nested objects with a dot.
func ClocksCSV(w io.Writer, d record.Clocks) error {
	out := csv.NewWriter(w)
	header := []string{
		"name", "runtime", "api", "kind", "unit_ns",
		"accuracy.value", "accuracy.lo", "accuracy.hi", "accuracy.confidence",
		"accuracy.unit", "accuracy.statistic", "accuracy.n", "accuracy.discarded",
		"cost.min_ns", "cost.median_ns", "cost.p95_ns", "cost.p99_ns", "cost.max_ns", "cost.family",
		"spread", "quality", "cycles.accuracy", "cycles.cost",
		"monotonic", "thread_safe", "stable", "verdict", "reasons", "counts_sleep", "counts_suspend",
	}
	out.Write(header)
	for _, c := range d.Clocks {
		out.Write([]string{
			c.Name, c.Runtime, c.API, string(c.Kind), number(c.UnitNs),
			number(stats.Finite(c.Accuracy.Value)), number(stats.Finite(c.Accuracy.Lo)), number(stats.Finite(c.Accuracy.Hi)), decimal(stats.Confidence),
			c.Accuracy.Unit, c.Accuracy.Statistic, strconv.Itoa(c.Accuracy.N), strconv.Itoa(c.Accuracy.Discarded),
			number(c.Cost.MinNs), number(c.Cost.MedianNs), number(c.Cost.P95Ns), number(c.Cost.P99Ns), number(c.Cost.MaxNs), word(c.Cost.Family),
			number(c.Spread), number(c.Quality), number(c.Cycles.Accuracy), number(c.Cycles.Cost),
			truth(c.Monotonic), truth(c.ThreadSafe), truth(c.Stable), string(c.Verdict), strings.Join(c.Reasons, "; "),
			string(c.Sleeping), string(c.Suspended),
		})
	}
	out.Flush()
	return out.Error()
}

// number writes a number in full, and nothing for one that is not known.
func number(v *float64) string {
	if v == nil {
		return ""
	}
	return decimal(*v)
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func word(v *string) string {
	if v == nil {
		return ""
	}
	return *v
}

func truth(v *bool) string {
	if v == nil {
		return ""
	}
	return strconv.FormatBool(*v)
}

// SortBy orders clocks by "quality", "accuracy" or "cost", best first.
func SortBy(clocks []record.Clock, key string) error {
	keys := map[string]func(record.Clock) float64{
		"quality":  func(c record.Clock) float64 { return -orElse(c.Quality, -1) },
		"accuracy": func(c record.Clock) float64 { return orElse(stats.Finite(c.Accuracy.Value), math.Inf(1)) },
		"cost":     func(c record.Clock) float64 { return orElse(c.Cost.MedianNs, math.Inf(1)) },
	}
	by, known := keys[key]
	if !known {
		return fmt.Errorf("clocks can't be sorted by %q: use quality, accuracy or cost", key)
	}
	slices.SortStableFunc(clocks, func(a, b record.Clock) int { return cmp.Compare(by(a), by(b)) })
	return nil
}

func orElse(v *float64, missing float64) float64 {
	if v == nil {
		return missing
	}
	return *v
}
