package program

import (
	"math"
	"testing"

	"chronoscope/process"
	"chronoscope/tracepoint"
)

// A client asks at 1 ms, and a server wakes it at 9; nobody competes for a CPU. The server slept for the client from 1 ms
// on, or first for another client of its own, which the client's time alone does not hold.
func TestServerOfAnotherClient(t *testing.T) {
	events := begun().at(1, process.Blocked, 1, 1, 0).at(9, process.SwitchedIn, 1, 1, 0).at(10, process.Exited, 1, 1, 0)
	run := events.run(10, 2)
	begin := told{}.switched(-1, 0, 0, 1, 0)
	end := func(t told) told {
		return t.wakes(9, 1, 50, 1).switched(9, 0, 0, 1, 0).switched(9.1, 1, 50, 0, tracepoint.Sleeping).switched(10.1, 0, 1, 0, tracepoint.Ended)
	}
	asks := func(t told) told {
		return t.wakes(1, 0, 1, 50).switched(1, 0, 1, 0, tracepoint.Sleeping).switched(1, 1, 0, 50, 0)
	}
	sleeps := func(t told, from, to float64) told {
		t = t.switched(from, 1, 50, 0, tracepoint.Sleeping).event(to, 1, tracepoint.TimerExpired, 0, 0, 0).event(to, 1, tracepoint.Waking, 0, 50, 0)
		t[len(t)-1].Context = tracepoint.InInterrupt
		return t.switched(to, 1, 0, 50, 0)
	}
	asksLate := func(t told) told { return t.switched(1, 0, 1, 0, tracepoint.Sleeping) } // the server does not wait for it
	for what, c := range map[string]struct {
		events    told
		strangers float64 // ms for which the client waited for what may not be its own
	}{
		"it sleeps for the client":                 {end(sleeps(asks(begin), 1.1, 8.9)), 0},
		"it answers another that ran on its own":   {end(sleeps(asks(begin.switched(0, 1, 0, 60, 0).switched(0.5, 1, 60, 0, tracepoint.Sleeping)).wakes(1.1, 1, 50, 60), 1.1, 8.9)), 8},
		"it calls another that nobody else woke":   {end(sleeps(asks(begin).wakes(1.1, 1, 50, 60), 1.1, 8.9)), 0},
		"it calls one that was waiting, twice":     {end(sleeps(asks(begin).wakes(1.05, 1, 50, 60).wakes(1.1, 1, 50, 60), 1.1, 8.9)), 0},
		"it calls a thread of the kernel":          {end(sleeps(asks(begin.switched(0, 1, 0, 90, 0).switched(0.5, 1, 90, 0, tracepoint.Sleeping)).wakes(1.1, 1, 50, 90), 1.1, 8.9)), 0},
		"it slept for another as the client asked": {end(sleeps(sleeps(asksLate(begin.switched(0, 1, 0, 50, 0)), 1.1, 4).wakes(4.1, 1, 50, 60), 4.2, 8.9)), 8},
		"a thread answers that it starts for the client": {end(begin.wakes(1, 0, 1, 51).switched(1, 0, 1, 0, tracepoint.Sleeping).switched(1, 1, 0, 51, 0).
			event(1.2, 1, tracepoint.Started, 51, 50, 0).switched(1.3, 1, 51, 50, tracepoint.Sleeping)), 0},
		"its CPU tells nothing of its idle thread": {begin.switched(-0.5, 1, 70, 0, tracepoint.Sleeping).wakes(1, 0, 1, 50).switched(1, 0, 1, 0, tracepoint.Sleeping).
			switched(1.1, 1, 50, 0, tracepoint.Sleeping).wakes(9, 1, 50, 1).switched(9, 0, 0, 1, 0).
			switched(9.1, 1, 50, 0, tracepoint.Sleeping).switched(10.1, 0, 1, 0, tracepoint.Ended), 0},
		"the client gets the lock that another had": {end(asksLate(begin.switched(0, 1, 0, 50, 0))), 8},
	} {
		got, ok := follow(background, &run.Run, 2, 0, wakeupEvents{events: c.events, kernel: map[int32]bool{90: true}})
		if !ok || math.Abs(got.awaitedOthersNs-c.strangers*ms) > 1 || got.blocksKnown != 1 {
			t.Errorf("%s: %v, %g ns, want %g ms; %d known, %d unknown", what, ok, got.awaitedOthersNs, c.strangers, got.blocksKnown, got.blocksUnknown)
		}
		r := Run{Run: run.Run, traced: got, noted: true}
		r.Others = process.OthersUse{Known: true}
		if most := r.othersAtMostNs(); most < c.strangers*ms || c.strangers == 0 && most > 0.2*ms {
			t.Errorf("%s: others delayed it by %g ms at most, want %g", what, most/ms, c.strangers)
		}
	}
}

