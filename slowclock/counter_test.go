package slowclock

import (
	"math"
	"testing"
)

// A stretch in which the counter was starved weighs by its time, like any other. In the first
// stretch 8 of 10 ticks were within 80 trials, and in the second, at a tenth of the rate, 5 of 10
// within 50. In the third the counter stood still: its 70 trials took the share of 10 ticks that
// trials had of all counts, 850 of 1,100. An earlier version left such stretches out. It missed 0.8
// ms that both threads lost at once, and trusted 2.60 ± 0.003 µs for 2.65 µs.
func TestStarvedStretchesWeighByTheirTime(t *testing.T) {
	s := shares{tickNs: 1e6}
	s.add(stretch{trials: 80, within: 800, counts: 1000, ticks: 10})
	s.add(stretch{trials: 50, within: 50, counts: 100, ticks: 10})
	if e := s.mean(); math.Abs(e.Value-1e5) > 1e-6 || e.N != 130 {
		t.Errorf("%v ns of %d trials, want 100,000 of 130", e.Value, e.N)
	}
	s.add(stretch{trials: 70, ticks: 10})
	if e, want := s.mean(), (8+5+10*850./1100)/200*1e6; math.Abs(e.Value-want) > 1e-6 || e.N != 200 {
		t.Errorf("%v ns of %d trials, want %v of 200", e.Value, e.N, want)
	}
	still := shares{tickNs: 1e6}
	still.add(stretch{trials: 70, ticks: 10})
	if e := still.mean(); !math.IsNaN(e.Value) {
		t.Errorf("a counter that stood still told %v ns", e.Value)
	}
	if e := (&shares{tickNs: 1e6}).mean(); !math.IsNaN(e.Value) {
		t.Errorf("nothing came to %v", e.Value)
	}
}

// Trials continue until fewer than two more may fit before the next tick, and for at most twice the
// ticks.
func TestApproach(t *testing.T) {
	for trial, want := range map[int64]bool{31: false, 37: false, 38: true, 39: true} { // 10 trials to a tick
		a := approach{mostTicks: 6, ticks: 3, trials: 30}
		if near := a.look(trial, 3); near != want {
			t.Errorf("after trial %d, with a tick at each tenth: %v", trial, near)
		}
	}
	a := approach{mostTicks: 6}
	if near := a.look(31, 3); near || a.trials != 31 || a.ticks != 3 {
		t.Errorf("just after a tick the next one is near: %v, %+v", near, a)
	}
	if !a.look(60, 6) {
		t.Error("it goes on for more than twice the ticks")
	}
}
