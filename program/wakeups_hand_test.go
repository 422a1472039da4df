package program

import (
	"testing"

	"chronoscope/process"
	"chronoscope/tracepoint"
)

// told are tracepoints by hand, with times in milliseconds.
type told []tracepoint.Event

func (t told) event(atMs float64, cpu int32, kind tracepoint.Kind, thread, other int32, state tracepoint.State) told {
	return append(t, tracepoint.Event{AtNs: int64(atMs * ms), CPU: cpu, Kind: kind, Thread: thread, Process: thread, Other: other, Value: int32(state)})
}

func (t told) switched(atMs float64, cpu int32, from, to int32, state tracepoint.State) told {
	return t.event(atMs, cpu, tracepoint.Switched, from, to, state)
}

func (t told) wakes(atMs float64, cpu int32, by, thread int32) told {
	return t.event(atMs, cpu, tracepoint.Waking, by, thread, 0)
}

// A client works 1 ms and asks a server, which another program keeps from its CPU until 5 ms, works 3 ms, and
// wakes the client at 8. Another has the client's CPU until 9, and it works 1 ms. By hand: 5 ms, and what two
// idle CPUs take to be told.
func TestClientOfAServerThatWaits(t *testing.T) {
	events := begun().at(1, process.Blocked, 1, 1, 0).at(9, process.SwitchedIn, 1, 1, 0).at(10, process.Exited, 1, 1, 0)
	all := told{}.switched(-1, 0, 0, 1, 0).switched(-1, 1, 0, 70, 0).wakes(1, 0, 1, 50).switched(1, 0, 1, 0, tracepoint.Sleeping).
		switched(2, 0, 0, 71, 0).switched(5, 1, 70, 50, tracepoint.Runnable).wakes(8, 1, 50, 1).switched(8.1, 1, 50, 70, tracepoint.Sleeping).
		switched(9, 0, 71, 1, tracepoint.Runnable).switched(10.1, 0, 1, 0, tracepoint.Ended)
	run := events.run(10, 2)
	for what, c := range map[string]struct {
		events         told
		lowMs, highMs  float64
		known, unknown int
	}{
		"all is told":                         {all, 5, 5.4, 1, 0},
		"nothing is told":                     {nil, 2, 10, 0, 1},
		"the switch to the client is not":     {append(all[:8:8], all[9:]...), 5, 5.4, 1, 0}, // its CPU did not stay idle
		"it was woken twice, says the kernel": {append(all[:7:7], append(told{}.wakes(6, 1, 50, 1), all[7:]...)...), 2, 10, 0, 1},
		"the server is another thread":        {append(all[:2:2], all[3:]...), 4, 9.4, 1, 0}, // nobody wakes it: it could run all the time
	} {
		got, ok := follow(background, &run.Run, 2, 0, wakeupEvents{events: c.events})
		if !ok || got.low.atNs < c.lowMs*ms-1 || got.low.atNs > c.lowMs*ms+0.1*ms && c.known > 0 || got.high.atNs < (c.highMs-0.41)*ms || got.high.atNs > c.highMs*ms+1 ||
			got.blocksKnown != c.known || got.blocksUnknown != c.unknown {
			t.Errorf("%s: %v, %g to %g ns, %d known, %d unknown; want %+v", what, ok, got.low.atNs, got.high.atNs, got.blocksKnown, got.blocksUnknown, c)
		}
	}
}

// A thread begins to wait until some time, and another wakes it before: it has missed nothing. In a second such
// call the time has come already, so that it does not give up its CPU, and alone it might have slept.
func TestTimesThatHadPassed(t *testing.T) {
	events := begun().at(1, process.Blocked, 1, 1, 0).at(3, process.SwitchedIn, 1, 1, 0).at(10, process.Exited, 1, 1, 0)
	run := events.run(10, 8)
	call := func(t told, atMs float64, kind tracepoint.Kind) told { return t.event(atMs, 0, kind, 1, 0, 0) }
	first := call(told{}.switched(-1, 0, 0, 1, 0).switched(-1, 1, 0, 70, 0), 0.9, tracepoint.TimedCall).switched(1, 0, 1, 0, tracepoint.Sleeping).wakes(3, 1, 70, 1).switched(3, 0, 0, 1, 0)
	for what, c := range map[string]struct {
		events told
		asks   int
		want   bool
	}{
		"one call":                                   {first, 1, true},
		"it asks for more than is seen":              {first, 2, false},
		"another call, whose time has come":          {call(call(first[:6:6], 5, tracepoint.TimedCall), 5.01, tracepoint.TimedOut), 1, false},
		"it sets a timer":                            {call(first[:6:6], 5, tracepoint.OtherTimer), 1, false},
		"the first one's time came while it blocked": {call(first[:6:6], 3.1, tracepoint.TimedOut), 1, true},
		"nobody tells who woke it":                   {append(first[:4:4], first[5:]...), 1, false},
	} {
		got, ok := follow(background, &run.Run, 2, 0, wakeupEvents{events: c.events})
		r := Run{traced: got}
		if !ok || r.knownInTime(c.asks) != c.want {
			t.Errorf("%s: %v, want %v: %d known, %d calls, %d passed", what, r.knownInTime(c.asks), c.want, got.blocksKnown, got.timedCalls, got.timesPassed)
		}
	}
}

