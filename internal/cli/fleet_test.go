package cli

import (
	"fmt"
	"testing"

	"chronoscope/gobench"
	"chronoscope/lateness"
	"chronoscope/record"
	"chronoscope/stats"
)

// Machines that were measured under other loads are not ranked as if these were the same.
func TestFleetTellsWorkApart(t *testing.T) {
	timers := func(load int) record.Document {
		p99 := stats.Estimate{Value: 5, Lo: 4, Hi: 6, Unit: "ns", N: 9, Statistic: "p99"}
		return record.Lateness{Load: load, Report: lateness.Report{Timers: []lateness.Result{{Name: "sleep", Percentiles: stats.Tails{Percentiles: []stats.Estimate{p99}}}}}}
	}
	figures, _, _ := fleetFigures([]record.Document{timers(1), timers(4), timers(1)})
	if len(figures) != 2 || len(figures[0].Values) != 2 || len(figures[1].Values) != 1 || figures[1].Name != figures[0].Name+" (waiting where 4 threads want the CPUs)" {
		t.Errorf("%+v", figures)
	}
}

// A figure that is 0 on some machines has no ratio there, and is not judged. It once was left out without a word. One that
// is 0 everywhere is the same everywhere.
func TestFleetNamesZeros(t *testing.T) {
	const everywhere = 0
	report := func(allocs float64) record.Document {
		var d record.Bench
		for name, value := range map[string]float64{"A": allocs, "B": everywhere} {
			r := gobench.Report{Benchmark: gobench.Benchmark{Name: "Benchmark" + name}, Judgement: stats.NewJudgement()}
			r.Metrics = []gobench.Metric{{Unit: "allocs/op", Value: value}}
			d.Results = append(d.Results, r)
		}
		return d
	}
	for _, c := range []struct {
		usual, odd float64
		want       string
	}{
		{0, 50, "allocs/op of A is above 0 on 1 of 7 machines: n3"},
		{5, 0, "allocs/op of A is 0 or less, and not judged, on 1 of 7 machines: n3"},
		{5, 6, ""},
	} {
		var documents []record.Document
		var nodes []record.FleetNode
		for n := range 7 {
			value := c.usual
			if n == 3 {
				value = c.odd
			}
			documents, nodes = append(documents, report(value)), append(nodes, record.FleetNode{Name: fmt.Sprint("n", n)})
		}
		figures, _, zeros := fleetFigures(documents)
		if len(figures) != 1 || len(zeros) != 1 {
			t.Errorf("%v, %v: %+v, zeros %v", c.usual, c.odd, figures, zeros)
			continue
		}
		said := ""
		if len(zeros[0]) > 0 {
			said = zerosInWords(nodes, figures[0], zeros[0])
		}
		if said != c.want {
			t.Errorf("%v, %v: %q, want %q", c.usual, c.odd, said, c.want)
		}
	}
}
