package report

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chronoscope/record"
	"chronoscope/stats"
)

// switching writes what a context switch costs, and the cold caches after it.
func switching(w io.Writer, d *record.Switching, s Style) {
	if d == nil {
		return
	}
	fmt.Fprintf(w, "%s on CPU %d costs %s (%s), at least %s, 95 in 100 below %s\n",
		s.bold("A context switch"), d.CPU, duration(d.Cost.Value), bounds(d.Cost), ns(d.LeastNs), ns(d.P95Ns))
	for _, reason := range d.Reasons {
		fmt.Fprintf(w, "%s: %s\n", d.Verdict, reason)
	}
	for _, c := range d.Caveats {
		fmt.Fprintf(w, "caveat: %s\n", c)
	}
	fmt.Fprintln(w)
	if len(d.Cold) == 0 {
		return
	}
	out := table.NewWriter()
	out.SetOutputMirror(w)
	out.SetStyle(plain)
	var columns []table.ColumnConfig
	for n := 1; n <= 6; n++ {
		if n != 2 {
			columns = append(columns, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	out.SetColumnConfigs(columns)
	out.AppendHeader(table.Row{"walking", "order", "warm", "after a switch", "caches swept", "extra", "95 %"})
	for _, c := range d.Cold {
		out.AppendRow(table.Row{
			size(c.Bytes), c.Pattern, duration(c.Warm.Value), duration(c.AfterIdleSwitch.Value),
			duration(c.AfterBusySwitch.Value), duration(c.Extra.Value), bounds(c.Extra),
		})
	}
	out.Render()
	fmt.Fprintln(w)
}

// bounds writes an estimate's bounds.
func bounds(e stats.Estimate) string {
	lo, hi := stats.Finite(e.Lo), stats.Finite(e.Hi)
	if lo == nil || hi == nil {
		return "too few for an interval"
	}
	return duration(*lo) + " to " + duration(*hi)
}

// size writes a size in binary units.
func size(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}
