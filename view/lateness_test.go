package view

import (
	"math"
	"strings"
	"testing"

	"chronoscope/lateness"
	"chronoscope/record"
	"chronoscope/stats"
)

// If there are too few wake-ups for a p99, the tile does not mention one. It once said "and one
// time in a hundred ?".
func TestTileOfTimerWithoutP99(t *testing.T) {
	for p99Ns, want := range map[float64]string{
		math.NaN(): "time.Sleep, asked for 1.00 ms, is typically that late, and 3.00 ms at worst.",
		2e6:        "time.Sleep, asked for 1.00 ms, is typically that late, and one time in a hundred 2.00 ms.",
	} {
		r := lateness.Result{Name: "time.Sleep", RequestedNs: 1e6, Quality: stats.FloatOf(0.9), Percentiles: stats.TailsOf(nil), Judgement: stats.NewJudgement()}
		r.Late.MedianNs, r.Late.P99Ns, r.Late.MaxNs = stats.FloatOf(8e4), stats.FloatOf(p99Ns), stats.FloatOf(3e6)
		s := latenesses(record.Lateness{Report: lateness.Report{Timers: []lateness.Result{r}}})
		if got := s.Tiles[0].Sentence; strings.TrimSpace(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := s.Tiles[0].Topic; got != "The best quality" || !strings.Contains(s.Sections[0].Lead, "The quality is") { // not the shortest lateness
			t.Errorf("%q, explained by %q", got, s.Sections[0].Lead)
		}
	}
}

// The legend names the marks that the chart has. It explained triangles where no timer had a p99.
func TestLegendOfTimers(t *testing.T) {
	for p99Ns, want := range map[float64]int{math.NaN(): 2, 2e6: 3} {
		r := lateness.Result{Name: "time.Sleep", RequestedNs: 1e6, Percentiles: stats.TailsOf(nil), Judgement: stats.NewJudgement()}
		r.Late.MinNs, r.Late.MedianNs, r.Late.P99Ns, r.Late.MaxNs = stats.FloatOf(5e4), stats.FloatOf(8e4), stats.FloatOf(p99Ns), stats.FloatOf(3e6)
		s := timerLateness(record.Lateness{Report: lateness.Report{Timers: []lateness.Result{r}}})
		if len(s.Legend) != want || len(s.Charts[0].Rows[0].Points) != want-1 {
			t.Errorf("p99 %v: %d keys of %d marks, want %d", p99Ns, len(s.Legend), len(s.Charts[0].Rows[0].Points), want)
		}
	}
}
