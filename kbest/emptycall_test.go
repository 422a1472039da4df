package kbest

import (
	"testing"

	"chronoscope/stats"
)

// What takes no longer than a call of a function that does nothing shows.
func TestEmptyCall(t *testing.T) {
	s := quiet(41)
	defer func(real func()) { empty = real }(empty)
	empty = func() { s.machine.Run(1.25) }
	for _, c := range []struct {
		ns   float64
		left bool
	}{{1.25, true}, {1.6, true}, {2.2, false}, {8, false}, {50, false}} {
		r := measureOne(t, s, s.work(c.ns))
		before := r.Verdict
		s.station.judgeCall(background, DefaultPlan, r)
		if says(r, "does nothing") != c.left || !c.left && r.Verdict != before {
			t.Errorf("%v ns: %+v, %+v", c.ns, r.Estimate, r.Judgement)
		}
	}
	r := &Result{Estimate: stats.NoEstimate("ns", MinK), Judgement: stats.NewJudgement()}
	if s.station.judgeCall(background, DefaultPlan, r); r.Verdict != stats.Trusted {
		t.Errorf("a figure that is not there: %+v", r.Judgement)
	}
}
