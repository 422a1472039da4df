package activity

import (
	"math"
	"testing"
)

// The trace is made by hand: 40 ms with a tick every 4 ms that costs 10 µs, every fifth time 20 µs;
// one preemption took 4 ms, and five irregular gaps took 2 µs each.
func TestNoise(t *testing.T) {
	trace := &Trace{TickNs: 1, Length: 40e6, Kernel: Kernel{TickHz: 250, Virtual: true}}
	irregular := []int64{1.3e6, 5.7e6, 9.1e6, 26.9e6, 33.3e6}
	for k := int64(0); k < 10; k++ {
		cost := int64(10e3)
		if k%5 == 4 {
			cost = 20e3
		}
		at := 1e6 + 4e6*k
		for len(irregular) > 0 && irregular[0] < at {
			trace.Gaps = append(trace.Gaps, Gap{Start: irregular[0], Ticks: 2e3})
			irregular = irregular[1:]
		}
		trace.Gaps = append(trace.Gaps, Gap{Start: at, Ticks: cost})
	}
	a := Analyse(trace)
	// Analyse has no counters here, so the preemption is set by hand.
	for i := range trace.Gaps {
		if trace.Gaps[i].Start == 17e6 {
			trace.Gaps[i].Ticks, trace.Gaps[i].Cause = 3.9e6, Preempted
		}
	}
	n := trace.Noise(a)
	if len(n.Regular) != 1 || !n.Regular[0].Kernel || math.Abs(n.Regular[0].PeriodNs-4e6) > 4 {
		t.Fatalf("%+v, want the kernel's tick of 4 ms", n)
	}
	if want := (8*10e3 + 20e3) / 9.0; math.Abs(n.Regular[0].MeanNs-want) > 1e-6 {
		t.Errorf("a tick takes %v ns on average, want %v", n.Regular[0].MeanNs, want)
	}
	running := 40e6 - 3.9e6
	if want := 5 * 2e3 / running; math.Abs(n.IrregularShare/want-1) > 1e-9 {
		t.Errorf("irregular share %v, want %v", n.IrregularShare, want)
	}
	if want := 5 / running * 1e9; math.Abs(n.IrregularPerSecond/want-1) > 1e-9 || n.IrregularWorstNs != 2e3 {
		t.Errorf("%v irregular gaps a second, %v ns at worst; want %v, 2000", n.IrregularPerSecond, n.IrregularWorstNs, want)
	}
}
