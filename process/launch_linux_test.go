package process

import (
	"slices"
	"testing"
)

// A program of 100 µs is kept from its CPU for 30 µs by the thread that started it, just before its first instruction.
// That time is not the program's. What it lost later, to others, or before its exec stays as it was noted.
func TestTheLauncherTakesNothingFromTheProgram(t *testing.T) {
	const pid, us = 7, 1000
	at := func(atUs int64, kind EventKind, thread, cpu int) Event {
		return Event{AtNs: atUs * us, Kind: kind, CPU: cpu, Thread: thread, Process: pid}
	}
	run := func() Run {
		return Run{
			WallNs: 130 * us, ExecNs: 1e9,
			Events: []Event{
				at(-40, Preempted, pid, 0), at(-20, SwitchedIn, pid, 0), at(0, Executed, pid, 1),
				at(70, Preempted, pid, 1), at(100, SwitchedIn, pid, 0), at(130, Exited, pid, 0),
			},
			Threads:  []Thread{{ID: pid, WaitNs: 50 * us, ReadNs: 140 * us}},
			Untraced: errUnasked,
		}
	}
	r := run()
	if r.withoutLaunch(started{pid: pid, seenNs: 1e9 + 75*us, cpu: 1}); r.WallNs != 100*us || r.ExecNs != 1e9+30*us || r.Threads[0].WaitNs != 20*us || r.Threads[0].ReadNs != 110*us {
		t.Errorf("%+v", r)
	}
	want := []Event{at(-40, Preempted, pid, 0), at(-20, SwitchedIn, pid, 0), at(0, Executed, pid, 0), at(100, Exited, pid, 0)}
	if r.Events[0].CPU = 0; !slices.Equal(r.Events, want) {
		t.Errorf("%+v", r.Events)
	}

	for name, change := range map[string]func(r *Run, p *started){
		"the launcher ran on another CPU":  func(_ *Run, p *started) { p.cpu = 0 },
		"its CPU is not known":             func(_ *Run, p *started) { p.cpu = -1 },
		"it had gone on before":            func(_ *Run, p *started) { p.seenNs = 1e9 + 65*us },
		"it went on later":                 func(_ *Run, p *started) { p.seenNs = 1e9 + 105*us },
		"the program is traced":            func(r *Run, _ *started) { r.Untraced = nil },
		"events were lost":                 func(r *Run, _ *started) { r.LostEvents = 1 },
		"it had run for long":              func(r *Run, p *started) { later(r.Events[3:], 100*us); p.seenNs += 100 * us },
		"it waited for more than that":     func(r *Run, _ *started) { later(r.Events[4:], 200*us) },
		"it had another thread by then":    func(r *Run, _ *started) { r.Events = slices.Insert(r.Events, 3, at(60, Forked, 8, 1)) },
		"another thread of it had the CPU": func(r *Run, _ *started) { r.Events[4].Thread = 8 },
		"it gave up its CPU":               func(r *Run, _ *started) { r.Events[3].Kind = Blocked },
		"nothing is known of its threads":  func(r *Run, _ *started) { r.Threads = nil },
	} {
		r, p := run(), started{pid: pid, seenNs: 1e9 + 75*us, cpu: 1}
		change(&r, &p)
		before := len(r.Events)
		if r.withoutLaunch(p); r.WallNs != 130*us || r.ExecNs != 1e9 || len(r.Events) != before {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// later moves events.
func later(events []Event, ns int64) {
	for i := range events {
		events[i].AtNs += ns
	}
}
