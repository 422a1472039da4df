package view

import (
	"math"
	"slices"
	"strings"
	"testing"

	"chronoscope/gobench"
	"chronoscope/program"
	"chronoscope/record"
	"chronoscope/stats"
)

// The ratio of one run to another was once shown with the interval "1.244 to 1.244".
func TestRatioOfSingleRuns(t *testing.T) {
	for _, c := range []struct {
		lo, hi        float64
		value, bounds string
	}{
		{1.244, 1.244, "1.244", "?"}, {1.2, 1.3, "1.244", "1.200 to 1.300"}, {math.NaN(), 1.3, "1.244", "?"},
	} {
		if value, bounds := ratio(stats.Estimate{Value: 1.244, Lo: c.lo, Hi: c.hi}); value != c.value || bounds != c.bounds {
			t.Errorf("%v to %v: %q, %q", c.lo, c.hi, value, bounds)
		}
	}
}

// If the outcome is undecided, the sentence says so before it gives figures. The earlier
// "undecided: 330 times as long (322 to 337)" contradicted itself.
func TestUndecidedPairSaysSoFirst(t *testing.T) {
	p := stats.Pair{A: "a", B: "b", Ratio: stats.Estimate{Value: 330, Lo: 322, Hi: 337}, Outcome: "undecided"}
	line := pairSentences([]stats.Pair{p})[0]
	want := "too little is known to say which is faster; as measured, b takes 330.0 times as long as a (95 % interval 322.0 to 337.0)"
	if line.Strong != "undecided:" || line.Text != want {
		t.Errorf("%q %q", line.Strong, line.Text)
	}
}

// A p-value of 1.8e-20 was once shown as 0.000000000000000000018.
func TestProbabilities(t *testing.T) {
	for p, want := range map[float64]string{1.8e-20: "< 0.0001", 0: "< 0.0001", 0.0001: "0.00010", 0.0217: "0.022", 1: "1.0", math.NaN(): "?"} {
		if got := probability(p); got != want {
			t.Errorf("%v: %q, want %q", p, got, want)
		}
	}
	line := pairSentences([]stats.Pair{{A: "a", B: "b", Ratio: stats.Estimate{Value: 2, Lo: 1.5, Hi: 3}, PValue: stats.FloatOf(1e-9), Outcome: "slower"}})[0]
	if want := "b takes 2.000 times as long as a (95 % interval 1.500 to 3.000, p < 0.0001)"; line.Text != want {
		t.Errorf("%q, want %q", line.Text, want)
	}
}

// A sentence that several commands share but for its figures is written once. An earlier version
// repeated it for each command.
func TestOneSentenceForSeveralCommands(t *testing.T) {
	texts := []string{"it waited 42 % (1e-05) in 8 of 10 runs", "it waited 5.5 % (1e-05) in 10 of 10 runs", "it waited 42 ms", "it waited 43 ms", "nothing"}
	want := []string{"it waited 5.5–42 % (1e-05) in 8–10 of 10 runs", "it waited 5.5–42 % (1e-05) in 8–10 of 10 runs", "it waited 42–43 ms", "it waited 42–43 ms", "nothing"}
	said := ranged(texts)
	for i, text := range texts {
		if said[text] != want[i] {
			t.Errorf("%q: %q, want %q", text, said[text], want[i])
		}
	}
	// Durations are figures, too, and of a flag's value the largest can be copied.
	advice := ranged([]string{"an iteration takes 1m2.5s: give more --max-time 40s", "an iteration takes 900ms: give more --max-time 4m30s", "3 of 4: --cpu 1 --max-time 50s", "3 of 5: --cpu 1 --max-time 9s"})
	for text, want := range map[string]string{
		"an iteration takes 1m2.5s: give more --max-time 40s":  "an iteration takes 900ms–1m2.5s: give more --max-time 4m30s",
		"an iteration takes 900ms: give more --max-time 4m30s": "an iteration takes 900ms–1m2.5s: give more --max-time 4m30s",
		"3 of 5: --cpu 1 --max-time 9s":                        "3 of 4–5: --cpu 1 --max-time 50s",
	} {
		if advice[text] != want {
			t.Errorf("%q: %q, want %q", text, advice[text], want)
		}
	}
	var all []program.Report
	for i, share := range []string{"94", "95"} {
		p := program.Report{Command: []string{"a", "b"}[i]}
		p.Verdict, p.Reasons = stats.Suspect, []string{"other programs used other CPUs for " + share + " % of its time"}
		all = append(all, p)
	}
	if lines := programNotes(all, stats.TimeUnit{})[1].Lines; len(lines) != 1 || lines[0].Text != "other programs used other CPUs for 94–95 % of its time" {
		t.Errorf("%+v", lines)
	}
}

