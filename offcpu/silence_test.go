package offcpu

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"chronoscope/remedy"
	"chronoscope/tracepoint"
)

// On some virtual machines (PVM, Linux 6.18) the kernel notes nothing that the idle thread of one CPU does, and nothing
// that the threads of some processes do. Nothing then shows when such a thread takes that
// CPU, or gives it up. No time is attributed to a wrong cause or thread.
func TestSimulatedSilentCPU(t *testing.T) {
	for name, silent := range map[string]int32{"idle alone": -1, "another process": 200, "a thread of the target": 100} {
		t.Run(name, func(t *testing.T) {
			told := 0
			for seed := range seeds() {
				w := newWorld(seed)
				w.still = true
				tasks := w.tasks()
				w.run()
				quiet := int32(w.IntN(len(w.cpus)))
				a := New(tasks, simStart, simStart, Target{Processes: map[int32]bool{100: true}})
				a.WaitsIn = w.waitsIn
				a.Add(w.without(func(e tracepoint.Event) bool {
					return e.Thread == silent || e.Thread == 0 && e.CPU == quiet
				}))
				if r := a.Result(w.now, nil); r.Missed > 0 { // otherwise nothing shows that events are missing
					w.holds(t, seed, r)
					told++
				}
			}
			if told == 0 {
				t.Error("no machine shows that events are missing")
			}
		})
	}
}

// waitsIn tells what /proc tells of a thread at the end, without the function.
func (w *world) waitsIn(_, thread int32) (string, bool) {
	return "", slices.ContainsFunc(w.threads, func(t *simThread) bool { return t.id == thread && t.doing == "block" })
}

// --keep-busy is recommended only if most of the switches that are missing were those of idle CPUs.
func TestAdviceAboutMissedSwitches(t *testing.T) {
	for idle, advised := range map[int64]bool{0: false, 4: false, 5: true, 10: true} {
		r := Result{RecordedNs: 1, ThreadNs: 1, Missed: 10, MissedIdle: idle, Parts: []Part{{Cause: Unknown, Share: 0.05}}}
		r.judge()
		if all := strings.Join(r.Reasons, "; "); strings.Contains(all, remedy.Of(remedy.KeepBusy)) != advised {
			t.Errorf("%d of 10 were idle: %s", idle, all)
		}
	}
}

// A CPU that was idle by the last event, and now has a thread to which no event switched it, was idle before the switch that
// is missing.
func TestMissedSwitchesOfIdleCPUs(t *testing.T) {
	a := New([]tracepoint.Task{{Process: 1, Thread: 1, State: tracepoint.Sleeping}, {Process: 2, Thread: 2, State: tracepoint.Sleeping}}, 0, 0, Target{Processes: map[int32]bool{1: true}})
	turn := func(ns int64, from, to int32) tracepoint.Event {
		return tracepoint.Event{AtNs: ns, Kind: tracepoint.Switched, Process: from, Thread: from, Other: to, Value: int32(tracepoint.Sleeping)}
	}
	a.Add([]tracepoint.Event{turn(100, 1, 0), turn(200, 1, 2), turn(300, 1, 0), turn(400, 2, 0)})
	if r := a.Result(500, nil); r.Missed != 3 || r.MissedIdle != 2 {
		t.Errorf("%d are missing, %d of them after an idle time", r.Missed, r.MissedIdle)
	}
}

