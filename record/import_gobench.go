package record

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"

	"golang.org/x/perf/benchfmt"

	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/stats"
)

// mostBroken limits the broken lines and values that have a caveat each.
const mostBroken = 4

// importGoBench reads lines of the Go benchmark format (golang.org/design/14313-benchmark-format),
// in which ns/op is wall time. It ignores other lines; a broken benchmark line, and a value that can't be one, leads to a
// caveat.
func importGoBench(data []byte, written time.Time) (Document, error) {
	if err := tooLarge(data); err != nil {
		return nil, fmt.Errorf("reading Go benchmark lines: %w", err)
	}
	m := &machine.Machine{}
	h := importedHeader("bench", written, m, "Go benchmark lines, by another tool")
	var found importedBenchmarks
	var broken []string
	measuredBy := map[[3]string]bool{}
	lines := benchfmt.NewReader(bytes.NewReader(data), "line")
	for lines.Scan() {
		switch r := lines.Result().(type) {
		case *benchfmt.SyntaxError:
			broken = append(broken, r.Error())
		case *benchfmt.Result:
			broken = append(broken, found.add(r)...)
			by := [3]string{r.GetConfig("cpu"), r.GetConfig("goos"), r.GetConfig("goarch")}
			if measuredBy[by] = true; len(measuredBy) == 1 {
				m.CPU, m.OS, m.Arch = machine.Text(by[0]), machine.Text(by[1]), machine.Text(by[2])
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading Go benchmark lines: %w", err)
	}
	for _, what := range broken[:min(len(broken), mostBroken)] {
		h.Caveats = append(h.Caveats, passedOver+what)
	}
	if len(broken) > mostBroken {
		h.Caveats = append(h.Caveats, fmt.Sprintf(passedOver+"%d more broken lines", len(broken)-mostBroken))
	}
	if len(measuredBy) > 1 {
		h.Caveats = append(h.Caveats, fmt.Sprintf("its lines come from %d kinds of machine; the first one is named", len(measuredBy)))
	}
	switch {
	case len(found.order) == 0 && len(broken) > 0:
		return nil, fmt.Errorf("reading Go benchmark lines: all were passed over: %s", broken[0])
	case len(found.order) == 0:
		return nil, fmt.Errorf("it is no record, no JSON of hyperfine, and holds no Go benchmark lines: give what chronoscope wrote as JSON, hyperfine with --export-json, or go test -bench")
	}
	return Bench{Header: h, Results: found.results(), Pairs: []stats.Pair{}}, nil
}

// importedBenchmarks holds the lines of each benchmark, in the order of their first lines.
type importedBenchmarks struct {
	order []*importedBenchmark
	place map[string]*importedBenchmark
}

type importedBenchmark struct {
	gobench.Report
	timesNs []float64
	metrics map[string][]float64
	units   []string // of the metrics, in order
}

// add adds one line. It returns what it passed over, since it is no measurement: a time of 0 or less, a value below 0, or
// one beyond all numbers.
func (all *importedBenchmarks) add(r *benchfmt.Result) (broken []string) {
	for _, v := range r.Values {
		value, unit := v.Value, v.Unit
		if v.OrigUnit != "" { // as in the file: ns/op, not sec/op
			value, unit = v.OrigValue, v.OrigUnit
		}
		total := value * float64(r.Iters)
		if !(value >= 0) || value == 0 && unit == timeUnit || math.IsNaN(total) || math.IsInf(total, 0) {
			_, line := r.Pos()
			broken = append(broken, fmt.Sprintf("line %d: %.200s: %g %s is no measurement", line, r.Name, value, unit))
			continue
		}
		all.benchmarkOf(r).take(r.Iters, value, unit)
	}
	return broken
}

// benchmarkOf returns the benchmark of a line.
func (all *importedBenchmarks) benchmarkOf(r *benchfmt.Result) *importedBenchmark {
	where := r.GetConfig("pkg") + "\x00" + r.GetConfig("revision") + "\x00" + r.Name.String()
	if all.place[where] == nil {
		if all.place == nil {
			all.place = map[string]*importedBenchmark{}
		}
		all.place[where] = newImportedBenchmark(r)
		all.order = append(all.order, all.place[where])
	}
	return all.place[where]
}

// newImportedBenchmark splits a name: BenchmarkEncode/size=1-8 ran with 8 processors.
func newImportedBenchmark(r *benchfmt.Result) *importedBenchmark {
	name, procs := r.Name.String(), 1
	if _, parts := r.Name.Parts(); len(parts) > 0 {
		if last := parts[len(parts)-1]; last[0] == '-' {
			if n, err := strconv.Atoi(string(last[1:])); err == nil {
				name, procs = name[:len(name)-len(last)], n
			}
		}
	}
	return &importedBenchmark{
		Report: gobench.Report{
			Benchmark: gobench.Benchmark{Name: "Benchmark" + name, Package: r.GetConfig("pkg"), Revision: importedRevision(r.GetConfig("revision"))},
			Summary: gobench.Summary{
				Procs: procs, Estimate: notMeasured(), CPU: notMeasured(), Cycles: notMeasured(), Wall: notMeasured(), Metrics: []gobench.Metric{},
			},
			Repetitions: []gobench.RepetitionReport{}, Runs: []gobench.RunReport{},
		},
		metrics: map[string][]float64{},
	}
}

// WorkingTree stands for the working tree in other tools' formats that have revisions.
const WorkingTree = "working-tree"

// importedRevision returns the revision that a key of the file names; empty for the working tree.
func importedRevision(key string) string {
	if key == WorkingTree {
		return ""
	}
	return key
}

// timeUnit is the unit of the time of one iteration.
const timeUnit = "ns/op"

// take adds one value of a line.
func (b *importedBenchmark) take(iterations int, value float64, unit string) {
	if unit == timeUnit {
		b.timesNs = append(b.timesNs, value)
		b.Iterations = max(b.Iterations, iterations)
		b.Runs = append(b.Runs, gobench.RunReport{Iterations: iterations, TimedNs: value * float64(iterations)})
		return
	}
	if b.metrics[unit] == nil {
		b.units = append(b.units, unit)
	}
	b.metrics[unit] = append(b.metrics[unit], value)
}

// results returns the reports of all benchmarks.
func (all *importedBenchmarks) results() []gobench.Report {
	results := []gobench.Report{}
	for _, b := range all.order {
		var judgement stats.Judgement
		b.Wall, judgement = wallMedian(b.timesNs)
		b.Judgement = judgement
		for _, unit := range b.units {
			b.Metrics = append(b.Metrics, gobench.Metric{Unit: unit, Value: stats.Median(b.metrics[unit])})
		}
		results = append(results, b.Report)
	}
	return results
}