// What benchmarks that failed printed is not folded, and reasons of one verdict do not go into those of another.
func TestReasonsOfBenchmarks(t *testing.T) {
	report := func(name string, verdict stats.Verdict, failed bool, reason string) gobench.Report {
		b := gobench.Report{}
		b.Name, b.Verdict, b.Failed, b.Reasons = name, verdict, failed, []string{reason}
		return b
	}
	d := record.Bench{Results: []gobench.Report{
		report("BenchmarkA", stats.Suspect, false, "± 6 %"), report("BenchmarkB", stats.Suspect, false, "± 8 %"), report("BenchmarkC", stats.Unusable, false, "± 40 %"),
		report("BenchmarkD", stats.Unusable, true, "it failed; it printed: a_test.go:12: got 3"), report("BenchmarkE", stats.Unusable, true, "it failed; it printed: a_test.go:40: got 5"),
	}}
	var said []string
	for _, section := range bench(d).Sections {
		for _, line := range section.Lines {
			said = append(said, strings.TrimSpace(line.Strong+" "+line.Text))
		}
	}
	want := []string{"A, B: ± 6–8 %", "C: ± 40 %", "D: it failed; it printed: a_test.go:12: got 3", "E: it failed; it printed: a_test.go:40: got 5"}
	if !slices.Equal(said, want) {
		t.Errorf("%q", said)
	}
}

// What has no ratio because of zeros is named, and is beyond its limit all the same. It was twice as many.
func TestZerosWithoutARatio(t *testing.T) {
	p := stats.Pair{A: "a", B: "b", Metric: "n", Ratio: stats.NoEstimate("ratio", "median"), Outcome: stats.Slower, Zeros: 24, Joint: &stats.PairJoint{Side: stats.Beyond}}
	p.Ratio.N = 24
	line := pairSentences([]stats.Pair{p})[0]
	if line.Strong != "worse, beyond the limit:" || line.Text != "n of b beside a: too many values are 0 for a ratio" {
		t.Errorf("%+v", line)
	}
	equal := stats.Pair{A: "a", B: "b", Metric: "n", Ratio: stats.Estimate{Value: 1, Lo: 1, Hi: 1}, PValue: stats.FloatOf(1), Zeros: 24}
	if notes := zeroNotes([]stats.Pair{p, equal, {A: "a", B: "b"}}); len(notes) != 1 || !strings.Contains(notes[0].Text, "a value is 0 in 24 of 24 pairs") {
		t.Errorf("%+v", notes)
	}
	equal.PValue = stats.FloatOf(0.75) // the interval is that of ties
	if notes := zeroNotes([]stats.Pair{equal}); len(notes) != 1 {
		t.Errorf("where not all pairs are equal: %+v", notes)
	}
}

// A metric that can't be compared is named, with the reason. It read as if the times could not be compared.
func TestMetricWithoutARatioIsNamed(t *testing.T) {
	p := stats.Pair{A: "a", B: "b", Metric: "n", Ratio: stats.NoEstimate("ratio", "median"), Outcome: stats.Undecided, Why: "values below 0 have no ratio"}
	if line := pairSentences([]stats.Pair{p})[0]; line.Text != "n of b can't be set beside a: values below 0 have no ratio" {
		t.Errorf("%+v", line)
	}
}
