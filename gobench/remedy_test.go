package gobench

import (
	"math"
	"strings"
	"testing"
	"time"

	"chronoscope/stats"
)

// Who has given a benchmark one CPU is not told to do so again, who has a quiet machine is
// not told at all, and more time is advised only where it helps: after all of it was used,
// and where the precision then is within reach.
func TestRemedy(t *testing.T) {
	for _, c := range []struct {
		cpus  int
		waits float64
		basis Basis
		times float64
		says  string
	}{
		{2, 0.5, CPUTime, 4, "give it one CPU and more time, with CPUs 1 MaxTime 2m"},
		{2, 0.5, Bounds, 4, "give it one CPU and more time, with CPUs 1 MaxTime 2m"},
		{2, 0.5, CPUTime, 1000, "give it one CPU, with CPUs 1, and a calmer machine"},
		{1, 0.5, CPUTime, 4, "more time narrows it, such as MaxTime 2m, or a calmer machine"},
		{2, 0, Timer, 1.2, "more time narrows it, such as MaxTime 1m, or a calmer machine"},
		{2, math.NaN(), Timer, 20, "more time narrows it, such as MaxTime 10m, or a calmer machine"},
		{1, 0, Timer, 100, "measure it on a calmer machine, or ask for less precision: more than 20m of MaxTime would be needed"},
		{1, 0.5, Bounds, 4, "measure it on a calmer machine, since more time does not narrow bounds"},
	} {
		conclude := conclusion{Result: &Result{Summary: Summary{Basis: c.basis, WaitShare: stats.FloatOf(c.waits)}}, kind: kind{waitPerTimed: c.waits}, series: &Series{}, plan: DefaultPlan, setting: Setting{CPUs: c.cpus}}
		if got := conclude.remedy(c.times); got != c.says {
			t.Errorf("%d CPUs, %g waited, %s, %g times: %q, want %q", c.cpus, c.waits, c.basis, c.times, got, c.says)
		}
	}
	if got := brief(20 * time.Second); !strings.HasPrefix(got, "20s") {
		t.Error(got)
	}
}

// The least number of repetitions fits into the time, also where others have the CPUs.
func TestRepetitionsAreAffordable(t *testing.T) {
	m := measurement{plan: DefaultPlan, least: DefaultPlan.LeastRepetitions}
	s := &Series{spent: 6 * time.Second}
	const wallNs = 1e6 // an iteration, as it was
	if got := m.affordable(s, 1000, wallNs); got != 1000 {
		t.Errorf("%g iterations of 1000, though there is time", got)
	}
	got := m.affordable(s, 1e5, wallNs)
	all := 6 * got * 1.2 * wallNs // a fifth as many in the shorter run
	if math.Abs(all/24e9-1) > 1e-9 {
		t.Errorf("%g iterations take %g s of the 24 s that are left", got, all/1e9)
	}
	s.first = Observation{N: 2, WallNs: 2 * wallNs, ProcessNs: 5e9} // its setup takes the whole time
	if got := m.affordable(s, 1e5, wallNs); got < 500 {
		t.Errorf("%g iterations after a setup of 5 s: nothing can be told from them", got)
	}
	s.spent = time.Hour
	if got := m.affordable(s, 1e5, wallNs); !(got > 0) {
		t.Errorf("%g iterations, though half the time is kept for them", got)
	}
}
