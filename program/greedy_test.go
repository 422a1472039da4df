package program

import (
	"testing"

	"chronoscope/process"
)

// Three threads can run from 1 ms on, while others have both CPUs until 50 ms. Then each works 10 ms, two of
// them at once. Alone, by hand: 1 ms, and 15 to 20 for the three on two CPUs, or 26 if the third works on what
// another has made. What others had of the CPUs was counted as the threads' own, since they were more than the CPUs.
func TestThreadsOutnumberTheCPUs(t *testing.T) {
	events := begun().at(1, process.Preempted, 1, 1, 0).
		at(1, process.Forked, 2, 1, 1).at(1, process.Forked, 3, 1, 1).
		at(50, process.SwitchedIn, 1, 1, 0).at(50, process.SwitchedIn, 2, 1, 1).
		at(60, process.Blocked, 1, 1, 0).at(60, process.SwitchedIn, 3, 1, 0).at(60, process.Exited, 2, 1, 1).
		at(70, process.Exited, 3, 1, 0).at(70, process.SwitchedIn, 1, 1, 0).at(70, process.Exited, 1, 1, 0)
	run := events.run(70, 31)
	got, ok := follow(background, &run.Run, 2, 0, wakeupEvents{})
	if !ok || got.high.atNs < 26*ms || got.high.atNs > 27*ms || got.low.atNs > 16*ms {
		t.Errorf("%v, %g to %g ns, want up to 26 ms", ok, got.low.atNs, got.high.atNs)
	}
}

// A child works 10 ms while its parent is kept from the CPU that it got before. If it exits meanwhile, it has
// not waited for its parent, spinning; if it goes on until the parent runs, it may have.
func TestThreadsThatEndDoNotSpin(t *testing.T) {
	for what, c := range map[string]struct{ exitMs, wantMs float64 }{"it ends": {11, 0}, "it goes on": {21, 19}} {
		events := begun().at(1, process.Forked, 2, 2, 1).at(1, process.SwitchedIn, 2, 2, 1).at(1, process.Preempted, 1, 1, 0)
		if c.exitMs < 20 {
			events = events.at(c.exitMs, process.Exited, 2, 2, 1)
		}
		if events = events.at(20, process.SwitchedIn, 1, 1, 0); c.exitMs > 20 {
			events = events.at(c.exitMs, process.Exited, 2, 2, 1)
		}
		run := events.at(22, process.Exited, 1, 1, 0).run(22, 13)
		got, ok := follow(background, &run.Run, 2, 0, wakeupEvents{})
		if !ok || got.spunNs != c.wantMs*ms {
			t.Errorf("%s: %v, may have spun for %g ns, want %g ms", what, ok, got.spunNs, c.wantMs)
		}
	}
}
