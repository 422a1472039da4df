package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"chronoscope/record"
	"chronoscope/stats"
)

// Bench writes for people how long a module's benchmarks take.
func Bench(w io.Writer, d record.Bench, s Style) {
	machineLines(w, d.Header, s)
	benchmarkTable(w, d.Results, s)
	benchmarkReasons(w, d.Results, s)
	pairTable(w, d.Pairs)
	caveats(w, d.Header, s)
}

// benchmarkTable writes a line for each benchmark, the packages in turn.
func benchmarkTable(w io.Writer, all []record.Benchmark, s Style) {
	if len(all) == 0 {
		return
	}
	out := newTable(w, 2, 3, 4, 5, 6, 7)
	out.AppendHeader(table.Row{"benchmark", "time/op", "±", "go test says", "CPU/op", "waited", "repetitions", "verdict", ""})
	packageName := ""
	for _, b := range all {
		if b.Package != packageName {
			packageName = b.Package
			out.AppendRow(table.Row{s.bold(packageName)})
		}
		out.AppendRow(table.Row{
			"  " + strings.TrimPrefix(b.Name, "Benchmark") + revisionMark(b), perOperation(b.Estimate), uncertainty(b.Estimate),
			perOperation(b.Wall), perOperation(b.CPU), percent(b.WaitShare), b.Estimate.N, s.verdict(b.Verdict), otherMetrics(b),
		})
	}
	out.Render()
	fmt.Fprintln(w)
}

// newTable is an empty table with numbers in some columns.
func newTable(w io.Writer, numbers ...int) table.Writer {
	out := table.NewWriter()
	out.SetOutputMirror(w)
	out.SetStyle(plain)
	var columns []table.ColumnConfig
	for _, n := range numbers {
		columns = append(columns, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	out.SetColumnConfigs(columns)
	return out
}

func revisionMark(b record.Benchmark) string {
	if b.Revision == "" {
		return ""
	}
	return " at " + b.Revision
}

// perOperation writes a time with four digits: a benchmark is often known better than
// to one in a hundred.
func perOperation(e stats.Estimate) string {
	if stats.Finite(e.Value) == nil {
		return "?"
	}
	return durationTo(e.Value, 4)
}

// uncertainty is half the interval's width, where that can be a share of the time.
func uncertainty(e stats.Estimate) string {
	if !(e.Value > 0) {
		return "?"
	}
	return halfInterval(e)
}

func otherMetrics(b record.Benchmark) string {
	var all []string
	for _, m := range b.Metrics {
		all = append(all, significant(m.Value, 4)+" "+m.Unit)
	}
	return strings.Join(all, ", ")
}

// benchmarkReasons writes why results are not trusted, those with one reason together.
func benchmarkReasons(w io.Writer, all []record.Benchmark, s Style) {
	names := map[string][]string{}
	var order []string
	for _, b := range all {
		for _, reason := range b.Reasons {
			key := fmt.Sprintf("%s|%s", b.Verdict, reason)
			if names[key] == nil {
				order = append(order, key)
			}
			names[key] = append(names[key], strings.TrimPrefix(b.Name, "Benchmark")+revisionMark(b))
		}
	}
	for _, key := range order {
		verdict, reason, _ := strings.Cut(key, "|")
		fmt.Fprintf(w, "%s %s: %s\n", s.verdict(stats.Verdict(verdict)), strings.Join(names[key], ", "), reason)
	}
	if len(order) > 0 {
		fmt.Fprintln(w)
	}
}

// pairTable writes what changed between two revisions.
func pairTable(w io.Writer, all []record.Pair) {
	if len(all) == 0 {
		return
	}
	out := newTable(w, 3, 4, 5)
	out.AppendHeader(table.Row{"now", "beside", "time now/then", "95 % interval", "p", "outcome"})
	for _, p := range all {
		ratio, bounds, probability := "?", "?", "?"
		if stats.Finite(p.Ratio.Value) != nil {
			ratio, bounds = fmt.Sprintf("%.4f", p.Ratio.Value), fmt.Sprintf("%.4f to %.4f", p.Ratio.Lo, p.Ratio.Hi)
		}
		if p.PValue != nil {
			probability = fmt.Sprintf("%.4f", *p.PValue)
		}
		out.AppendRow(table.Row{p.B, p.A, ratio, bounds, probability, p.Outcome})
	}
	out.Render()
	fmt.Fprintln(w)
}

// BenchCSV writes one row a result; columns are named as the JSON fields.
func BenchCSV(w io.Writer, d record.Bench) error {
	out := csv.NewWriter(w)
	header := []string{"name", "package", "revision", "basis"}
	for _, e := range []string{"estimate", "wall", "cpu", "cycles"} {
		for _, field := range []string{"value", "lo", "hi", "confidence", "unit", "statistic", "n", "discarded"} {
			header = append(header, e+"."+field)
		}
	}
	header = append(header, "wait_share", "runnable_threads", "iterations", "gomaxprocs", "corrected", "rejected", "verdict", "reasons")
	out.Write(header)
	for _, b := range d.Results {
		row := []string{b.Name, b.Package, b.Revision, string(b.Basis)}
		for _, e := range []stats.Estimate{b.Estimate, b.Wall, b.CPU, b.Cycles} {
			row = append(row, number(stats.Finite(e.Value)), number(stats.Finite(e.Lo)), number(stats.Finite(e.Hi)), decimal(stats.Confidence),
				e.Unit, e.Statistic, strconv.Itoa(e.N), strconv.Itoa(e.Discarded))
		}
		row = append(row, number(b.WaitShare), number(b.Runnable), strconv.Itoa(b.Iterations), strconv.Itoa(b.Procs),
			strconv.Itoa(b.Corrected), strconv.Itoa(b.Rejected), string(b.Verdict), strings.Join(b.Reasons, "; "))
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}
