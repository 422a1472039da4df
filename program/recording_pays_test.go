package program

import (
	"errors"
	"testing"

	"chronoscope/process"
)

// Runs are recorded as long as that tells more than it costs, and the first few in any case.
func TestRecordingHasToPay(t *testing.T) {
	run := func(othersNs int64, recorded bool) *Run {
		r := &Run{LowNs: 30 * ms, HighNs: 30.4 * ms, noted: true}
		r.Untraced = errors.New("not asked for")
		r.Others, r.BesideNs = process.OthersUse{Known: othersNs >= 0, CPUNs: othersNs / 2}, othersNs/2
		if r.traced.heldUpKnown = recorded; recorded {
			r.traced.recordedNs = 0.7 * ms
		}
		return r
	}
	const us = 1e3
	for _, c := range []struct {
		name          string
		before, after int   // runs that were recorded, and that were not
		othersNs      int64 // in each run; below 0 if unknown
		pays          bool
	}{
		{"too few", 2, 0, 100 * us, true},
		{"others hardly ran", 3, 0, 600 * us, false},
		{"others hardly run any more", 3, 10, 600 * us, false},
		{"others ran for longer", 3, 0, 1300 * us, true},
		{"what others did is not known", 3, 10, -1, true},
		{"now and then", 3, 13, 600 * us, true},
	} {
		var s recordings
		for i := range c.before + c.after {
			s.add(run(c.othersNs, i < c.before))
		}
		if s.pay() != c.pays {
			t.Errorf("%s: %v", c.name, s)
		}
	}
	var s recordings
	for range 20 {
		s.add(run(600*us, true))
	}
	for range 5 {
		s.add(run(60*ms, false))
	}
	if !s.pay() {
		t.Error("others began to run, and nothing is recorded")
	}
	traced := run(100*us, true)
	traced.Untraced = nil
	if s.add(traced); len(s.othersNs) != 25 {
		t.Error("a traced run counts")
	}
}
