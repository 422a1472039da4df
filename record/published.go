package record

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// PublishedTimer is a timer that Kuperberg, Krogmann and Reussner ranked (Kuperberg 2011a,
// section 5).
type PublishedTimer struct {
	Short string // the name in Tables 1 and 2
	Clock string // the name in this program
	kind  clock.Kind
	// settable says that users can set the clock, which makes it unsuitable for intervals, and
	// calendar that it shows the date; see [timermeter.Best].
	settable, calendar bool
	ofThread           bool // measures CPU time of the calling thread
}

// PublishedTimers are the timers of the paper, in the order of the tables.
var PublishedTimers = []PublishedTimer{
	{Short: "CTCT", Clock: "java/ThreadMXBean.getCurrentThreadCpuTime", kind: clock.KindCPU, ofThread: true},
	{Short: "CTM", Clock: "java/System.currentTimeMillis", kind: clock.KindWall, settable: true, calendar: true},
	{Short: "CTUT", Clock: "java/ThreadMXBean.getCurrentThreadUserTime", kind: clock.KindCPU, ofThread: true},
	{Short: "HRC", Clock: "java/Perf.highResCounter", kind: clock.KindWall},
	{Short: "NANO", Clock: "java/System.nanoTime", kind: clock.KindWall},
	{Short: "PCT", Clock: "java/OperatingSystemMXBean.getProcessCpuTime", kind: clock.KindCPU},
	{Short: ".DAT", Clock: "dotnet/DateTime.Now", kind: clock.KindWall, settable: true, calendar: true},
	{Short: ".STO", Clock: "dotnet/Stopwatch", kind: clock.KindWall},
}

// PublishedRow is a timer's row of Table 1 or 2. Accuracies and costs are in nanoseconds. Those in
// ticks are converted by the length of a tick in the table's legend.
type PublishedRow struct {
	AccuracyNs, CostNs, Spread float64
	Quality                    float64 // in percent, as printed
	// Implied is the quality in percent that the row's own figures give, if it differs from the
	// printed one; otherwise 0.
	Implied float64
}

// PublishedMachine is one of the paper's four machines.
type PublishedMachine struct {
	Name       string // the name in the paper
	Table      int    // 1 or 2
	cpu        machine.Text
	os, kernel machine.Text
	coreGHz    float64 // the rate in the table's heading, in cycles per nanosecond
	Rows       [8]PublishedRow
}

// PublishedMachines are those of Tables 1 and 2, in order.
var PublishedMachines = []PublishedMachine{
	{"MBP53", 1, "Intel Core 2 Duo T9600", "darwin", "Mac OS X 10.6.4", 2.8, [8]PublishedRow{
		{1000, 2232, 0.999, 18.86, 0}, {1e6, 101, 1, 12.89, 0}, {1000, 2204, 0.999, 18.88, 0},
		{3, 51, 0.778, 54.08, 43.41}, {1000, 97, 1, 25.82, 0}, {1e7, 2298, 1, 7.49, 0},
		{1000, 200, 1, 24.01, 0}, {1000, 200, 1, 24.01, 0},
	}},
	{"MBP62", 1, "Intel Core i7", "darwin", "Mac OS X 10.6.4", 2.66, [8]PublishedRow{
		{1000, 1756, 0.983, 19.36, 0}, {1e6, 70, 1, 13.51, 0}, {1000, 1643, 0.984, 19.50, 0},
		{1, 36, 0.648, 41.44, 46.26}, {1000, 70, 1, 26.95, 0}, {1e7, 1712, 1, 7.79, 0},
		{1000, 200, 1, 24.26, 0}, {1000, 200, 1, 24.26, 0},
	}},
	{"SAMSa", 2, "Intel Pentium M", "linux", "2.6.34", 1.73, [8]PublishedRow{
		{1e7, 30000, 0.999, 6.37, 0}, {1e6, 1267, 1, 11.02, 0}, {1e7, 8000, 1, 7.28, 0},
		{1000, 1283, 0.999, 21.95, 0}, {69, 978, 0.736, 25.29, 0}, {1e7, 555, 1, 9.51, 0},
		{1000, 1000, 0.996, 22.47, 0}, {100, 1100, 0.944, 27.27, 0},
	}},
	{"SAMSb", 2, "Intel Pentium M", "windows", "Windows XP Professional", 1.73, [8]PublishedRow{
		{15625000, 896, 1, 8.66, 0}, {16e6, 127, 1, 10.51, 0}, {15625000, 889, 1, 8.67, 0},
		{279, 1395, 0.999, 24.74, 0}, {279, 1876, 0.997, 24.00, 0}, {15625000, 476, 1, 9.22, 0},
		{15625000, 800, 1, 8.76, 0}, {100, 500, 0.992, 30.25, 0},
	}},
}

