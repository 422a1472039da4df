package program

import (
	"testing"

	"chronoscope/stats"
)

// A program of 1.75 ms that uses 4.7 MB takes 2.1 ms where it begins 12 ms after the run before it, since loops had its CPU
// until then. That was trusted as its time alone, since nothing disturbed the runs themselves.
func TestProgramsThatBeginLate(t *testing.T) {
	const warmMs, coldMs, bytes = 1.75, 2.1, 4.7e6
	for _, c := range []struct {
		name           string
		keptMs, tookMs float64
		leastWidth     float64 // of half the interval, relative
		want           stats.Verdict
	}{
		{"all begin at once", 0.1, warmMs, 0, stats.Trusted},
		{"most begin late", 12, coldMs, 0.1, stats.Suspect},
	} {
		s := series{probed: true, peakOfAll: bytes}
		r := s.concluded(80, func(i int) Run {
			run := keptFor(warmMs, 0)
			if i%8 > 0 {
				run = keptFor(c.tookMs, 0)
				run.startKeptNs = c.keptMs * ms
			}
			return run
		})
		if r.Verdict != c.want || !r.Estimate.Covers(warmMs*ms) || r.Estimate.RelativeHalfWidth() < c.leastWidth {
			t.Errorf("%s: %s, want %s, and %v ms in it: %+v %q", c.name, r.Verdict, c.want, warmMs, r.Estimate, r.Reasons)
		}
	}
}

// A late start costs a small program little.
func TestSmallProgramsThatBeginLate(t *testing.T) {
	s := series{probed: true, peakOfAll: 64 << 10, several: true}
	r := s.concluded(80, func(int) Run {
		run := keptFor(10, 0)
		run.startKeptNs = 12 * ms
		return run
	})
	if r.Estimate.RelativeHalfWidth() > 0.02 || r.Verdict != stats.Trusted {
		t.Errorf("%s: %+v %q", r.Verdict, r.Estimate, r.Reasons)
	}
}
