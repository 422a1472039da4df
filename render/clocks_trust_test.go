package render

import (
	"strings"
	"testing"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// The first line gives the verdict on the recommended clocks, which is the worst of their verdicts.
func TestTrustInClocks(t *testing.T) {
	a, b := "monotonic", "thread-cputime"
	for _, c := range []struct {
		best    timermeter.Best
		ofA     stats.Verdict
		ofB     stats.Verdict
		answers string
	}{
		{timermeter.Best{Wall: &a, CPU: &b}, stats.Trusted, stats.Trusted, "yes, those to use are trusted (2 of 3 clocks)"},
		{timermeter.Best{Wall: &a}, stats.Trusted, stats.Suspect, "yes, those to use are trusted (1 of 3 clocks)"},
		{timermeter.Best{Wall: &a, CPU: &b}, stats.Trusted, stats.Suspect, "with care, thread-cputime is suspect for the reason below (1 of 3 clocks)"},
		{timermeter.Best{Wall: &a, CPU: &b}, stats.Unusable, stats.Suspect, "with care, monotonic is unusable for the reason below (0 of 3 clocks)"},
		{timermeter.Best{}, stats.Unusable, stats.Unusable, "no, none of those measured is fit to use (0 of 3 clocks)"},
	} {
		r := timermeter.Ranking{Best: c.best, Clocks: []timermeter.Rating{{Name: a, Judgement: stats.Judgement{Verdict: c.ofA}}, {Name: b, Judgement: stats.Judgement{Verdict: c.ofB}}, {Name: "time", Judgement: stats.Judgement{Verdict: stats.Suspect}}}}
		var text strings.Builder
		showText(&text, record.Clocks{Header: record.Header{Machine: &machine.Machine{}}, Ranking: r}, Style{})
		if !strings.Contains(text.String(), "\nCan I trust them? "+c.answers) {
			t.Errorf("no %q in\n%s", c.answers, text.String())
		}
	}
}
