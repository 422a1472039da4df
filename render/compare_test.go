package render

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chronoscope/activity"
	"chronoscope/compare"
	"chronoscope/machine"
	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
)

// papers returns a comparison of machines of the paper.
func papers(t testing.TB, names ...string) record.Comparison {
	t.Helper()
	var subjects []compare.Subject
	for _, name := range names {
		d, ok := record.Published(name)
		if !ok {
			t.Fatalf("%s is not known", name)
		}
		subjects = append(subjects, compare.Subject{Name: name, Document: d})
	}
	return compareAll(t, subjects)
}

func compareAll(t testing.TB, subjects []compare.Subject) record.Comparison {
	t.Helper()
	d, err := compare.Subjects(record.Header{Schema: record.Schema, Command: "compare", Started: someDay, Machine: &machine.Machine{}, Caveats: []string{}}, subjects)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func comparisonText(d record.Comparison) string {
	var b strings.Builder
	showText(&b, d, Style{})
	return b.String()
}

// printedTimers returns the rows of a table in testdata: for each machine, the timers with their
// printed qualities, the best first.
func printedTimers(t *testing.T, file string) map[string][][2]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	timers := map[string][][2]string{}
	for _, l := range lines[1:] {
		quality := l[9] + " %"
		if l[10] != "" {
			quality += " *"
		}
		timers[l[0]] = append(timers[l[0]], [2]string{l[2], quality})
	}
	return timers
}

// Tables 1 and 2 are reproduced: each timer of both machines has its printed quality, in the order
// of the first machine, and the two misprints are marked and explained.
func TestComparisonReprintsTheTables(t *testing.T) {
	for _, table := range []struct {
		file     string
		machines []string
	}{
		{"../testdata/papers/kuperberg2011a-table1.csv", []string{"MBP53", "MBP62"}},
		{"../testdata/papers/kuperberg2011a-table2.csv", []string{"SAMSa", "SAMSb"}},
	} {
		timers := printedTimers(t, table.file)
		text := comparisonText(papers(t, table.machines...))
		var places []int
		for i, timer := range byPrintedQuality(timers[table.machines[0]]) {
			line := lineWith(t, text, "("+timer[0]+")")
			places = append(places, strings.Index(text, line))
			for _, m := range table.machines {
				for _, other := range timers[m] {
					if other[0] == timer[0] && !strings.Contains(line, " "+other[1]) {
						t.Errorf("%s of %s: %s is not in %q", timer[0], m, other[1], line)
					}
				}
			}
			if i > 0 && places[i] < places[i-1] {
				t.Errorf("%s stands before better ones", timer[0])
			}
		}
	}
	text := comparisonText(papers(t, "MBP53", "MBP62"))
	for _, want := range []string{"does not follow", "43.41 %", "46.26 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	if strings.Contains(comparisonText(papers(t, "SAMSa", "SAMSb")), "*") {
		t.Error("something of Table 2 is marked")
	}
}

func byPrintedQuality(timers [][2]string) [][2]string {
	sorted := slices.Clone(timers)
	slices.SortStableFunc(sorted, func(a, b [2]string) int {
		x, _ := strconv.ParseFloat(strings.Fields(a[1])[0], 64)
		y, _ := strconv.ParseFloat(strings.Fields(b[1])[0], 64)
		return int(1000 * (y - x))
	})
	return sorted
}

// lineWith returns the first line that contains a text.
func lineWith(t *testing.T, text, part string) string {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	t.Fatalf("%s is nowhere in\n%s", part, text)
	return ""
}

// A comparison of all four machines has both tables, and a line of four qualities for each timer.
func TestComparisonOfFour(t *testing.T) {
	text := comparisonText(papers(t, "MBP53", "MBP62", "SAMSa", "SAMSb"))
	for _, want := range []string{"MBP53", "SAMSb", "25.82 % (2)", "24.00 % (3)", "x"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "(NANO)"); n != 3 {
		t.Errorf("NANO has %d lines, want 3", n)
	}
}

