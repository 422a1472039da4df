package program

import (
	"math"
	"testing"

	"chronoscope/stats"
)

// A program of 1.75 ms that uses 4.7 MB takes 2.1 ms where it begins 12 ms after the run before it, since loops had its CPU
// until then. That was trusted as its time alone, since nothing disturbed the runs themselves. A wait between all runs,
// such as that of a command that prepares them, is there alone, too.
func TestProgramsThatBeginLate(t *testing.T) {
	const warmMs, coldMs, bytes = 1.75, 2.1, 4.7e6
	for _, c := range []struct {
		name       string
		gapsMs     [2]float64 // of every eighth run and of the others
		tookMs     float64    // of the others
		wantsMs    float64
		wantsWidth float64 // the least relative half-width
		want       stats.Verdict
	}{
		{"all begin at once", [2]float64{0.5, 0.6}, warmMs, warmMs, 0, stats.Trusted},
		{"most begin late", [2]float64{0.5, 12}, coldMs, warmMs, 0.1, stats.Suspect},
		{"all begin late, as alone", [2]float64{12, 12.1}, coldMs, coldMs, 0, stats.Trusted},
		{"it is not known when they begin", [2]float64{math.Inf(1), math.Inf(1)}, warmMs, warmMs, 0, stats.Trusted},
	} {
		s := series{probed: true, peak: bytes}
		r := s.concluded(80, func(i int) Run {
			gap, took := c.gapsMs[1], c.tookMs
			if i%8 == 0 {
				gap = c.gapsMs[0]
			}
			run := keptFor(took, 0)
			run.gapNs = gap * ms
			return run
		})
		if r.Verdict != c.want || !r.Estimate.Covers(c.wantsMs*ms) || r.Estimate.RelativeHalfWidth() < c.wantsWidth {
			t.Errorf("%s: %s, want %s, and %v ms in it: %+v %q", c.name, r.Verdict, c.want, c.wantsMs, r.Estimate, r.Reasons)
		}
	}
}
