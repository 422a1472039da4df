package view

import (
	"fmt"
	"slices"
	"strings"

	"chronoscope/gobench"
	"chronoscope/record"
	"chronoscope/remedy"
	"chronoscope/stats"
)

var _ = register(60, "bench", bench,
	listing(func(d record.Bench) []gobench.Report { return d.Results }, "name package revision basis estimate wall cpu cycles wait_share runnable_threads iterations gomaxprocs corrected rejected verdict reasons"), benchFigures)

// bench shows how long a module's Go benchmarks take.
func bench(d record.Bench) *Sheet {
	s := sheet("Go benchmarks", d.Header)
	verdicts := map[stats.Verdict]int{}
	texts := map[stats.Verdict][]string{}
	for _, b := range d.Results {
		if verdicts[b.Verdict]++; !b.Failed { // what a benchmark that failed printed stays as it is
			texts[b.Verdict] = append(texts[b.Verdict], b.Reasons...)
		}
	}
	var reasons folds
	shared := SharedNames(d.Results)
	for _, b := range d.Results {
		said := ranged(texts[b.Verdict])
		for _, reason := range b.Reasons {
			if !b.Failed {
				reason = said[reason]
			}
			name := benchmarkName(b)
			if shared[b.Name] {
				name = qualifiedName(b)
			}
			reasons.add(fold{verdict: b.Verdict, text: reason}, name)
		}
	}
	s.Tiles = []Tile{{
		Topic: "Go benchmarks", Figure: fmt.Sprintf("%d of %d trusted", verdicts[stats.Trusted], len(d.Results)),
		Sentence: fmt.Sprintf("Suspect: %d; unusable: %d. The reasons are in the data below.", verdicts[stats.Suspect], verdicts[stats.Unusable]),
	}}
	for _, b := range d.Results[:min(len(d.Results), mostTiles-1)] {
		sentence := because(b.Reasons)
		if stats.IsFinite(b.Estimate.Value) || stats.IsFinite(b.Wall.Value) {
			sentence = fmt.Sprintf("For each operation, known to ± %s; go test says %s.%s", plusMinus(b.Estimate), written(b.Wall), sentence)
		}
		s.Tiles = append(s.Tiles, Tile{Topic: benchmarkName(b), Figure: written(b.Estimate), Verdict: b.Verdict, Sentence: strings.TrimSpace(sentence)})
	}
	s.add(benchmarkTimes(d.Results), benchmarkCalls(d.Results), Section{In: InText, Lines: reasons.lines(-1, len(d.Results))}, pairs(d.Pairs, nil), gateSection(d))
	return s
}

// benchmarkCalls shows how single calls are distributed, for benchmarks whose single calls were
// timed.
func benchmarkCalls(all []gobench.Report) Section {
	t := table(words("benchmark", "time"), numbers("n"), words(tailNames()...), numbers("worst"), words("verdict"))
	s := Section{
		Title: "Single calls",
		Lead: "Percentiles of single calls with 95 % intervals by order statistics; one for which there are too few calls is missing. " +
			"The cost of the clock is taken off. Interrupts, and what a hypervisor takes, are in both rows.",
		Table: t,
	}
	for _, b := range all {
		if b.Calls == nil {
			continue
		}
		t.row(append(tailRow(benchmarkName(b), "as they were", b.Calls.All, stats.TimeUnit{}), b.Calls.Verdict)...)
		t.row(append(tailRow(benchmarkName(b), "on the CPU", b.Calls.OnCPU, stats.TimeUnit{}), b.Calls.Verdict)...)
		for _, reason := range slices.Concat(b.Calls.Reasons, b.Calls.All.Reasons) {
			s.Notes = append(s.Notes, Line{Text: benchmarkName(b) + ": " + reason})
		}
	}
	return s
}

