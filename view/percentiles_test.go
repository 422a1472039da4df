package view

import (
	"strings"
	"testing"

	"chronoscope/gobench"
	"chronoscope/machine"
	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
)

// A record with other percentiles than the table's once had rows of other lengths than the table's, on which writing panicked.
func TestRecordWithOtherPercentiles(t *testing.T) {
	p := func(name string) stats.Estimate {
		return stats.Estimate{Value: 5, Lo: 4, Hi: 6, Unit: "ns", Statistic: name, N: 9}
	}
	all := stats.Tails{Percentiles: []stats.Estimate{p("median"), p("p90"), p("p95"), p("p99"), p("p99.9"), p("p99.99")}}
	one := stats.Tails{Percentiles: []stats.Estimate{p("p99"), p("p42")}}
	for _, d := range []record.Document{
		record.Bench{Header: record.Header{Machine: &machine.Machine{}}, Results: []gobench.Report{{Summary: gobench.Summary{Calls: &gobench.Calls{All: all, OnCPU: one}}}}},
		record.Programs{Header: record.Header{Machine: &machine.Machine{}}, Results: []program.Report{{Summary: program.Summary{Percentiles: &program.Percentiles{Wall: one, Time: all}}}}},
	} {
		sheet, err := Of(d)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, section := range sheet.Sections {
			if section.Table == nil {
				continue
			}
			for _, row := range section.Table.Rows {
				if len(row) != len(section.Table.Columns) {
					t.Errorf("%s: %d cells in %d columns", section.Title, len(row), len(section.Table.Columns))
				}
				for i, column := range section.Table.Columns[:min(len(row), len(section.Table.Columns))] {
					found = found || column.Name == "p99" && strings.HasPrefix(row[i].Text, "5")
				}
			}
		}
		if !found {
			t.Errorf("%T: no p99 in its column", d)
		}
	}
}
