package process

import (
	"slices"
	"testing"
)

// What the kernel noted is not all of a program that went on for much longer; one whose end was
// seen late has lasted as long as was noted.
func TestLasted(t *testing.T) {
	for _, c := range []struct {
		run     Run
		notedNs int64
		want    bool
	}{
		{Run{WallNs: 60e6, WallErrorNs: 1e6}, 20e3, false},
		{Run{WallNs: 60e6, WallErrorNs: 1e6}, 59.5e6, true},
		{Run{WallNs: 15e6}, 20e3, true}, // by this alone: a launcher may wait so long
		{Run{WallNs: 900e6, Threads: []Thread{{WaitNs: 860e6}}}, 20e6, true},
	} {
		if got := c.run.lasted(c.notedNs); got != c.want {
			t.Errorf("%d ns by the clock, %d noted: %v", c.run.WallNs, c.notedNs, got)
		}
	}
}

// Where an exec gives a process other rights, or the file may not be read, the kernel says 3 µs
// later that it has ended. Programs of 2 ms were said to take 2.8 µs, and 48,244 % of that in
// CPU time.
func TestAccountedFor(t *testing.T) {
	const us, ms = 1e3, 1e6
	program := func(execNs, exitNs, cpuNs int64) Run {
		return Run{SystemNs: cpuNs, Events: []Event{
			{AtNs: execNs - 60*us, Kind: SwitchedIn, Thread: 1, Process: 1}, {AtNs: execNs, Kind: Executed, Thread: 1, Process: 1},
			{AtNs: exitNs, Kind: Exited, Thread: 1, Process: 1},
		}}
	}
	// A child that is started at 1 ms, and becomes another program at 1.1 ms.
	parent := func(childEndsNs, cpuNs int64) Run {
		return Run{UserNs: cpuNs, Events: []Event{
			{AtNs: -60 * us, Kind: SwitchedIn, Thread: 1, Process: 1}, {Kind: Executed, Thread: 1, Process: 1},
			{AtNs: 1 * ms, Kind: Forked, Thread: 2, Process: 2, Parent: 1}, {AtNs: 1 * ms, Kind: SwitchedIn, Thread: 2, Process: 2},
			{AtNs: 1 * ms, Kind: Blocked, Thread: 1, Process: 1}, {AtNs: 1.1 * ms, Kind: Executed, Thread: 2, Process: 2},
			{AtNs: childEndsNs, Kind: Exited, Thread: 2, Process: 2}, {AtNs: 41 * ms, Kind: SwitchedIn, Thread: 1, Process: 1},
			{AtNs: 41.1 * ms, Kind: Exited, Thread: 1, Process: 1},
		}}
	}
	interrupted := program(0, 3*ms, 0.1*ms)
	interrupted.Events = slices.Insert(interrupted.Events, 2, Event{AtNs: 1 * us, Kind: Preempted, Thread: 1, Process: 1}, Event{AtNs: 2999 * us, Kind: SwitchedIn, Thread: 1, Process: 1})
	lost := program(0, 3*us, 2*ms)
	lost.LostEvents = 1
	stopped := program(0, 8*ms, 12*ms) // 230 looks at clocks: the run that told of them was no longer noted
	stopped.Stops = 230
	unstopped := stopped
	unstopped.Stops = 3
	// A pipeline, that was said to be noted in no run: 15,500 switches, each of 7 µs and 1 that nobody notes.
	switching := Run{UserNs: 124 * ms, Events: []Event{{Kind: Executed, Thread: 1, Process: 1}}}
	for i := range int64(15_500) {
		switching.Events = append(switching.Events, Event{AtNs: 8 * us * i, Kind: SwitchedIn, Thread: 1, Process: 1}, Event{AtNs: 8*us*i + 7*us, Kind: Blocked, Thread: 1, Process: 1})
	}
	switching.Events = append(switching.Events, Event{AtNs: 125 * ms, Kind: Exited, Thread: 1, Process: 1})
	unseen := switching
	unseen.UserNs = 160 * ms
	for name, c := range map[string]struct {
		run  Run
		want bool
	}{
		"it switches all the time": {switching, true}, "it switches all the time, and ran unseen": {unseen, false},
		"it stopped for its tracer": {stopped, true}, "it was unseen for that long": {unstopped, false},
		"as it was": {program(0, 2*ms, 2.1*ms), true}, "very short": {program(0, 28*us, 0.1*ms), true},
		"other rights": {program(0, 2.8*us, 1.4*ms), false}, "it sleeps with them": {program(0, 3*us, 0.05*ms), false},
		"an interrupt came": {program(0, 180*us, 1.9*ms), false}, "it was preempted there": {interrupted, false},
		"a child": {parent(40.9*ms, 41*ms), true}, "a child with other rights": {parent(1.103*ms, 41*ms), false},
		"one that sleeps": {parent(1.103*ms, 1.3*ms), false}, "one that was interrupted": {parent(1.3*ms, 41*ms), false},
		"events are lost": {lost, true},
	} {
		if got := c.run.accountedFor(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A program of 53 ms sleeps 300 times for 0.1 ms, and is charged with 3 µs for each time that nobody notes. Its
// notes were thrown away, as those of one that has other rights, or its end was moved by 0.9 ms.
func TestSleepsOftenIsSeen(t *testing.T) {
	const us, ms, pid = 1e3, 1e6, 7
	sleeper := func(child int) Run {
		r := Run{WallNs: 53.5 * ms, WallErrorNs: 1.2 * ms, UserNs: 5 * ms, Untraced: errUnasked, WaitOf: FirstThread,
			Threads: []Thread{{ID: pid, CPUNs: 5 * ms, ReadNs: 54 * ms, LateNs: 0.3 * ms}},
			Events: []Event{
				{AtNs: -100 * us, Kind: Forked, Thread: pid, Process: pid}, {AtNs: -100 * us, Kind: SwitchedIn, Thread: pid, Process: pid},
				{Kind: Executed, Thread: pid, Process: pid},
			}}
		for i := range int64(300) {
			at := 175 * us * i
			r.Events = append(r.Events, Event{AtNs: at + 12*us, Kind: Blocked, Thread: pid, Process: pid}, Event{AtNs: at + 174*us, Kind: SwitchedIn, Thread: pid, Process: pid})
		}
		r.Events = append(r.Events, Event{AtNs: 53 * ms, Kind: Exited, Thread: pid, Process: pid})
		if child != 0 {
			r.Events = slices.Insert(r.Events, 3, Event{AtNs: 1 * us, Kind: Forked, Thread: child, Process: child, Parent: pid})
		}
		return r
	}
	r := sleeper(0)
	r.untilEnd(pid)
	if ended := endOf(pid, r.Events); ended != 53*ms || !r.ranSeen(pid, ended) {
		t.Errorf("ended after %d ns, all seen: %v", ended, r.ranSeen(pid, ended))
	}
	late, parent, other := sleeper(0), sleeper(8), sleeper(0)
	late.Threads[0].ReadNs = 60 * ms
	other.Events = []Event{{Kind: SwitchedIn, Thread: pid, Process: pid}, {AtNs: 53 * ms, Kind: Executed, Thread: pid, Process: pid}, {AtNs: 53*ms + 3*us, Kind: Exited, Thread: pid, Process: pid}}
	for name, r := range map[string]Run{"it went on for 7 ms after its exit": late, "it has a child": parent, "it gets other rights at its end": other} {
		if r.ranSeen(pid, 53*ms) {
			t.Errorf("%s: all was seen", name)
		}
	}
}

// A program of 10 ms that may not be read was said to take 2.6 ms on a busy machine: its launcher came
// 41 ms late, so that what it ran after its exec may have been its end. The figures are those of a run.
func TestSeenLateAfterItsExec(t *testing.T) {
	const pid = 27564
	r := Run{WallNs: 43e6, WallErrorNs: 41e6, UserNs: 733_000, Untraced: errUnasked, WaitOf: FirstThread,
		Threads: []Thread{{ID: pid, CPUNs: 733_822, WaitNs: 32_602_325, ReadNs: 43_420_336, LateNs: 40_786_156}},
		Events: []Event{
			{AtNs: -78_888, Kind: Forked, Thread: pid, Process: pid}, {AtNs: -70_195, Kind: SwitchedIn, Thread: pid, Process: pid},
			{Kind: Executed, Thread: pid, Process: pid}, {AtNs: 3144, Kind: Exited, Thread: pid, Process: pid},
		}}
	r.untilEnd(pid)
	if r.accountedFor() {
		t.Errorf("3 µs after its exec it ended: %+v", r.Events)
	}
}

// Linux 6.18 notes the exit of a program of 200 MB 35 ms before its end. Its notes were thrown away, as
// those of one that has other rights.
func TestUntilEnd(t *testing.T) {
	const ms = 1e6
	program := func(account Thread) Run {
		account.ID = 1
		return Run{Untraced: errUnasked, WaitOf: FirstThread, Threads: []Thread{account}, Events: []Event{
			{AtNs: -1 * ms, Kind: Forked, Thread: 1, Process: 1}, {AtNs: -0.9 * ms, Kind: SwitchedIn, Thread: 1, Process: 1},
			{Kind: Executed, Thread: 1, Process: 1}, {AtNs: 40 * ms, Kind: Preempted, Thread: 1, Process: 1},
			{AtNs: 50 * ms, Kind: SwitchedIn, Thread: 1, Process: 1}, {AtNs: 100 * ms, Kind: Exited, Thread: 1, Process: 1},
		}}
	}
	// It ran for 90.9 ms, and waited for 10.1 ms, by the notes.
	for name, c := range map[string]struct {
		account      Thread
		ended, moved int64
	}{
		"it gives back memory":          {Thread{CPUNs: 125.9 * ms, WaitNs: 10.1 * ms, ReadNs: 135.1 * ms, LateNs: 0.3 * ms}, 135 * ms, 0},
		"and waits meanwhile":           {Thread{CPUNs: 125.9 * ms, WaitNs: 25.1 * ms, ReadNs: 150.1 * ms, LateNs: 0.3 * ms}, 149.8 * ms, 14.8 * ms},
		"it sleeps unseen":              {Thread{CPUNs: 125.9 * ms, WaitNs: 10.1 * ms, ReadNs: 175.1 * ms, LateNs: 0.3 * ms}, 100 * ms, 0},
		"it ran at another time unseen": {Thread{CPUNs: 125.9 * ms, WaitNs: 10.1 * ms, ReadNs: 100.1 * ms, LateNs: 0.3 * ms}, 100 * ms, 0},
	} {
		r := program(c.account)
		r.untilEnd(1)
		var kept int64
		for i, e := range r.Events {
			if e.Kind == Preempted && e.AtNs >= 100*ms {
				kept += r.Events[i+1].AtNs - e.AtNs
			}
		}
		if got := endOf(1, r.Events); got != c.ended || kept != c.moved {
			t.Errorf("%s: it ended after %d ns, having waited %d", name, got, kept)
		}
	}
}