// gateSection says how small a slowdown the gate can see on this machine, and what it needs for the
// slowdown that was asked for.
func gateSection(d record.Bench) Section {
	g := d.Gate
	if g == nil {
		return Section{}
	}
	t := table(words("benchmark"), numbers("pairs", "each takes", "scatter", "sees from", fmt.Sprintf("pairs to see %s", percentOf(g.Slowdown)), "take"))
	for _, v := range g.Visible {
		t.row(strings.TrimPrefix(v.Name, "Benchmark"), v.Pairs, stats.Duration(v.PairNs, 3), percent(v.Scatter), percent(v.Visible), v.Needed, stats.Duration(v.NeededNs, 3))
	}
	var lines []Line
	if g.Limit.Known() {
		lines = append(lines, Line{Text: fmt.Sprintf("To see %s in each of %d benchmarks here, beyond a limit of %s, you need %s: %s",
			percentOf(g.Slowdown), len(g.Visible), percentOf(g.Limit.Value()), stats.Duration(g.NeededNs, 3), remedy.Of(remedy.MaxTime, g.MaxTime()))})
	}
	if g.Null {
		lines = append(lines, Line{Text: falseAlarms(d)})
	}
	return Section{
		Title: "What the gate sees here", Lines: lines, Table: t,
		Lead: "What a benchmark sees is the least slowdown that as many pairs as were measured show in 95 of 100 runs.",
	}
}

// falseAlarms says how many benchmarks the gate would have failed when the code was compared with
// itself.
func falseAlarms(d record.Bench) string {
	beyond := 0
	for _, p := range d.Pairs {
		if p.Side() == stats.Beyond {
			beyond++
		}
	}
	if beyond == 0 {
		return "The code was compared with itself, and the gate raised no alarm."
	}
	return fmt.Sprintf("The code was compared with itself, and the gate would have failed for %d of %d comparisons: false alarms.", beyond, len(d.Pairs))
}

// percentOf writes a share that the user chose in percent.
func percentOf(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }

// SharedNames returns the names that benchmarks of several packages have: such a name alone does not tell which one is meant.
func SharedNames(all []gobench.Report) map[string]bool {
	pkg, shared := map[string]string{}, map[string]bool{}
	for _, b := range all {
		if first, is := pkg[b.Name]; is && first != b.Package {
			shared[b.Name] = true
		}
		pkg[b.Name] = b.Package
	}
	return shared
}

// benchmarkName returns a benchmark's name with its revision, without its package.
func benchmarkName(b gobench.Report) string {
	name := strings.TrimPrefix(b.Name, "Benchmark")
	if b.Revision != "" {
		name += " at " + b.Revision
	}
	return name
}

// benchmarkTimes shows how far the repetitions of each benchmark lie from its time.
func benchmarkTimes(all []gobench.Report) Section {
	zero := 0.0
	values := []float64{-0.01, 0.01}
	chart := Chart{Label: "Repetitions of each benchmark, as shares of its time", Marker: &zero}
	t := table(words("package", "benchmark"), numbers("time/op", "page:95 % interval", "±", "go test says", "CPU/op", "waited", "repetitions"), words("verdict", "page:reasons", "reports"))
	t.Grouped = true
	for _, b := range all {
		row := benchmarkRow(b)
		chart.Rows = append(chart.Rows, row)
		for _, p := range row.Points {
			values = append(values, p.At)
		}
		t.row(b.Package, benchmarkName(b), written(b.Estimate), b.Estimate.Range(), plusMinus(b.Estimate), written(b.Wall),
			written(b.CPU), percent(b.WaitShare), b.Estimate.N, b.Verdict, joined(b.Reasons), otherMetrics(b))
	}
	chart.X = linear("off the estimate", Shares, values)
	return Section{
		Title: "How long the benchmarks take",
		Lead: "A ring is one repetition, as far from the benchmark's time as it was; the thick line is the 95 % interval of the time. " +
			"What other processes took of the CPUs is taken off.",
		Legend: []Key{{Mark: "ring", Look: "s0", Text: "a repetition"}, {Line: true, Look: "thick", Text: "95 % interval"}},
		Charts: []Chart{chart},
		Table:  t,
	}
}

