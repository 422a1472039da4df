package program

import (
	"math"
	"testing"

	"chronoscope/process"
	"chronoscope/tracepoint"
)

// The time for which others can have delayed a run of 10 ms on two CPUs, by hand.
func TestHeldUp(t *testing.T) {
	client := begun().at(1, process.Blocked, 1, 1, 0).at(9, process.SwitchedIn, 1, 1, 0).at(10, process.Exited, 1, 1, 0)
	blocks := told{}.switched(-1, 0, 0, 1, 0).switched(-1, 1, 0, 70, 0).switched(1, 0, 1, 0, tracepoint.Sleeping)
	asks := append(blocks[:2:2], told{}.wakes(1, 0, 1, 50).switched(1, 0, 1, 0, tracepoint.Sleeping)...)
	pair := begun().at(0, process.Forked, 2, 2, 1).at(0.5, process.SwitchedIn, 2, 2, 1).at(9, process.Exited, 2, 2, 1).at(10, process.Exited, 1, 1, 0)
	turns := begun().at(0, process.Forked, 2, 2, 0).at(4, process.Preempted, 1, 1, 0).at(4, process.SwitchedIn, 2, 2, 0).at(9, process.Exited, 2, 2, 0).
		at(9, process.SwitchedIn, 1, 1, 0).at(10, process.Exited, 1, 1, 0)
	for what, c := range map[string]struct {
		program noted
		told    told
		wantMs  float64
	}{
		"its server waits for 4 ms, and it for 1": {client, append(asks[:4:4],
			told{}.switched(2, 0, 0, 71, 0).switched(5, 1, 70, 50, tracepoint.Runnable).wakes(8, 1, 50, 1).switched(8.1, 1, 50, 70, tracepoint.Sleeping).
				switched(9, 0, 71, 1, tracepoint.Runnable).switched(10, 0, 1, 0, tracepoint.Ended)...), 4 + 1 + 3.1}, // the server works for 3.1 ms
		"it waits for an idle CPU, while others have another one": {client, append(blocks[:3:3],
			told{}.wakes(8, 1, 70, 1).switched(9, 0, 0, 1, tracepoint.Runnable).switched(10, 0, 1, 0, tracepoint.Ended)...), 10}, // thread 70, which woke it, had a CPU all the time
		"nobody tells who woke it after another had its CPU": {client, append(blocks[:3:3],
			told{}.switched(2, 0, 0, 71, 0).switched(9, 0, 71, 1, tracepoint.Sleeping).switched(10, 0, 1, 0, tracepoint.Ended)...), 7},
		"nobody tells who woke it on an idle CPU": {client, append(blocks[:3:3],
			told{}.switched(2, 0, 0, 71, 0).switched(7, 0, 71, 0, tracepoint.Sleeping).switched(9, 0, 0, 1, 0).switched(10, 0, 1, 0, tracepoint.Ended)...), 0},
		"its server waits, and does not wake it, since it works meanwhile": {begun().at(10, process.Exited, 1, 1, 0),
			told{}.switched(-1, 0, 0, 1, 0).switched(-1, 1, 0, 70, 0).wakes(1, 0, 1, 50).switched(5, 1, 70, 50, tracepoint.Runnable).
				switched(8, 1, 50, 0, tracepoint.Sleeping).switched(10, 0, 1, 0, tracepoint.Ended), 4 + 3},
		"its threads have a CPU each": {pair, told{}.switched(-1, 0, 0, 1, 0).event(0, 0, tracepoint.Started, 1, 2, 0).switched(0.5, 1, 0, 2, 0).
			switched(9, 1, 2, 80, tracepoint.Ended).switched(9.5, 1, 80, 0, tracepoint.Sleeping).switched(10, 0, 1, 0, tracepoint.Ended), 0},
		"the second begins late, since another has its CPU": {pair, told{}.switched(-1, 0, 0, 1, 0).switched(-1, 1, 0, 80, 0).event(0, 0, tracepoint.Started, 1, 2, 0).
			switched(0.5, 1, 80, 2, tracepoint.Runnable).switched(9, 1, 2, 0, tracepoint.Ended).switched(10, 0, 1, 0, tracepoint.Ended), 0.5},
		"its threads wait for one another, while another has a CPU since before the events begin": {turns, told{}.switched(-1, 0, 0, 1, 0).event(0, 0, tracepoint.Started, 1, 2, 0).
			switched(4, 0, 1, 2, tracepoint.Runnable).switched(9, 0, 2, 1, tracepoint.Ended).switched(9.5, 1, 80, 0, tracepoint.Sleeping).
			switched(10, 0, 1, 0, tracepoint.Ended), 9},
		"its threads wait for one another, and another CPU tells nothing": {turns, told{}.switched(-1, 0, 0, 1, 0).event(0, 0, tracepoint.Started, 1, 2, 0).
			switched(4, 0, 1, 2, tracepoint.Runnable).switched(9, 0, 2, 1, tracepoint.Ended).switched(10, 0, 1, 0, tracepoint.Ended), 9},
		// The idle thread of CPU 1 notes nothing: 80, which a thread of the kernel wakes at 6, had that CPU since then.
		"its threads wait for one another, while another is woken and runs for 2 ms": {turns, told{}.switched(-1, 0, 0, 1, 0).event(0, 0, tracepoint.Started, 1, 2, 0).
			switched(4, 0, 1, 2, tracepoint.Runnable).wakes(6, 0, 90, 80).switched(8, 1, 80, 0, tracepoint.Sleeping).switched(9, 0, 2, 1, tracepoint.Ended).
			switched(10, 0, 1, 0, tracepoint.Ended), 2},
		// The idle thread of CPU 1 notes nothing: who woke 80 is known, and when it had its CPU is not.
		"its threads wait for one another, while another runs for 1 ms": {turns, told{}.switched(-1, 0, 0, 1, 0).event(0, 0, tracepoint.Started, 1, 2, 0).
			switched(-0.5, 1, 81, 0, tracepoint.Sleeping).wakes(3, 0, 82, 80).switched(4, 0, 1, 2, tracepoint.Runnable).switched(4, 1, 80, 0, tracepoint.Sleeping).
			switched(9, 0, 2, 1, tracepoint.Ended).switched(10, 0, 1, 0, tracepoint.Ended), 1},
	} {
		run := c.program.run(10, 2)
		got, ok := follow(background, &run.Run, 2, 0, wakeupEvents{events: c.told})
		if !ok || !got.heldUpKnown || math.Abs(got.heldUpNs-c.wantMs*ms) > 1e3 {
			t.Errorf("%s: %v, %v %g ms, want %g", what, ok, got.heldUpKnown, got.heldUpNs/ms, c.wantMs)
		}
	}
}