// A thread's number is given anew once it has ended, and an exec gives the number of a process's first thread
// to the calling thread. A wake-up was made by the thread that had the number then.
func TestNumbersThatAreGivenAnew(t *testing.T) {
	again := begun().at(1, process.Forked, 2, 2, 1).at(1, process.SwitchedIn, 2, 2, 1).at(2, process.Exited, 2, 2, 1).
		at(5, process.Forked, 2, 2, 1).at(5, process.SwitchedIn, 2, 2, 1).at(9, process.Exited, 2, 2, 1).at(10, process.Exited, 1, 1, 0)
	s := newSchedule(again)
	if first, second := s.named(2, 1.5*ms), s.named(2, 6*ms); first == nil || second == nil || first == second || first.exitNs != 2*ms || second.exitNs != 9*ms {
		t.Errorf("%+v and %+v", first, second)
	}
	if s.named(3, ms) != nil || s.named(2, 300*ms) != nil {
		t.Error("a thread that there is not, or another program's that has the number by then")
	}
	execs := begun().at(1, process.Forked, 2, 1, 1).at(1, process.SwitchedIn, 2, 1, 1).at(3, process.Exited, 1, 1, 0).
		at(3, process.Executed, 1, 1, 0).at(9, process.Exited, 1, 1, 0)
	s = newSchedule(execs)
	if before, after := s.named(1, 2*ms), s.named(1, 4*ms); before == nil || after == nil || before == after || after.id != 2 {
		t.Errorf("%+v and %+v", before, after)
	}
}

// A thread runs 4 ms, is woken while it gives up its CPU, waits 2 ms for it, and works 4 ms: by hand, 8 ms.
func TestWokenWhileItGivesUpItsCPU(t *testing.T) {
	events := begun().at(4, process.Blocked, 1, 1, 0).at(6, process.SwitchedIn, 1, 1, 0).at(10, process.Exited, 1, 1, 0)
	all := told{}.switched(-1, 0, 0, 1, 0).event(3.99, 0, tracepoint.TimerExpired, 0, 0, 0).event(3.99, 0, tracepoint.Waking, 0, 1, 0).
		switched(4, 0, 1, 71, tracepoint.Sleeping).switched(6, 0, 71, 1, tracepoint.Runnable).switched(10.1, 0, 1, 0, tracepoint.Ended)
	for i := range all {
		if all[i].Kind == tracepoint.Waking {
			all[i].Context = tracepoint.InInterrupt
		}
	}
	run := events.run(10, 2)
	if got, ok := follow(background, &run.Run, 2, 0, wakeupEvents{events: all}); !ok || got.low.atNs > 8*ms+1 || got.high.atNs < 8*ms || got.high.atNs > 8.41*ms {
		t.Errorf("%v, %g to %g ns, want 8 ms", ok, got.low.atNs, got.high.atNs)
	}
}

// The recording begins as a server is woken, for which another program keeps it from its CPU: what it did before is not known.
func TestServerThatIsWokenAsTheRecordingBegins(t *testing.T) {
	events := begun().at(1, process.Blocked, 1, 1, 0).at(9, process.SwitchedIn, 1, 1, 0).at(10, process.Exited, 1, 1, 0)
	all := told{}.wakes(-1, 1, 70, 50).switched(-1, 0, 0, 1, 0).switched(-1, 1, 0, 70, 0).switched(1, 0, 1, 0, tracepoint.Sleeping).
		switched(5, 1, 70, 50, tracepoint.Runnable).wakes(8, 1, 50, 1).switched(8.1, 1, 50, 70, tracepoint.Sleeping).
		switched(9, 0, 0, 1, 0).switched(10.1, 0, 1, 0, tracepoint.Ended)
	run := events.run(10, 2)
	if got, ok := follow(background, &run.Run, 2, 0, wakeupEvents{events: all}); !ok || got.high.atNs < 9*ms {
		t.Errorf("%v, %g to %g ns, want up to 10 ms", ok, got.low.atNs, got.high.atNs)
	}
}

// The thread that started a program, and that the program wakes at its exec, is kept from its CPU meanwhile. The program
// sleeps until some time, and does not wait for that thread, unless it wakes the program later.
func TestWhoStartedIt(t *testing.T) {
	events := begun().at(1, process.Blocked, 1, 1, 0).at(3, process.SwitchedIn, 1, 1, 0).at(10, process.Exited, 1, 1, 0)
	run := events.run(10, 8)
	timer := told{}.event(3, 0, tracepoint.Softirq, 0, 0, tracepoint.State(tracepoint.TimerVector)).event(3, 0, tracepoint.Waking, 0, 1, 0)
	timer[1].Context = tracepoint.InSoftirq
	start := told{}.switched(-2, 1, 0, 80, 0).wakes(-1.5, 1, 80, 1).switched(-1.4, 1, 80, 70, tracepoint.Sleeping).
		switched(-1, 0, 0, 1, 0).wakes(-0.02, 0, 1, 80).switched(1, 0, 1, 0, tracepoint.Sleeping).switched(2.5, 1, 70, 80, tracepoint.Runnable)
	for what, c := range map[string]struct {
		events told
		want   float64
	}{
		"it only waits":         {append(append(start[:7:7], timer...), told{}.switched(3, 0, 0, 1, 0)...), 0},
		"it works for it later": {append(append(append(start[:7:7], timer...), told{}.switched(3, 0, 0, 1, 0)...), told{}.wakes(9, 1, 80, 1)...), 2 * ms},
	} {
		got, ok := follow(background, &run.Run, 2, 0, wakeupEvents{events: c.events})
		if !ok || got.polledNs != c.want {
			t.Errorf("%s: %v, %g ns, want %g; %+v", what, ok, got.polledNs, c.want, got.timers)
		}
	}
}
