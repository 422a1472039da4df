package report

import (
	"fmt"
	"math"
	"strings"

	"chronoscope/record"
	"chronoscope/stats"
)

// mostTiles of results are shown; the figure shows all.
const mostTiles = 6

// programsSheet shows how long programs take.
func programsSheet(d record.Programs) *sheet {
	s := sheetOf(programsTitle(d.Results), d.Header)
	for _, p := range d.Results[:min(len(d.Results), mostTiles)] {
		s.Tiles = append(s.Tiles, programTile(p))
	}
	s.add(programSection(d.Results), pairSection(d.Pairs))
	if d.Shell != nil {
		s.Caveats = append(s.Caveats, fmt.Sprintf("The shell itself takes %s of each time.", known(d.Shell.Estimate)))
	}
	return s
}

// programsTitle names what was timed, as far as a title has room.
func programsTitle(all []record.Program) string {
	switch len(all) {
	case 0:
		return "Programs"
	case 1:
		return "Program " + shortened(all[0].Command, mostName)
	case 2:
		return "Programs " + shortened(all[0].Command, mostName) + " and " + shortened(all[1].Command, mostName)
	}
	return fmt.Sprintf("Programs %s and %d more", shortened(all[0].Command, mostName), len(all)-1)
}

func programTile(p record.Program) tile {
	t := tile{Topic: shortened(p.Command, mostName), Figure: known(p.Estimate), Verdict: p.Verdict}
	if p.Failure != nil {
		t.Sentence = "It failed: " + *p.Failure + "."
		return t
	}
	t.Sentence = fmt.Sprintf("Alone on the machine%s; by the clock it took %s, and %s of CPU time.", within(p.Estimate), ns(stats.Finite(p.Wall.Value)), ns(stats.Finite(p.CPU.Value)))
	t.Sentence += because(p.Reasons)
	return t
}

// because is the first reason of a verdict, as the end of a sentence's paragraph.
func because(reasons []string) string {
	if len(reasons) == 0 {
		return ""
	}
	return " Not trusted: " + reasons[0] + "."
}

// programSection shows the runs of each command as points, with the estimate below them.
func programSection(all []record.Program) section {
	var values []float64
	for _, p := range all {
		values = append(values, p.Estimate.Lo, p.Estimate.Hi, p.Estimate.Value)
		for _, r := range p.Runs {
			values = append(values, r.WallNs)
		}
	}
	x := linear(values, tickDuration)
	if lo, hi := extremes(values); lo > 0 && hi/lo > 20 {
		x = logarithmic(values, tickDuration)
	}
	chart := rowChart{label: "Runs of each command, and its time alone on the machine", title: "time" + logNote(x), x: x}
	table := tableOf(words("command"), figuresOf("time alone", "95 % interval", "wall", "CPU", "waited for a CPU", "blocked", "memory", "runs"), words("verdict", "reasons"))
	for _, p := range all {
		chart.rows = append(chart.rows, programRow(p))
		table.row(p.Command, known(p.Estimate), span95(p.Estimate), ns(stats.Finite(p.Wall.Value)), ns(stats.Finite(p.CPU.Value)),
			ns(p.RunqueueWaitNs), ns(p.BlockedNs), bytesOf(p.MaxRSSBytes), fmt.Sprint(len(p.Counted())), p.Verdict, strings.Join(p.Reasons, "; "))
	}
	return section{
		Title: "How long the programs take",
		Lead: "A ring is one run by the clock, as it was, and a cross one that does not count. The diamond is the time on a machine of its own, " +
			"and the thick line its 95 % interval: what others took of the CPUs is taken off.",
		Legend: []legendKey{{Mark: "ring", Class: "s0", Text: "a run, by the clock"}, {Mark: "cross", Class: "faint", Text: "does not count"},
			{Mark: "diamond", Class: "s2", Text: "alone on the machine"}, {Line: true, Class: "thick", Text: "95 % interval"}},
		Panels: []panel{{Chart: chart.chart()}},
		Table:  table,
	}
}

func logNote(x scale) string {
	if x.log {
		return ", on a logarithmic scale"
	}
	return ""
}

// crowd is how many runs still stand apart; more are drawn through one another.
const crowd = 60

func programRow(p record.Program) chartRow {
	row := chartRow{name: p.Command, figure: WithError(p.Estimate)}
	spans, estimate := estimateMark(p.Estimate)
	usual := "s0"
	if len(p.Runs) > crowd {
		usual += " crowd"
	}
	for i, r := range p.Runs {
		mark, class, title := "ring", usual, fmt.Sprintf("run %d: %s by the clock", i+1, durationTo(r.WallNs, 5))
		if r.Rejected {
			mark, class = "cross", "faint"
		}
		if r.Why != nil {
			title += ", " + *r.Why
		}
		row.points = append(row.points, rowPoint{at: r.WallNs, mark: mark, class: class, title: title, rise: 4 + math.Abs(scattered(i))})
	}
	row.spans, row.points = spans, append(row.points, estimate...) // above the runs, which may be many
	return row
}

// estimateMark is an estimate with its interval, below the middle of a row.
func estimateMark(e stats.Estimate) ([]rowSpan, []rowPoint) {
	title := WithError(e)
	var spans []rowSpan
	if stats.Finite(e.Lo) != nil && stats.Finite(e.Hi) != nil {
		title = fmt.Sprintf("%s, 95 %% interval %s", known(e), span95(e))
		spans = []rowSpan{{e.Lo, e.Hi, "thick", title}}
	}
	return spans, []rowPoint{{at: e.Value, mark: "diamond", class: "s2", title: title}}
}

