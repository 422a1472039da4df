package program

import (
	"math"
	"testing"

	"chronoscope/env"
	"chronoscope/process"
)

// A thread works 2 ms, is kept for 5 and works 1: if it asks to sleep until some time, that
// may have been at any time up to its end. If it blocks for 2 ms then, it has slept; if it
// was to sleep twice, one of the times may have passed. So it may where it waits for an answer,
// too, in one process or in another.
func TestRunThatMayBeLate(t *testing.T) {
	const ms = 1e6
	computes := []process.Event{
		{Kind: process.Executed, Thread: 1, Process: 1}, {Kind: process.SwitchedIn, Thread: 1, Process: 1},
		{AtNs: 2 * ms, Kind: process.Preempted, Thread: 1, Process: 1}, {AtNs: 7 * ms, Kind: process.SwitchedIn, Thread: 1, Process: 1},
	}
	sleeps := append(computes[:len(computes):len(computes)],
		process.Event{AtNs: 8 * ms, Kind: process.Blocked, Thread: 1, Process: 1}, process.Event{AtNs: 10 * ms, Kind: process.SwitchedIn, Thread: 1, Process: 1})
	answered := append(sleeps[:len(sleeps):len(sleeps)],
		process.Event{AtNs: 11 * ms, Kind: process.Blocked, Thread: 1, Process: 1}, process.Event{AtNs: 13 * ms, Kind: process.SwitchedIn, Thread: 1, Process: 1})
	withChild := append(sleeps[:len(sleeps):len(sleeps)], // which is kept from its CPU after that
		process.Event{AtNs: 10 * ms, Kind: process.Forked, Thread: 2, Process: 2, Parent: 1}, process.Event{AtNs: 10 * ms, Kind: process.SwitchedIn, Thread: 2, Process: 2},
		process.Event{AtNs: 10 * ms, Kind: process.Blocked, Thread: 1, Process: 1},
		process.Event{AtNs: 11 * ms, Kind: process.Preempted, Thread: 2, Process: 2}, process.Event{AtNs: 14 * ms, Kind: process.SwitchedIn, Thread: 2, Process: 2},
		process.Event{AtNs: 15 * ms, Kind: process.Exited, Thread: 2, Process: 2}, process.Event{AtNs: 15 * ms, Kind: process.SwitchedIn, Thread: 1, Process: 1})
	for _, c := range []struct {
		name               string
		events             []process.Event
		endNs              int64
		timedWaits, others int
		late               bool
	}{
		{"computes", computes, 8 * ms, 0, 0, false},
		{"computes, and waits for an answer", sleeps, 11 * ms, 0, 1, false},
		{"is late", computes, 8 * ms, 1, 0, true},
		{"sleeps", sleeps, 11 * ms, 1, 0, false},
		{"sleeps, and is late once", sleeps, 11 * ms, 2, 0, true},
		{"is late, and waits for an answer", sleeps, 11 * ms, 1, 1, true},
		{"sleeps, and waits for an answer", answered, 14 * ms, 1, 1, false},
		{"sleeps, and its child is late", withChild, 16 * ms, 2, 1, true},
		{"sleeps, and its child computes", withChild, 16 * ms, 1, 1, false},
	} {
		events := append(c.events[:len(c.events):len(c.events)], process.Event{AtNs: c.endNs, Kind: process.Exited, Thread: 1, Process: 1})
		run := Run{RunqueueWaitNs: 5 * ms, Run: process.Run{
			WallNs: c.endNs, Events: events, WaitOf: process.FirstThread, Untraced: errTimeout,
			Threads: []process.Thread{{ID: 1, CPUNs: 3 * ms, WaitNs: 5 * ms, ReadNs: c.endNs}},
		}}
		s := series{probed: true, sentinels: 1, timedWaits: c.timedWaits, otherWaits: c.others}
		s.take(background, &run, 1)
		run.takeOffDisturbance(env.Disturbance{}, 0, math.Inf(1))
		if run.late != c.late || c.late && run.HighNs != float64(c.endNs) {
			t.Errorf("%s: late %v, at most %v ns, want %v, and %v ns where it is late", c.name, run.late, run.HighNs, c.late, c.endNs)
		}
		if c.name == "computes" && run.HighNs > 3.01*ms {
			t.Errorf("3 ms of work take %v ns at most", run.HighNs)
		}
	}
}

// A probe sleeps to two times, of which it misses one, and blocks for something else: as often as
// it stops less than it is seen to. Where it blocks so more often in the first one, that was
// not in memory yet.
func TestProbe(t *testing.T) {
	var unnoted series
	second := alternating(4, 0, 0)
	second.TimedWaits = 1
	for i, run := range []Run{{}, second} {
		if unnoted.probed {
			t.Errorf("%d probes are enough, of which none is noted", i)
		}
		unnoted.take(background, &run, 1)
	}
	if !unnoted.probed || unnoted.someUnnoted || unnoted.otherWaits == 0 {
		t.Errorf("the second probe told all: %+v", unnoted)
	}
	probe := func(s *series, others, timedWaits int) {
		const stops = 7
		run := alternating(stops+1+others, 0, 0)
		run.Stops, run.TimedWaits, run.TimedSwitches = stops, timedWaits, 1
		s.take(background, &run, 1)
	}
	for _, c := range []struct {
		name         string
		others       []int
		timed, waits int
	}{
		{"only sleeps", []int{0}, 2, 2}, {"waits for others", []int{3, 3}, 2, 5}, {"reads from a disk at first", []int{30, 0}, 2, 2},
		{"is interrupted at last", []int{2, 4}, 2, 4}, {"never sleeps", []int{3}, 0, 0},
	} {
		var s series
		for i, others := range c.others {
			if s.probed {
				t.Errorf("%s: %d probes are enough", c.name, i)
			}
			probe(&s, others, c.timed)
		}
		if !s.probed || s.waits() != c.waits {
			t.Errorf("%s: it waits %d times, want %d; enough: %v", c.name, s.waits(), c.waits, s.probed)
		}
	}
}