// A quota stops a thread on a CPU that is then idle, and the kernel leaves out the switch by which it continues. What the
// quota's account tells of that time is known: four fifths of the time of a stopped loop were unknown. Whether it was kept
// from running for longer is not.
func TestQuotaOfAMissedSwitch(t *testing.T) {
	const ms = 1_000_000
	a := New([]tracepoint.Task{{Process: 1, Thread: 1, Name: "a"}}, 0, 0, Target{Processes: map[int32]bool{1: true}})
	quota := &Quota{}
	a.Regroup(func(int32) (Group, bool) { return Group{Quotas: []*Quota{quota}}, true })
	quota.Add(0, 0)
	at := func(msec int64) tracepoint.Event {
		return tracepoint.Event{AtNs: msec * ms, Kind: tracepoint.Switched, Process: 1, Thread: 1}
	}
	a.Add([]tracepoint.Event{at(20)})
	quota.Add(105*ms, 80*ms)
	a.Add([]tracepoint.Event{at(130)})
	late := a.Late()
	a.Add([]tracepoint.Event{{AtNs: 140 * ms, Kind: tracepoint.Switched, Other: 1}})
	quota.Add(145*ms, 80*ms)
	r := a.Result(150*ms, nil)
	want := map[Cause]int64{Ran: 30 * ms, Throttled: 80 * ms, Unknown: 30 * ms, WakeupLatency: 10 * ms}
	if parts, whole := byCause(r.Parts), byCause(r.Wall); !maps.Equal(parts, want) || !maps.Equal(whole, want) || late.DurationNs != 0 {
		t.Errorf("%v, as a whole %v, want %v; late %+v", parts, whole, want, late)
	}
}

// A zombie is no thread: it waited for something that never comes, and one among a group's processes kept the recording from
// its end. Nobody lets a thread go on that is stopped until the end.
func TestZombiesAndStoppedThreads(t *testing.T) {
	tasks := []tracepoint.Task{{Process: 1, Thread: 1, State: tracepoint.Ended}, {Process: 2, Thread: 2, State: tracepoint.Stopped}}
	a := New(tasks[:1], 0, 0, Target{Processes: map[int32]bool{1: true}})
	if a.Alive() {
		t.Error("a zombie lives")
	}
	a = New(tasks, 0, 0, Target{Processes: map[int32]bool{1: true, 2: true}})
	a.WaitsIn = func(_, _ int32) (string, bool) { return "do_signal_stop", true }
	want := []Part{{Cause: Stopped, Share: 1, Count: 1, TotalNs: 500, MaxNs: 500}}
	if r := a.Result(500, nil); r.Threads != 1 || !slices.Equal(r.Parts, want) || !slices.Equal(r.Wall, want) {
		t.Errorf("%d threads, %+v, as a whole %+v, want %+v", r.Threads, r.Parts, r.Wall, want)
	}
}

// A thread whose switch from its first CPU to the idle thread is missing is woken, moved, and gets another CPU: it has that one
// and not the first one, on which nothing happens any more.
func TestMovedAfterAMissedSwitch(t *testing.T) {
	tasks := []tracepoint.Task{{Process: 1, Thread: 1, State: tracepoint.Sleeping}, {Process: 5, Thread: 5, State: tracepoint.Sleeping}}
	a := New(tasks, 0, 0, Target{Processes: map[int32]bool{1: true}})
	at := func(ns int64, cpu, from, to int32) tracepoint.Event {
		return tracepoint.Event{AtNs: ns, CPU: cpu, Kind: tracepoint.Switched, Process: from, Thread: from, Other: to, Value: int32(tracepoint.Sleeping)}
	}
	a.Add([]tracepoint.Event{
		at(10, 0, 0, 1), at(10, 1, 0, 5),
		{AtNs: 30, CPU: 1, Process: 5, Thread: 5, Kind: tracepoint.Waking, Other: 1, Value: 1},
		{AtNs: 30, CPU: 1, Process: 5, Thread: 5, Kind: tracepoint.Migrated, Other: 1, Value: 1},
		at(35, 1, 5, 1), at(60, 1, 1, 0),
	})
	r := a.Result(200, nil)
	want := map[Cause]int64{Ran: 25, Unknown: 35, NotWoken: 140}
	if parts, whole := byCause(r.Parts), byCause(r.Wall); !maps.Equal(parts, want) || !maps.Equal(whole, want) || r.Missed != 0 {
		t.Errorf("%v, as a whole %v, want %v; %d missed", parts, whole, want, r.Missed)
	}
}

