package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chronoscope/record"
)

// Kuperberg2011 is the name of the set of timers that Kuperberg, Krogmann and Reussner
// ranked on four machines (Metric-based Selection of Timer Methods for Accurate
// Measurements, ICPE 2011, section 5, Tables 1 and 2).
const Kuperberg2011 = "kuperberg2011"

// kuperbergTimers are the set, as the tables name them, and the clocks that they are.
var kuperbergTimers = []struct{ short, clock string }{
	{"CTCT", "java/ThreadMXBean.getCurrentThreadCpuTime"},
	{"CTM", "java/System.currentTimeMillis"},
	{"CTUT", "java/ThreadMXBean.getCurrentThreadUserTime"},
	{"HRC", "java/Perf.highResCounter"},
	{"NANO", "java/System.nanoTime"},
	{"PCT", "java/OperatingSystemMXBean.getProcessCpuTime"},
	{".DAT", "dotnet/DateTime.Now"},
	{".STO", "dotnet/Stopwatch"},
}

// KuperbergTimers are the names of the set's clocks.
func KuperbergTimers() []string {
	var names []string
	for _, t := range kuperbergTimers {
		names = append(names, t.clock)
	}
	return names
}

// published is a timer's row of Table 1 or 2. Accuracies and costs are in nanoseconds,
// those in ticks by the length of a tick that the table's legend gives.
type published struct {
	accuracyNs, costNs, spread, quality float64 // quality in percent, as printed
	slip                                bool    // the printed quality does not follow from the row
}

// publishedMachine is one of the four machines, with its rows in the order of
// kuperbergTimers.
type publishedMachine struct {
	name string
	rows [8]published
}

// kuperbergTables are Tables 1 and 2, two machines each.
var kuperbergTables = [2][2]publishedMachine{
	{
		{"MBP53", [8]published{
			{1000, 2232, 0.999, 18.86, false}, {1e6, 101, 1, 12.89, false}, {1000, 2204, 0.999, 18.88, false},
			{3, 51, 0.778, 54.08, true}, {1000, 97, 1, 25.82, false}, {1e7, 2298, 1, 7.49, false},
			{1000, 200, 1, 24.01, false}, {1000, 200, 1, 24.01, false},
		}},
		{"MBP62", [8]published{
			{1000, 1756, 0.983, 19.36, false}, {1e6, 70, 1, 13.51, false}, {1000, 1643, 0.984, 19.50, false},
			{1, 36, 0.648, 41.44, true}, {1000, 70, 1, 26.95, false}, {1e7, 1712, 1, 7.79, false},
			{1000, 200, 1, 24.26, false}, {1000, 200, 1, 24.26, false},
		}},
	},
	{
		{"SAMSa", [8]published{
			{1e7, 30000, 0.999, 6.37, false}, {1e6, 1267, 1, 11.02, false}, {1e7, 8000, 1, 7.28, false},
			{1000, 1283, 0.999, 21.95, false}, {69, 978, 0.736, 25.29, false}, {1e7, 555, 1, 9.51, false},
			{1000, 1000, 0.996, 22.47, false}, {100, 1100, 0.944, 27.27, false},
		}},
		{"SAMSb", [8]published{
			{15625000, 896, 1, 8.66, false}, {16e6, 127, 1, 10.51, false}, {15625000, 889, 1, 8.67, false},
			{279, 1395, 0.999, 24.74, false}, {279, 1876, 0.997, 24.00, false}, {15625000, 476, 1, 9.22, false},
			{15625000, 800, 1, 8.76, false}, {100, 500, 0.992, 30.25, false},
		}},
	},
}

// KuperbergClocks writes the set's ranking in the form of Tables 1 and 2, this machine
// beside those of the paper.
func KuperbergClocks(w io.Writer, d record.Clocks, s Style) {
	machineLines(w, d.Header, s)
	for i, machines := range kuperbergTables {
		fmt.Fprintln(w, s.bold(fmt.Sprintf("This machine beside Table %d of Kuperberg, Krogmann, Reussner (ICPE 2011)", i+1)))
		kuperbergTable(w, d.Ranking, machines[:])
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "* printed so, though it does not follow from the row's own figures: these give 43.41 % and 46.26 %")
	fmt.Fprintln(w)
	for _, t := range kuperbergTimers {
		fmt.Fprintf(w, "%-5s %s\n", t.short, t.clock)
	}
	fmt.Fprintln(w)
	reasons(w, d.Ranking, s)
	unavailable(w, d.Ranking, s)
	runtimes(w, d.Ranking, s)
	caveats(w, d.Header, s)
}

// kuperbergTable writes a row a timer, this machine's columns first.
func kuperbergTable(w io.Writer, r record.Ranking, machines []publishedMachine) {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(plain)
	names, columns := table.Row{"", "this machine", "", "", ""}, table.Row{"timer"}
	for range 1 + len(machines) {
		columns = append(columns, "accuracy", "cost", "spread", "quality")
	}
	for _, m := range machines {
		names = append(names, m.name, "", "", "")
	}
	var right []table.ColumnConfig
	for i := 2; i <= len(columns); i++ {
		right = append(right, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	t.AppendHeader(names)
	t.AppendHeader(columns)
	for i, timer := range kuperbergTimers {
		row := append(table.Row{timer.short}, measuredHere(r, timer.clock)...)
		for _, m := range machines {
			p := m.rows[i]
			row = append(row, durationTo(p.accuracyNs, 4), durationTo(p.costNs, 4), fmt.Sprintf("%.3f", p.spread),
				fmt.Sprintf("%.2f %%%s", p.quality, strings.Repeat("*", map[bool]int{true: 1}[p.slip])))
		}
		t.AppendRow(row)
	}
	t.Render()
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