// pairSection shows how results compare: times over the time of the first.
func pairSection(all []record.Pair) section {
	var values []float64
	for _, p := range all {
		values = append(values, p.Ratio.Lo, p.Ratio.Hi, p.Ratio.Value)
	}
	same := 1.0
	chart := rowChart{label: "Ratios of times", title: "times as long" + logNote(logarithmic(nil, nil)), zero: &same, x: logarithmic(append(values, same), tickNumber)}
	table := tableOf(words("beside", "this"), figuresOf("takes times as long", "95 % interval", "p"), words("outcome"))
	for _, p := range all {
		row := chartRow{name: p.B + " beside " + p.A, figure: p.Outcome}
		text := "?"
		if v := stats.Finite(p.Ratio.Value); v != nil {
			text = fmt.Sprintf("%.4g", *v)
			row.figure += ", " + text + " times"
			row.points = []rowPoint{{at: *v, mark: "diamond", class: "s2", title: text}}
			row.spans = []rowSpan{{p.Ratio.Lo, p.Ratio.Hi, "thick", ratioBounds(p.Ratio)}}
		}
		chart.rows = append(chart.rows, row)
		probability := "?"
		if p.PValue != nil {
			probability = significant(*p.PValue, 2)
		}
		table.row(p.A, p.B, text, ratioBounds(p.Ratio), probability, p.Outcome)
	}
	s := section{
		Title: "How they compare", Table: table,
		Lead: "Below 1 is faster, above 1 slower; an interval that holds 1 leaves it open.",
	}
	if len(chart.rows) > 0 {
		s.Panels = []panel{{Chart: chart.chart()}}
	}
	return s
}

func ratioBounds(e stats.Estimate) string {
	if stats.Finite(e.Lo) == nil || stats.Finite(e.Hi) == nil {
		return "?"
	}
	return fmt.Sprintf("%.4g to %.4g", e.Lo, e.Hi)
}

// benchSheet shows how long Go benchmarks take.
func benchSheet(d record.Bench) *sheet {
	s := sheetOf("Benchmarks", d.Header)
	verdicts := map[stats.Verdict]int{}
	for _, b := range d.Results {
		verdicts[b.Verdict]++
	}
	s.Tiles = []tile{{
		Topic: "Go benchmarks", Figure: fmt.Sprintf("%d of %d trusted", verdicts[stats.Trusted], len(d.Results)),
		Sentence: fmt.Sprintf("Suspect: %d; unusable: %d. The reasons are in the data below.", verdicts[stats.Suspect], verdicts[stats.Unusable]),
	}}
	for _, b := range d.Results[:min(len(d.Results), mostTiles-1)] {
		s.Tiles = append(s.Tiles, tile{Topic: strings.TrimPrefix(b.Name, "Benchmark") + revisionMark(b), Figure: perOperation(b.Estimate), Verdict: b.Verdict,
			Sentence: fmt.Sprintf("For each operation, known to ± %s; go test says %s.%s", uncertainty(b.Estimate), perOperation(b.Wall), because(b.Reasons))})
	}
	s.add(benchSection(d.Results), pairSection(d.Pairs))
	return s
}

// benchSection shows how far the repetitions of each benchmark lie from its time.
func benchSection(all []record.Benchmark) section {
	values := []float64{-0.01, 0.01}
	chart := rowChart{label: "Repetitions of each benchmark, as shares of its time", title: "off the estimate"}
	table := tableOf(words("benchmark", "package"), figuresOf("time/op", "95 % interval", "±", "go test says", "CPU/op", "waited", "repetitions"), words("verdict", "reasons", "reports"))
	for _, b := range all {
		row := benchRow(b)
		chart.rows = append(chart.rows, row)
		for _, p := range row.points {
			values = append(values, p.at)
		}
		table.row(strings.TrimPrefix(b.Name, "Benchmark")+revisionMark(b), b.Package, perOperation(b.Estimate), span95(b.Estimate), uncertainty(b.Estimate), perOperation(b.Wall),
			perOperation(b.CPU), percent(b.WaitShare), fmt.Sprint(b.Estimate.N), b.Verdict, strings.Join(b.Reasons, "; "), otherMetrics(b))
	}
	zero := 0.0
	chart.x, chart.zero = linear(values, tickPercent), &zero
	return section{
		Title: "How long the benchmarks take",
		Lead: "A ring is one repetition, as far from the benchmark's time as it was; the thick line is the 95 % interval of the time. " +
			"What other processes took of the CPUs is taken off.",
		Legend: []legendKey{{Mark: "ring", Class: "s0", Text: "a repetition"}, {Line: true, Class: "thick", Text: "95 % interval"}},
		Panels: []panel{{Chart: chart.chart()}},
		Table:  table,
	}
}

func benchRow(b record.Benchmark) chartRow {
	row := chartRow{name: strings.TrimPrefix(b.Name, "Benchmark") + revisionMark(b), figure: perOperation(b.Estimate) + " ± " + uncertainty(b.Estimate)}
	if !(b.Estimate.Value > 0) {
		return row
	}
	off := func(v float64) float64 { return v/b.Estimate.Value - 1 }
	if stats.Finite(b.Estimate.Lo) != nil && stats.Finite(b.Estimate.Hi) != nil {
		row.spans = []rowSpan{{off(b.Estimate.Lo), off(b.Estimate.Hi), "thick", span95(b.Estimate)}}
	}
	for i, r := range b.Repetitions {
		row.points = append(row.points, rowPoint{at: off(r.TimeNs), mark: "ring", class: "s0", title: durationTo(r.TimeNs, 5), rise: scattered(i)})
	}
	return row
}