// A program wakes another, which others keep from its CPU for 3 ms, and sleeps until it sees the result: for 2 ms again
// and again, which no thread ends. It may have slept less often alone. It does not if the other had its CPU.
func TestPollingBySleeping(t *testing.T) {
	events := begun().at(1, process.Blocked, 1, 1, 0).at(3, process.SwitchedIn, 1, 1, 0).at(3.1, process.Blocked, 1, 1, 0).at(9, process.SwitchedIn, 1, 1, 0).at(10, process.Exited, 1, 1, 0)
	run := events.run(10, 2)
	timer := func(t told, atMs float64) told {
		t = t.event(atMs, 0, tracepoint.TimerExpired, 0, 0, 0).event(atMs, 0, tracepoint.Waking, 0, 1, 0)
		t[len(t)-1].Context = tracepoint.InInterrupt
		return t.switched(atMs, 0, 0, 1, 0)
	}
	client := func(t told, fromMs, toMs float64) told {
		return timer(t.switched(fromMs, 0, 1, 0, tracepoint.Sleeping), toMs)
	}
	last := func(t told) told { return t.switched(10.1, 0, 1, 0, tracepoint.Ended) }
	begin := told{}.switched(-1, 0, 0, 1, 0).switched(-1, 1, 0, 70, 0)
	for what, c := range map[string]struct {
		events told
		wantMs float64
	}{
		"another has its CPU":                 {last(client(client(begin.wakes(0.5, 0, 1, 50), 1, 3).switched(3.5, 1, 70, 50, tracepoint.Runnable), 3.1, 9)), 3},
		"it has its CPU":                      {last(client(client(told{}.switched(-1, 0, 0, 1, 0).wakes(0.5, 0, 1, 50).switched(0.5, 1, 0, 50, 0), 1, 3), 3.1, 9)), 0},
		"it is not the program that wakes it": {last(client(client(begin.wakes(0.5, 1, 70, 50), 1, 3).switched(3.5, 1, 70, 50, tracepoint.Runnable), 3.1, 9)), 0},
	} {
		got, ok := follow(background, &run.Run, 2, 0, wakeupEvents{events: c.events})
		if !ok || math.Abs(got.polledNs-c.wantMs*ms) > 1 {
			t.Errorf("%s: %v, %g ns, want %g ms", what, ok, got.polledNs, c.wantMs)
		}
	}
}

// Two threads share a CPU, and one spins for the other. A third program takes the CPU from the first one at 2 ms and at 5.
func TestDisplacedSpinner(t *testing.T) {
	events := begun().at(0.1, process.Forked, 2, 1, 0).
		at(2, process.Preempted, 1, 1, 0).at(3, process.SwitchedIn, 1, 1, 0).
		at(5, process.Preempted, 1, 1, 0).at(6, process.SwitchedIn, 2, 1, 0).at(8, process.Exited, 2, 1, 0).
		at(8.1, process.SwitchedIn, 1, 1, 0).at(9, process.Preempted, 1, 1, 0).at(9.5, process.SwitchedIn, 1, 1, 0).at(10, process.Exited, 1, 1, 0)
	run := events.run(10, 7)
	for cpus, want := range map[int]int{1: 2, 2: 0} {
		if got, ok := follow(background, &run.Run, cpus, 0, wakeupEvents{}); !ok || got.displaced != want {
			t.Errorf("%d CPUs: %v, displaced %d times, want %d", cpus, ok, got.displaced, want)
		}
	}
}
