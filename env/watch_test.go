package env

import (
	"math"
	"testing"

	"chronoscope/machine"
)

const ms = 1e6

// Each stretch is half a millisecond, and interrupts take 5 µs of it. In some cases the thread is
// preempted: while it watches, which takes 20 µs in addition to the wait, or at the end of a look, so
// that the wait is counted in the next stretch. The share of interrupts is 1 % in all cases.
func TestWatched(t *testing.T) {
	const waitNs = 12 * ms
	quiet := stretch{use: machine.ThreadUse{CPUNs: 0.5 * ms}, ranNs: 0.5 * ms, passedNs: 0.5 * ms, gapsNs: []float64{2e3, 3e3}}
	whole := quiet
	whole.use.WaitNs, whole.use.InvoluntarySwitches = waitNs, 1
	whole.passedNs, whole.gapsNs = 0.5*ms+waitNs, []float64{waitNs + 20e3}
	early := quiet // the thread is preempted during the look at the end of this stretch
	early.passedNs += waitNs
	late := quiet // the wait of that preemption is counted in this stretch
	late.use.WaitNs, late.use.InvoluntarySwitches = waitNs, 1
	for name, c := range map[string]struct {
		preempted []stretch
		switchNs  float64
	}{
		"never":                {nil, math.NaN()},
		"while it watches":     {[]stretch{whole}, 20e3},
		"at the end of a look": {[]stretch{early, late}, math.NaN()},
		"both":                 {[]stretch{early, late, whole}, 20e3},
	} {
		var w watched
		for range 20 {
			for range 5 {
				w.take(quiet)
			}
			for _, s := range c.preempted {
				w.take(s)
			}
		}
		n := w.noise()
		if math.Abs(n.LostShare-0.01) > 1e-9 || n.LongestLossNs != 3e3 || !(n.WatchedNs >= 20*4*0.5*ms-1*ms) {
			t.Errorf("preempted %s: %+v", name, n)
		}
		if n.SwitchNs != c.switchNs && !(math.IsNaN(n.SwitchNs) && math.IsNaN(c.switchNs)) {
			t.Errorf("preempted %s: %v ns, want %v", name, n.SwitchNs, c.switchNs)
		}
	}
}

// Time that was not charged to the thread is not part of the time that interrupts take.
func TestGapsWithoutSteal(t *testing.T) {
	watched := machine.Noise{WatchedNs: 50 * ms, LongestLossNs: 5 * ms}
	for _, c := range []struct{ lost, uncharged, share, worst float64 }{
		{5.5 * ms, 5 * ms, 0.5 / 45, 0.5 * ms}, // steal
		{5.5 * ms, -0.01 * ms, 0.11, 5 * ms},   // the kernel does not know of the steal, and the times of the looks vary
		{0.5 * ms, 5 * ms, 0, 0},
	} {
		got := withoutUncharged(watched, totals{gaps: 10, lostNs: c.lost, unchargedNs: c.uncharged})
		if math.Abs(got.LostShare-c.share) > 1e-9 || math.Abs(got.LongestLossNs-c.worst) > 1 {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
