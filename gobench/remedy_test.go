package gobench

import (
	"math"
	"strings"
	"testing"
	"time"
)

// Who has given a benchmark one CPU is not told to do so again, and who has a quiet machine
// is not told at all.
func TestRemedy(t *testing.T) {
	for _, c := range []struct {
		cpus  int
		waits float64
		basis Basis
		says  string
	}{
		{2, 0.5, CPUTime, "give it one CPU and more time, with --cpu 1 --max-time 2m"},
		{2, 0.5, Bounds, "give it one CPU and more time, with --cpu 1 --max-time 2m"},
		{1, 0.5, CPUTime, "more time narrows it, such as --max-time 2m, or a calmer machine"},
		{2, 0, Timer, "more time narrows it, such as --max-time 2m, or a calmer machine"},
		{2, math.NaN(), Timer, "more time narrows it, such as --max-time 2m, or a calmer machine"},
		{1, 0.5, Bounds, "measure it on a calmer machine, since more time does not narrow bounds"},
	} {
		conclude := conclusion{Result: &Result{Basis: c.basis, WaitShare: c.waits}, plan: DefaultPlan, setting: Setting{CPUs: c.cpus}}
		if got := conclude.remedy(); got != c.says {
			t.Errorf("%d CPUs, %g waited, %s: %q, want %q", c.cpus, c.waits, c.basis, got, c.says)
		}
	}
	if got := brief(20 * time.Second); !strings.HasPrefix(got, "20s") {
		t.Error(got)
	}
}

// The least number of repetitions fits into the time, also where others have the CPUs.
func TestRepetitionsAreAffordable(t *testing.T) {
	m := measurement{plan: DefaultPlan}
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
	s.spent = time.Hour
	if got := m.affordable(s, 1e5, wallNs); !(got > 0) {
		t.Errorf("%g iterations, though half the time is kept for them", got)
	}
}