func benchmarkRow(b gobench.Report) Row {
	row := Row{Name: benchmarkName(b), Figure: written(b.Estimate) + " ± " + plusMinus(b.Estimate)}
	if !(b.Estimate.Value > 0) {
		return row
	}
	off := func(v float64) float64 { return v/b.Estimate.Value - 1 }
	if stats.IsFinite(b.Estimate.Lo) && stats.IsFinite(b.Estimate.Hi) {
		row.Spans = []Span{{off(b.Estimate.Lo), off(b.Estimate.Hi), "thick", b.Estimate.Range()}}
	}
	for i, r := range b.Repetitions {
		row.Points = append(row.Points, Point{off(r.TimeNs), "ring", "s0", stats.Duration(r.TimeNs, 5), scatter(i)})
	}
	return row
}

// otherMetrics writes the metrics that a benchmark reports in addition to its time.
func otherMetrics(b gobench.Report) string {
	var all []string
	for _, m := range b.Metrics {
		all = append(all, stats.Significant(m.Value, 4)+" "+m.Unit)
	}
	return strings.Join(all, ", ")
}

// benchFigures returns the times and other metrics of each benchmark.
func benchFigures(d record.Bench) (all []Figure) {
	several := onSeveralProcs(d.Results)
	for _, b := range d.Results {
		var times, walls []float64
		for _, r := range b.Repetitions {
			times = append(times, r.TimeNs)
		}
		for _, r := range b.Runs {
			if 2*r.Iterations > b.Iterations { // in shorter runs the start of the process weighs more
				walls = append(walls, r.TimedNs/float64(r.Iterations))
			}
		}
		name := qualifiedName(b)
		if several[name] && b.Procs > 1 { // as go test names it
			name += fmt.Sprintf("-%d", b.Procs)
		}
		first := len(all)
		all = timeFigure(all, FigureKey{TopicBenchmark, name, QuantityTime}, b.Estimate, b.Verdict, b.Reasons, times)
		all = timeFigure(all, FigureKey{TopicBenchmark, name, QuantityWall}, b.Wall, b.Verdict, b.Reasons, walls)
		for _, m := range b.Metrics {
			all = append(all, metricFigure(FigureKey{TopicBenchmark, name, m.Unit}, m, b)...)
		}
		for i := range all[first:] {
			all[first+i].Revision = b.Revision
		}
	}
	return all
}

// metricFigure returns the figure of a metric; none if its value is not known. Only allocs/op has an interval, which allows for
// stray allocations. Other metrics differ between measurements of the same code by more than their repetitions show: many follow
// from the wall time, which other programs lengthen, and B/op of a slice that grows depends on the number of iterations.
func metricFigure(k FigureKey, m gobench.Metric, b gobench.Report) []Figure {
	figures := bareFigure(k, betterOf(m.Unit), m.Unit, m.Value, b.Verdict, b.Reasons)
	strays := b.StrayAllocs()
	if m.Unit != gobench.AllocsUnit || !m.Lo.Known() || !m.Hi.Known() || b.Estimate.N < leastForInterval || !stats.IsFinite(strays) {
		return figures
	}
	for i := range figures {
		e := &figures[i].Estimate
		e.Lo, e.Hi = max(0, m.Lo.Value()-strays), m.Hi.Value()+strays
		e.Statistic, e.N = stats.QuantileName(0.5), b.Estimate.N
	}
	return figures
}

// leastForInterval is the least number of repetitions that bound the median. The bounds of fewer are only their range.
var leastForInterval = stats.SamplesForMedian((1-stats.Confidence)/2, 0)

// betterOf says which values of a metric are better.
func betterOf(metric string) string {
	if stats.IsRate(metric) {
		return Higher
	}
	return Lower
}

// onSeveralProcs returns the names of benchmarks that ran with several numbers of processors (go
// test -cpu), which count as different benchmarks. For other benchmarks the number is not part of
// the name, since it differs between machines.
func onSeveralProcs(results []gobench.Report) map[string]bool {
	procs, several := map[string]int{}, map[string]bool{}
	for _, b := range results {
		name := qualifiedName(b)
		if other, known := procs[name]; known && other != b.Procs {
			several[name] = true
		}
		procs[name] = b.Procs
	}
	return several
}

func qualifiedName(b gobench.Report) string {
	name := strings.TrimPrefix(b.Name, "Benchmark")
	if b.Package != "" {
		name = b.Package + "." + name
	}
	if b.Revision != "" {
		name += " at " + b.Revision
	}
	return name
}