// When the recording ends, one thread is stopped and another one waits: as a whole they wait, whichever is asked first.
func TestWholeOfAStoppedAndAWaitingThread(t *testing.T) {
	tasks := []tracepoint.Task{{Process: 1, Thread: 1, State: tracepoint.Sleeping}, {Process: 1, Thread: 2, State: tracepoint.Stopped}}
	want := map[Cause]int64{NotWoken: 500}
	for range 100 {
		r := New(tasks, 0, 0, Target{Processes: map[int32]bool{1: true}}).Result(500, nil)
		if whole := byCause(r.Wall); !maps.Equal(whole, want) {
			t.Fatalf("%v, want %v", whole, want)
		}
	}
}

// A zombie among the listed tasks may have run after the recording began, and before it was listed. It does not count as one of
// the threads that live on.
func TestZombieThatRanWhileTasksWereListed(t *testing.T) {
	tasks := []tracepoint.Task{{Process: 1, Thread: 1, State: tracepoint.Sleeping}, {Process: 2, Thread: 2, State: tracepoint.Ended}}
	at := func(ns int64, from, to int32, state tracepoint.State) tracepoint.Event {
		return tracepoint.Event{AtNs: ns, Kind: tracepoint.Switched, Process: from, Thread: from, Other: to, Value: int32(state)}
	}
	for name, early := range map[string][]tracepoint.Event{
		"ran":    {at(10, 0, 2, 0), at(20, 2, 0, tracepoint.Ended)},
		"waited": {at(10, 2, 0, tracepoint.Runnable), at(20, 0, 2, 0), at(30, 2, 0, tracepoint.Ended)},
		"missed": {at(10, 0, 7, 0), at(20, 2, 0, tracepoint.Ended)},
	} {
		a := New(tasks, 0, 100, Target{Processes: map[int32]bool{1: true, 2: true}})
		a.Add(append(early, at(110, 0, 7, 0), at(120, 7, 0, tracepoint.Sleeping)))
		want := map[Cause]int64{NotWoken: 100}
		if r := a.Result(200, nil); !maps.Equal(byCause(r.Wall), want) || !maps.Equal(byCause(r.Parts), want) || r.Threads != 1 {
			t.Errorf("%s: %d threads, %v, as a whole %v, want %v", name, r.Threads, byCause(r.Parts), byCause(r.Wall), want)
		}
	}
}

// A quota stops one thread, and another process has its CPU meanwhile. A longer wait that hides what its thread did, because
// switches of it are missing, does not take the stop: the process would be named as the cause.
func TestStopGoesToTheWaitThatWasSeen(t *testing.T) {
	const ms = 1_000_000
	a := New([]tracepoint.Task{{Process: 1, Thread: 1}, {Process: 1, Thread: 2}}, 0, 0, Target{Processes: map[int32]bool{1: true}})
	quota := &Quota{}
	a.Regroup(func(int32) (Group, bool) { return Group{Quotas: []*Quota{quota}}, true })
	at := func(msec int64, cpu, from, to int32, state tracepoint.State) tracepoint.Event {
		return tracepoint.Event{AtNs: msec * ms, CPU: cpu, Kind: tracepoint.Switched, Process: from, Thread: from, Other: to, Value: int32(state)}
	}
	quota.Add(0, 0)
	a.Add([]tracepoint.Event{at(0, 0, 0, 1, 0), at(0, 1, 0, 2, 0), at(5, 0, 1, 0, 0), at(20, 1, 2, 9, 0), at(100, 1, 9, 2, 0)})
	quota.Add(105*ms, 80*ms)
	a.Add([]tracepoint.Event{at(125, 0, 1, 0, tracepoint.Sleeping)})
	quota.Add(145*ms, 80*ms)
	want := map[Cause]int64{Ran: 75 * ms, Throttled: 80 * ms, Unknown: 120 * ms, NotWoken: 25 * ms}
	if parts := byCause(a.Result(150*ms, nil).Parts); !maps.Equal(parts, want) {
		t.Errorf("%v, want %v", parts, want)
	}
}
