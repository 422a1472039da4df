package cli

import (
	"testing"

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
	figures, _ := fleetFigures([]record.Document{timers(1), timers(4), timers(1)})
	if len(figures) != 2 || len(figures[0].Values) != 2 || len(figures[1].Values) != 1 || figures[1].Name != figures[0].Name+" (waiting where 4 threads want the CPUs)" {
		t.Errorf("%+v", figures)
	}
}