// No name in a record can control the terminal, or break the table.
func TestComparisonOfHostileNames(t *testing.T) {
	evil := "a\x1b[2Jb\nc\x07"
	p := record.Programs{Header: record.Header{Command: "run", Started: someDay, Machine: &machine.Machine{CPU: machine.Text(evil)}, Caveats: []string{}}}
	p.Results = []program.Report{{Command: evil, Summary: program.Summary{Estimate: stats.Estimate{Value: 1, Lo: 1, Hi: 1, Unit: "ns", N: 1}}, Judgement: stats.Judgement{Verdict: stats.Suspect, Reasons: []string{evil}}}}
	text := comparisonText(compareAll(t, []compare.Subject{{Name: evil, Document: p}, {Name: "b", Document: p}}))
	if i := strings.IndexAny(text, "\x1b\x07"); i >= 0 {
		t.Errorf("%q", text[max(0, i-20):min(len(text), i+20)])
	}
}

func TestComparisonCSV(t *testing.T) {
	var b bytes.Buffer
	if err := CSV(&b, papers(t, "SAMSa", "SAMSb")); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(name string) int { return slices.Index(lines[0], name) }
	found := false
	for _, l := range lines[1:] {
		if l[column("name")] == "java/System.nanoTime" && l[column("quantity")] == "accuracy" && l[column("subject")] == "SAMSb" {
			found = true
			ratio, err := strconv.ParseFloat(l[column("ratio.value")], 64)
			if err != nil || l[column("estimate.value")] != "279" || fmt.Sprintf("%.6f", ratio) != fmt.Sprintf("%.6f", 279.0/69) {
				t.Errorf("%q", l)
			}
		}
	}
	if !found {
		t.Errorf("the accuracy of NANO on SAMSb is missing in %d lines", len(lines))
	}
}

// BenchmarkComparison compares a hundred records, each with programs of fifty runs, and writes the
// text.
func BenchmarkComparison(b *testing.B) {
	var subjects []compare.Subject
	for i := range 100 {
		d := record.Programs{Header: record.Header{Command: "run", Started: someDay, Machine: &machine.Machine{}, Caveats: []string{}}}
		for p := range 4 {
			one := program.Report{Command: fmt.Sprint(p), Summary: program.Summary{Estimate: stats.Estimate{Value: 1e6, Lo: 0.99e6, Hi: 1.01e6, Unit: "ns", N: 50}}, Judgement: stats.Judgement{Verdict: stats.Trusted}}
			for run := range 50 {
				ns := 1e6 + float64((run*7919+i*31+p)%1000)
				one.Runs = append(one.Runs, program.RunReport{WallNs: ns, LowNs: stats.FloatOf(ns), HighNs: stats.FloatOf(ns)})
			}
			d.Results = append(d.Results, one)
		}
		subjects = append(subjects, compare.Subject{Name: fmt.Sprint(i), Document: d})
	}
	for b.Loop() {
		comparisonText(compareAll(b, subjects))
	}
}

// Figures that only one of the subjects has are named, and are in no table.
func TestComparisonLeavesOutWhatOneAloneHas(t *testing.T) {
	paper, _ := record.Published("SAMSa")
	traces := []activity.Analysis{{DurationNs: 1e9, ActiveRatio: stats.FloatOf(0.9)}}
	card := record.Card{Header: paper.Header, Ranking: paper.Ranking, Traces: traces}
	text := comparisonText(compareAll(t, []compare.Subject{{Name: "a", Document: card}, {Name: "b", Document: record.Activity{Header: paper.Header, Traces: traces}}}))
	if !strings.Contains(text, "left out here: best clock, clock.") || strings.Contains(text, "(NANO)") || !strings.Contains(text, "time lost") {
		t.Error(text)
	}
}
