package program

import (
	"testing"

	"chronoscope/process"
	"chronoscope/stats"
	"chronoscope/tracepoint"
)

// Which threads of other programs worked for the program alone. Thread 1 is the program, 90 one of the kernel.
func TestDevoted(t *testing.T) {
	run := begun().at(1, process.Blocked, 1, 1, 0).at(9, process.SwitchedIn, 1, 1, 0).at(10, process.Exited, 1, 1, 0).run(10, 2)
	begin := told{}.switched(-1, 0, 0, 1, 0).switched(-1, 1, 70, 0, tracepoint.Sleeping)
	asks := func(t told) told { return t.wakes(1, 0, 1, 50).switched(1, 1, 0, 50, 0) }
	interrupt := func(t told, atMs float64, context tracepoint.Context, thread int32) told {
		t = t.event(atMs, 1, tracepoint.Waking, 0, thread, 0)
		t[len(t)-1].Context = context
		return t
	}
	for what, c := range map[string]struct {
		told         told
		want, shared bool
	}{
		"a server":                                {asks(begin).wakes(8, 1, 50, 1).switched(9, 1, 50, 0, tracepoint.Sleeping), true, false},
		"a server that starts a thread":           {asks(begin).event(2, 1, tracepoint.Started, 50, 51, 0).switched(3, 1, 50, 51, tracepoint.Sleeping).switched(9, 1, 51, 0, tracepoint.Sleeping), true, false},
		"a server that is asked twice":            {asks(begin).switched(2, 1, 50, 0, tracepoint.Sleeping).wakes(5, 0, 1, 50).switched(6, 1, 50, 0, tracepoint.Sleeping), true, false},
		"it computed before it was woken":         {begin.switched(0, 1, 0, 50, 0).switched(0.5, 1, 50, 0, tracepoint.Sleeping).wakes(1, 0, 1, 50).switched(9, 1, 50, 0, tracepoint.Sleeping), false, true},
		"it had a CPU before the events begin":    {told{}.switched(-1, 0, 0, 1, 0).switched(0.5, 1, 50, 0, tracepoint.Sleeping).wakes(1, 0, 1, 50).switched(9, 1, 50, 0, tracepoint.Sleeping), false, true},
		"a packet wakes it, and it wakes another": {interrupt(asks(begin).switched(2, 1, 50, 0, tracepoint.Sleeping), 3, tracepoint.InSoftirq, 50).wakes(3.1, 1, 50, 51).switched(4, 1, 50, 51, tracepoint.Sleeping).switched(9, 1, 51, 0, tracepoint.Sleeping), false, true},
		"a timer wakes it, and it wakes another":  {interrupt(asks(begin).switched(2, 1, 50, 0, tracepoint.Sleeping), 3, tracepoint.InInterrupt, 50).wakes(3.1, 1, 50, 51).switched(4, 1, 50, 51, tracepoint.Sleeping).switched(9, 1, 51, 0, tracepoint.Sleeping), false, true},
		"the kernel wakes it":                     {asks(begin).switched(2, 1, 50, 90, tracepoint.Sleeping).wakes(3, 1, 90, 50).switched(3, 1, 90, 50, tracepoint.Sleeping).switched(9, 1, 50, 0, tracepoint.Sleeping), false, true},
		"it wakes by no event":                    {asks(begin).switched(2, 1, 50, 0, tracepoint.Sleeping).switched(9, 1, 50, 0, tracepoint.Sleeping), false, true},
		"it answers one that ran on its own":      {asks(begin.switched(0, 1, 0, 60, 0).switched(0.5, 1, 60, 0, tracepoint.Sleeping)).wakes(8, 1, 50, 60).switched(9, 1, 50, 60, tracepoint.Sleeping), false, true},
		"two that have nothing to do with it":     {begin.switched(1, 1, 0, 60, 0).wakes(2, 1, 60, 61).switched(3, 1, 60, 61, tracepoint.Sleeping).switched(4, 1, 61, 0, tracepoint.Sleeping), false, false},
	} {
		e := wakeupEvents{events: append(c.told[:len(c.told):len(c.told)], told{}.switched(10, 0, 1, 0, tracepoint.Ended)...), kernel: map[int32]bool{90: true}}
		got, ok := follow(background, &run.Run, 2, 0, e)
		if !ok || got.devoted != c.want || got.shared != c.shared {
			t.Errorf("%s: %v, devoted %v, shared %v", what, ok, got.devoted, got.shared)
		}
	}
}

// If a server worked for the program alone in some runs only, it may have had another client in all of them.
func TestServersOfOthers(t *testing.T) {
	for _, c := range []struct {
		shared int
		want   stats.Verdict
	}{{0, stats.Trusted}, {1, stats.Trusted}, {2, stats.Suspect}} {
		k := &conclusion{Result: &Result{Judgement: stats.NewJudgement()}, plan: DefaultPlan}
		k.Estimate.Value = 10 * ms
		for i := range 20 {
			r := &Run{}
			r.traced.devoted, r.traced.shared, r.traced.workedForNs = i >= c.shared, i < c.shared, 5*ms
			k.used = append(k.used, r)
		}
		if k.judgeDevoted(); k.Verdict != c.want {
			t.Errorf("shared in %d of 20 runs: %s", c.shared, k.Verdict)
		}
	}
}
