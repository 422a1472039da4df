package program

import (
	"testing"

	"chronoscope/machine"
	"chronoscope/process"
)

// A thread works 2 ms, is kept for 5 and works 1: if it asks to sleep until some time, that
// may have been at any time up to its end. If it blocks for 2 ms then, it has slept; if it
// was to sleep twice, one of the times may have passed.
func TestRunThatMayBeLate(t *testing.T) {
	const ms = 1e6
	computes := []process.Event{
		{Kind: process.Executed, Thread: 1, Process: 1}, {Kind: process.SwitchedIn, Thread: 1, Process: 1},
		{AtNs: 2 * ms, Kind: process.Preempted, Thread: 1, Process: 1}, {AtNs: 7 * ms, Kind: process.SwitchedIn, Thread: 1, Process: 1},
	}
	sleeps := append(computes[:len(computes):len(computes)],
		process.Event{AtNs: 8 * ms, Kind: process.Blocked, Thread: 1, Process: 1}, process.Event{AtNs: 10 * ms, Kind: process.SwitchedIn, Thread: 1, Process: 1})
	for _, c := range []struct {
		name       string
		events     []process.Event
		endNs      int64
		timedWaits int
		late       bool
	}{
		{"computes", computes, 8 * ms, 0, false},
		{"is late", computes, 8 * ms, 1, true},
		{"sleeps", sleeps, 11 * ms, 1, false},
		{"sleeps, and is late once", sleeps, 11 * ms, 2, true},
	} {
		events := append(c.events[:len(c.events):len(c.events)], process.Event{AtNs: c.endNs, Kind: process.Exited, Thread: 1, Process: 1})
		run := Run{RunqueueWaitNs: 5 * ms, Run: process.Run{
			WallNs: c.endNs, Events: events, WaitOf: process.FirstThread, Untraced: errTimeout,
			Threads: []process.Thread{{ID: 1, CPUNs: 3 * ms, WaitNs: 5 * ms, ReadNs: c.endNs}},
		}}
		s := series{timedWaits: c.timedWaits}
		s.take(&run, 1)
		run.takeOffDisturbance(machine.Noise{}, 0)
		if run.late != c.late || c.late && run.HighNs != float64(c.endNs) {
			t.Errorf("%s: late %v, at most %v ns, want %v, and %v ns where it is late", c.name, run.late, run.HighNs, c.late, c.endNs)
		}
		if c.name == "computes" && run.HighNs > 3.01*ms {
			t.Errorf("3 ms of work take %v ns at most", run.HighNs)
		}
	}
}