// published is the first day of the conference at which the tables were presented.
var published = time.Date(2011, 3, 14, 0, 0, 0, 0, time.UTC)

// Published returns the document of one of the paper's machines, so that other machines can be
// compared with it. Its qualities are the printed ones. What the paper does not report is null.
func Published(name string) (d Clocks, ok bool) {
	for _, m := range PublishedMachines {
		if m.Name == name {
			return m.document(), true
		}
	}
	return Clocks{}, false
}

// document converts the tables' figures into a ranking, the best timer first.
func (m PublishedMachine) document() Clocks {
	coreHz := m.coreGHz * 1e9
	d := Clocks{
		Header: Header{
			Schema: Schema, Command: "clocks", Started: published,
			Machine: &machine.Machine{CPU: m.cpu, OS: m.os, Kernel: m.kernel, CoreHz: &coreHz},
			Caveats: []string{fmt.Sprintf("as printed in Table %d of Kuperberg, Krogmann, Reussner (ICPE 2011)", m.Table)},
		},
		Ranking: timermeter.Ranking{Unavailable: []timermeter.Unavailable{}, Runtimes: []timermeter.Runtime{}, Counters: []timermeter.CounterRate{}},
	}
	for i, t := range PublishedTimers {
		d.Clocks = append(d.Clocks, m.clock(t, m.Rows[i]))
	}
	slices.SortStableFunc(d.Clocks, timermeter.ByQuality)
	d.Best = timermeter.BestOf(d.Clocks)
	return d
}

func (m PublishedMachine) clock(t PublishedTimer, r PublishedRow) timermeter.Rating {
	cycles := func(ns float64) stats.Float { return stats.FloatOf(math.Max(1, ns*m.coreGHz)) } // one cycle at the least, as in section 4.1 of the paper
	runtime, _, _ := strings.Cut(t.Clock, "/")
	judgement := stats.NewJudgement()
	if r.Implied != 0 {
		judgement.Lower(stats.Suspect, "the printed quality of %.2f %% does not follow from the row's own figures, which give %.2f %%", r.Quality, r.Implied)
	}
	scope := clock.ScopeMachine
	if t.ofThread {
		scope = clock.ScopeThread
	}
	return timermeter.Rating{
		Name: t.Clock, Runtime: runtime, API: t.Short, Kind: t.kind,
		Accuracy: stats.Estimate{Value: r.AccuracyNs, Lo: math.NaN(), Hi: math.NaN(), Unit: "ns", Statistic: "printed"},
		Cost:     timermeter.Cost{MedianNs: stats.FloatOf(r.CostNs)}, Spread: stats.FloatOf(r.Spread), Quality: stats.FloatOf(r.Quality / 100),
		Cycles:      timermeter.Cycles{Accuracy: cycles(r.AccuracyNs), Cost: cycles(r.CostNs)},
		Judgement:   judgement,
		CountsSleep: clock.Unknown, CountsSuspend: clock.Unknown, Scope: scope, Settable: t.settable, Calendar: t.calendar,
	}
}
