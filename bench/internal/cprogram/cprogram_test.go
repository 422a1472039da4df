package cprogram

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"chronoscope/machine"
	"chronoscope/stats"
)

// An estimate is wrong beyond both 1 % and two half-widths from the nearer end of the truth (DESIGN.md); beyond 5 % and three
// half-widths is more than that.
func TestIsWrong(t *testing.T) {
	truth := stats.Estimate{Value: 100, Lo: 99, Hi: 101}
	for _, c := range []struct {
		value, half    float64
		wrong, covered bool
	}{
		{100, 1, false, true}, {103.9, 0.2, true, false}, {96.1, 0.2, true, false}, {103.9, 1.5, false, false}, {101.9, 0.2, false, false},
		{107, 1.9, true, false}, {107, 3.1, false, false}, {97, 2, false, true},
	} {
		e := stats.Estimate{Value: c.value, Lo: c.value - c.half, Hi: c.value + c.half}
		if IsWrong(e, truth) != c.wrong || Covers(e, truth) != c.covered {
			t.Errorf("%v ± %v: wrong %v, covers %v", c.value, c.half, IsWrong(e, truth), Covers(e, truth))
		}
	}
}

// Two looks, of which one comes too early to count: what a CPU lost in the first one is known within 30 %.
func TestLosses(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skip(err)
	}
	looks := 0
	l := Losses{Watch: func(context.Context, time.Duration) machine.Noise {
		looks++
		return machine.Noise{WatchedNs: 25e6, LostShare: 0.1}
	}}
	for range 2 {
		l.Look(t.Context(), cpus[0])
	}
	share, least, most := l.Share()
	if looks != 1 || math.Abs(share-0.1) > 1e-9 || math.Abs(least-0.07) > 1e-9 || math.Abs(most-0.13) > 1e-9 {
		t.Errorf("%d looks: %v, %v to %v", looks, share, least, most)
	}
	if share, _, most := (&Losses{}).Share(); share != 0 || most != 0 {
		t.Errorf("no look: %v, %v", share, most)
	}
}

// Each look is at the next CPU, also if every second call comes too early.
func TestLossesOfEachCPU(t *testing.T) {
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skip(err)
	}
	var seen []int
	l := Losses{Watch: func(context.Context, time.Duration) machine.Noise {
		on, _ := machine.Affinity()
		seen = append(seen, on...)
		return machine.Noise{}
	}}
	for range cpus {
		l.Look(t.Context(), cpus...)
		l.at = time.Now().Add(time.Hour)
		l.Look(t.Context(), cpus...)
		l.at = time.Time{}
	}
	if !slices.Equal(seen, cpus) {
		t.Errorf("%v of %v", seen, cpus)
	}
}
