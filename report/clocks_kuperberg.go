package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chronoscope/record"
)

// Kuperberg2011 is the name of the set of timers that Kuperberg, Krogmann and Reussner
// ranked on four machines (Metric-based Selection of Timer Methods for Accurate
// Measurements, ICPE 2011, section 5, Tables 1 and 2).
const Kuperberg2011 = "kuperberg2011"

// KuperbergTimers are the names of the set's clocks.
func KuperbergTimers() []string {
	var names []string
	for _, t := range record.PublishedTimers {
		names = append(names, t.Clock)
	}
	return names
}

// KuperbergClocks writes the set's ranking in the form of Tables 1 and 2, this machine
// beside those of the paper.
func KuperbergClocks(w io.Writer, d record.Clocks, s Style) {
	machineLines(w, d.Header, s)
	for machines := range slices.Chunk(record.PublishedMachines, 2) {
		fmt.Fprintln(w, s.bold(fmt.Sprintf("This machine beside Table %d of Kuperberg, Krogmann, Reussner (ICPE 2011)", machines[0].Table)))
		kuperbergTable(w, d.Ranking, machines)
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "* printed so, though it does not follow from the row's own figures: these give 43.41 % and 46.26 %")
	fmt.Fprintln(w)
	for _, t := range record.PublishedTimers {
		fmt.Fprintf(w, "%-5s %s\n", t.Short, t.Clock)
	}
	fmt.Fprintln(w)
	reasons(w, d.Ranking, s)
	unavailable(w, d.Ranking, s)
	runtimes(w, d.Ranking, s)
	caveats(w, d.Header, s)
}

// kuperbergTable writes a row a timer, this machine's columns first.
func kuperbergTable(w io.Writer, r record.Ranking, machines []record.PublishedMachine) {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(plain)
	names, columns := table.Row{"", "this machine", "", "", ""}, table.Row{"timer"}
	for range 1 + len(machines) {
		columns = append(columns, "accuracy", "cost", "spread", "quality")
	}
	for _, m := range machines {
		names = append(names, m.Name, "", "", "")
	}
	var right []table.ColumnConfig
	for i := 2; i <= len(columns); i++ {
		right = append(right, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	t.AppendHeader(names)
	t.AppendHeader(columns)
	for i, timer := range record.PublishedTimers {
		row := append(table.Row{timer.Short}, measuredHere(r, timer.Clock)...)
		for _, m := range machines {
			p := m.Rows[i]
			row = append(row, durationTo(p.AccuracyNs, 4), durationTo(p.CostNs, 4), fmt.Sprintf("%.3f", p.Spread),
				fmt.Sprintf("%.2f %%%s", p.Quality, slipMark(p)))
		}
		t.AppendRow(row)
	}
	t.Render()
}

// slipMark marks a printed quality that does not follow from its row.
func slipMark(r record.PublishedRow) string {
	if r.Implied != 0 {
		return "*"
	}
	return ""
}

// measuredHere are this machine's columns of a clock.
func measuredHere(r record.Ranking, name string) table.Row {
	for _, c := range r.Clocks {
		if c.Name == name {
			quality := "?"
			if c.Quality != nil {
				quality = fmt.Sprintf("%.2f %%", 100**c.Quality)
			}
			return table.Row{accuracy(c.Accuracy), ns(c.Cost.MedianNs), spread(c.Spread), quality}
		}
	}
	return table.Row{"-", "-", "-", "-"}
}
