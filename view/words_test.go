package view

import (
	"math"
	"testing"

	"chronoscope/program"
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
