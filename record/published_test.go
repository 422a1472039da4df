package record

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// printedRows returns the rows of Tables 1 and 2, from testdata.
func printedRows(t *testing.T) [][]string {
	t.Helper()
	var rows [][]string
	for _, file := range []string{"../testdata/papers/kuperberg2011a-table1.csv", "../testdata/papers/kuperberg2011a-table2.csv"} {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := csv.NewReader(f)
		r.Comment = '#'
		lines, err := r.ReadAll()
		if err != nil || len(lines) != 17 {
			t.Fatalf("%s: %d lines, %v", file, len(lines), err)
		}
		rows = append(rows, lines[1:]...)
	}
	return rows
}

func parsed(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// The built-in figures are equal to those of the paper's tables.
func TestPublishedTablesAreThePapers(t *testing.T) {
	for n, line := range printedRows(t) {
		inNs := func(column int) float64 {
			switch line[column+1] {
			case "ms":
				return parsed(t, line[column]) * 1e6
			case "ticks":
				return parsed(t, line[column]) * parsed(t, line[7])
			}
			return parsed(t, line[column])
		}
		m, timer := PublishedMachines[n/8], PublishedTimers[n%8]
		want := PublishedRow{AccuracyNs: inNs(3), CostNs: inNs(5), Spread: parsed(t, line[8]), Quality: parsed(t, line[9])}
		if gives, slip := strings.CutPrefix(line[10], "inputs give "); slip {
			want.Implied = parsed(t, gives)
		}
		if got := m.Rows[n%8]; m.Name != line[0] || m.Table != 1+n/16 || m.coreGHz != parsed(t, line[1]) || timer.Short != line[2] || got != want {
			t.Errorf("%s %s: %+v, want %v: %+v", m.Name, timer.Short, got, line, want)
		}
	}
}

// Formula (1), applied to the documents' figures, gives 30 of the 32 printed qualities to within
// 0.02 percentage points, and the implied value for the other two.
func TestPublishedQualitiesFollow(t *testing.T) {
	slips := 0
	for _, m := range PublishedMachines {
		d, ok := Published(m.Name)
		if !ok {
			t.Fatalf("%s is not known", m.Name)
		}
		for _, c := range d.Clocks {
			i := slices.IndexFunc(PublishedTimers, func(t PublishedTimer) bool { return t.Short == c.API })
			want := m.Rows[i].Quality
			if m.Rows[i].Implied != 0 {
				slips++
				want = m.Rows[i].Implied
			}
			got := 100 * math.Pow(c.Cycles.Accuracy.Value()*c.Cycles.Cost.Value(), -0.1) * math.Sqrt(c.Spread.Value())
			if !(math.Abs(got-want) <= 0.02) {
				t.Errorf("%s %s: %.3f %%, want %.2f", m.Name, c.API, got, want)
			}
			if (len(c.Reasons) > 0) != (m.Rows[i].Implied != 0) {
				t.Errorf("%s %s: %q", m.Name, c.API, c.Reasons)
			}
		}
	}
	if slips != 2 {
		t.Errorf("%d slips, want 2", slips)
	}
}

// The best clocks can be read off Tables 1 and 2: for intervals, among the clocks that nobody sets;
// for CPU time, among those of a thread; for timestamps, among the others.
func TestPublishedBest(t *testing.T) {
	for name, want := range map[string][3]string{
		"MBP53": {"java/Perf.highResCounter", "java/ThreadMXBean.getCurrentThreadUserTime", "dotnet/DateTime.Now"},
		"MBP62": {"java/Perf.highResCounter", "java/ThreadMXBean.getCurrentThreadUserTime", "dotnet/DateTime.Now"},
		"SAMSa": {"dotnet/Stopwatch", "java/ThreadMXBean.getCurrentThreadUserTime", "dotnet/DateTime.Now"},
		"SAMSb": {"dotnet/Stopwatch", "java/ThreadMXBean.getCurrentThreadUserTime", "java/System.currentTimeMillis"},
	} {
		d, _ := Published(name)
		if got := [3]string{*d.Best.Wall, *d.Best.CPU, *d.Best.Timestamp}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// The published machines can be kept and read like other records.
func TestPublishedMachinesCanBeKept(t *testing.T) {
	for _, m := range PublishedMachines {
		d, _ := Published(m.Name)
		if _, err := Encode(d); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
	if _, ok := Published("MBP63"); ok {
		t.Error("MBP63 was published")
	}
}
