package program

import (
	"math"
	"testing"

	"chronoscope/env"
	"chronoscope/machine"
)

// A program that yields 80 times beside loops loses its CPU as often. None of these switches is certain to have
// cost what a preemption does: 42.4 ms ± 1.1 were trusted for 44.5, where a preemption takes 40 us.
func TestYieldsAreNoCertainPreemptions(t *testing.T) {
	noise := machine.Noise{WatchedNs: 1e9, LostShare: 0.001, LossesPerSecond: 100, SwitchNs: 40e3}
	bounds := func(yields int) Run {
		r := Run{grossLowNs: 44.5 * ms, grossHighNs: 44.5 * ms, yields: yields}
		r.UserNs, r.noted = 44.5*ms, true
		r.traced.low = progress{atNs: 44.5 * ms, ranNs: 44.5 * ms, preemptions: 82}
		r.traced.high = r.traced.low
		r.takeOffDisturbance(env.Disturbance{Noise: noise}, 0, math.Inf(1))
		return r
	}
	if r := bounds(80); math.Abs(r.HighNs-44.4*ms) > 0.2*ms || r.LowNs > 42*ms {
		t.Errorf("%v to %v ms, 44.5 is possible", r.LowNs/ms, r.HighNs/ms)
	}
	if r := bounds(0); r.HighNs > 43.5*ms {
		t.Errorf("up to %v ms, though some 30 preemptions are certain", r.HighNs/ms)
	}
}
