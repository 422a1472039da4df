package program

import (
	"context"
	"math"
	"testing"

	"chronoscope/process"
)

// Whoever starts a program gets its CPU back for a moment at the program's exec. This costs the program nothing but
// the wait: it has nothing in the caches yet, and no timer interrupted it. A switch amid its work costs more.
func TestPreemptionAtTheBegin(t *testing.T) {
	for _, c := range []struct {
		afterMs float64
		count   int
	}{{0.005, 0}, {0.045, 0}, {0.5, 1}} {
		events := begun().at(c.afterMs, process.Preempted, 1, 1, 0).at(c.afterMs+0.2, process.SwitchedIn, 1, 1, 0).at(10.2, process.Exited, 1, 1, 0)
		run := events.run(10.2, 10, process.Thread{ID: 1, CPUNs: 10 * ms, WaitNs: 0.2 * ms, ReadNs: 10.2 * ms})
		way, ok := follow(context.Background(), &run.Run, 2, math.Inf(1), wakeupEvents{})
		if !ok || way.low.preemptions != c.count || way.high.preemptions != c.count || way.preemptions != c.count {
			t.Errorf("after %v ms: %d, %d and %d preemptions, %d expected (%v)", c.afterMs, way.low.preemptions, way.high.preemptions, way.preemptions, c.count, ok)
		}
		if math.Abs(way.low.atNs-10*ms) > 1 || math.Abs(way.high.atNs-10*ms) > 1 {
			t.Errorf("after %v ms: it takes %v to %v, 10 ms expected", c.afterMs, way.low.atNs, way.high.atNs)
		}
	}
}

// Two threads of a program share a CPU. What the one takes from the other belongs to the program's own time; what
// another program takes does not. Other programs ran where the second thread begins later.
func TestPreemptionByAnotherThread(t *testing.T) {
	for _, c := range []struct {
		afterMs float64
		count   int
	}{{0.002, 0}, {0.1, 1}} {
		events := begun().at(1, process.Forked, 2, 1, 1).at(1.5, process.SwitchedIn, 2, 1, 1).
			at(2, process.Blocked, 2, 1, 1).
			at(5, process.Preempted, 1, 1, 0).at(5+c.afterMs, process.SwitchedIn, 2, 1, 0).
			at(7, process.Exited, 2, 1, 0).at(7.002, process.SwitchedIn, 1, 1, 0).at(12, process.Exited, 1, 1, 0)
		run := events.run(12, 12, process.Thread{ID: 1, CPUNs: 10 * ms, WaitNs: 2 * ms, ReadNs: 12 * ms})
		way, ok := follow(context.Background(), &run.Run, 1, math.Inf(1), wakeupEvents{})
		if !ok || way.preemptions != c.count || way.low.preemptions != c.count {
			t.Errorf("after %v ms: %d preemptions, and %d on its way, %d expected (%v)", c.afterMs, way.preemptions, way.low.preemptions, c.count, ok)
		}
	}
}
