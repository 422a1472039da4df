package view

import (
	"testing"

	"chronoscope/bytecode"
	"chronoscope/lateness"
	"chronoscope/record"
	"chronoscope/stats"
)

// Figures that were measured under other conditions were once compared as if they were of the same work.
func TestFiguresNameUnusualWork(t *testing.T) {
	e := stats.Estimate{Value: 5, Lo: 4, Hi: 6, Unit: "ns", N: 9}
	timers := func(load int) record.Lateness {
		p99 := e
		p99.Statistic = "p99"
		return record.Lateness{Load: load, Report: lateness.Report{Timers: []lateness.Result{{Name: "sleep", Percentiles: stats.Tails{Percentiles: []stats.Estimate{p99}}}}}}
	}
	instructions := func(r bytecode.Report, load int) record.Bytecode {
		r.Instructions = []bytecode.InstructionReport{{Mnemonic: "iadd", Form: bytecode.Homogeneous, Time: e}}
		return record.Bytecode{Report: r, Load: load}
	}
	usual := bytecode.Report{Mode: bytecode.Interpreter, Method: bytecode.Counter, Length: bytecode.DefaultLength}
	compiled := bytecode.Report{Mode: bytecode.C2, Method: bytecode.TSC, Length: 500}
	for _, c := range []struct {
		of   record.Document
		want string
	}{
		{timers(1), ""}, {timers(4), "waiting where 4 threads want the CPUs"},
		{instructions(usual, 0), ""}, {instructions(usual, 1), "1 competitor"},
		{instructions(bytecode.Report{}, 0), ""}, // of an old record
		{instructions(compiled, 2), "sequences of 500, compiled by c2, timed by tsc, 2 competitors"},
	} {
		figures := FiguresOf(c.of)
		if len(figures) != 1 || figures[0].Work != c.want {
			t.Errorf("%+v, want one of work %q", figures, c.want)
		}
	}
}
