package program

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/tracepoint"
)

// interval is the time between two moments.
type interval struct{ from, to float64 }

// threadWait is a time in which a thread could have run and had no CPU.
type threadWait struct {
	interval
	thread int32
}

// heldUp bounds the time for which others can have delayed a program that took wallNs. This is the sum of two times:
// one in which a thread could have run and did not, while another program had a CPU; and one in which a thread had a
// CPU that may work for the program, since it may have worked for others. The first thread may belong to another
// program, since the program may wait for it. workedNs is the time for which threads of other programs that are known
// to work for the program had CPUs. workersKept are the times at which a thread that may work for the program could
// have run and had no CPU. all are the wake-ups in order of time.
func (w *wakeups) heldUp(e wakeupEvents, all []waking, wallNs float64, cpus int) (ns, workedNs float64, workersKept []interval) {
	watching := e.watching()
	known, possible := w.workers(all, watching, false), w.workers(all, watching, true)
	var waits []interval
	for _, x := range w.waitsOfOthers(e, all, watching) {
		waits = append(waits, x.interval)
		if possible[x.thread] {
			workersKept = append(workersKept, x.interval)
		}
	}
	for _, l := range w.order {
		for _, x := range l.spans {
			switch {
			case x.state == kept:
				waits = append(waits, interval{x.from, x.to})
			case x.state == blocked && x.wake == nil: // who ended it, and when, is not known
				waits = append(waits, interval{w.busySince(x), x.to})
			}
		}
	}
	var others, worked, mayHaveWorked []interval
	for _, turns := range w.turns {
		for i, t := range turns {
			if t.thread == 0 || t.thread != unknownThread && w.named(t.thread, t.atNs) != nil {
				continue
			}
			x := interval{t.atNs, math.Inf(1)}
			if i+1 < len(turns) {
				x.to = turns[i+1].atNs
			}
			others = append(others, x)
			if known[t.thread] {
				worked = append(worked, x)
			}
			if possible[t.thread] {
				mayHaveWorked = append(mayHaveWorked, x)
			}
		}
	}
	whole := []interval{{0, wallNs}}
	if len(w.turns) < cpus { // a CPU without a switch: a thread may have had it all the time
		others = append(others, whole...)
	}
	ns, workedNs = sumNs(overlap(overlap(union(waits), union(others)), whole)), sumNs(overlap(union(worked), whole))
	// A thread that may work for the program while the program goes on may also work for others in that time.
	return ns + sumNs(overlap(union(mayHaveWorked), whole)), workedNs, union(workersKept)
}

// workers returns the threads of other programs that work for the program: they woke its threads or were woken by them,
// directly or through others. With possible, it adds threads that the network woke, since the sender of what came is
// not known, and those woken by these. Threads of this process that are only woken to watch the program are left out.
func (w *wakeups) workers(all []waking, watching map[int32]bool, possible bool) map[int32]bool {
	workers := map[int32]bool{}
	for id := range w.foreign {
		workers[id] = true
	}
	for _, k := range all {
		var woken bool
		switch by := k.waker.Thread; k.waker.Source {
		case tracepoint.ByThread:
			woken = workers[by] || w.named(by, k.atNs) != nil
		case tracepoint.ByNetwork:
			woken = possible
		}
		if woken && k.atNs >= 0 && !watching[k.thread] && w.named(k.thread, k.atNs) == nil {
			workers[k.thread] = true
		}
	}
	return workers
}

// watching returns the threads of this process.
func (e wakeupEvents) watching() map[int32]bool {
	all := map[int32]bool{}
	for _, x := range e.events {
		if x.Process == e.watcher {
			all[x.Thread] = true
		}
	}
	return all
}

// waitsOfOthers returns when threads of other programs could have run and had no CPU. It leaves out threads that the
// program does not wait for: those that neither woke a thread nor were woken, such as an endless loop, and those of
// this process, which waits for the program, unless they wake its threads, for example by reading its output.
func (w *wakeups) waitsOfOthers(e wakeupEvents, all []waking, watching map[int32]bool) (waits []threadWait) {
	starts, ready, active := map[int32][]float64{}, map[int32][]float64{}, map[int32]bool{}
	for _, k := range all {
		active[k.thread] = true
		if k.waker.Source == tracepoint.ByThread {
			active[k.waker.Thread] = true
		}
	}
	for _, turns := range w.turns {
		for _, t := range turns {
			starts[t.thread] = append(starts[t.thread], t.atNs)
		}
	}
	for id, left := range w.leavings {
		for _, x := range left {
			if x.state == tracepoint.Runnable {
				ready[id] = append(ready[id], x.atNs)
			}
		}
	}
	for id, wakings := range w.wakings {
		left := w.leavings[id]
		for _, k := range wakings {
			if !w.hasTurn(id, k.atNs) {
				ready[id] = append(ready[id], k.atNs)
			} else if i, _ := slices.BinarySearchFunc(left, k.atNs, byLeaving); i < len(left) && left[i].atNs <= k.atNs+earlyNs {
				ready[id] = append(ready[id], left[i].atNs) // woken as it gave up its CPU
			}
		}
	}
	for _, x := range e.events {
		if x.Kind == tracepoint.Started {
			active[x.Other] = true
			ready[x.Other] = append(ready[x.Other], e.at(x.AtNs))
		}
	}
	for id, from := range ready {
		if id == 0 || !active[id] || watching[id] && w.foreign[id] == nil {
			continue
		}
		slices.Sort(starts[id])
		for _, ns := range from {
			if w.named(id, ns) != nil {
				continue
			}
			to := math.Inf(1)
			if i, _ := slices.BinarySearch(starts[id], ns); i < len(starts[id]) {
				to = starts[id][i]
			}
			waits = append(waits, threadWait{interval{ns, to}, id})
		}
	}
	return waits
}

func byLeaving(x leaving, ns float64) int { return cmp.Compare(x.atNs, ns) }

// hasTurn reports whether a thread had a CPU at a time.
func (w *wakeups) hasTurn(id int32, ns float64) bool {
	for cpu := range w.turns {
		if t, ok := w.turnBefore(cpu, ns); ok && t.thread == id {
			return true
		}
	}
	return false
}

// busySince returns the time, within a block, since which the CPU that the thread got at the block's end was not idle.
func (w *wakeups) busySince(x span) float64 {
	turns := w.turns[int32(x.next)]
	i, _ := slices.BinarySearchFunc(turns, x.to, func(t turn, ns float64) int { return cmp.Compare(t.atNs, ns) })
	since := x.to
	for i--; i >= 0 && turns[i].thread != 0 && since > x.from; i-- {
		since = math.Max(x.from, turns[i].atNs)
	}
	return since
}

// union merges intervals that overlap. It returns separate intervals in order.
func union(all []interval) (merged []interval) {
	slices.SortFunc(all, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	for _, x := range all {
		if n := len(merged); n > 0 && x.from <= merged[n-1].to {
			merged[n-1].to = math.Max(merged[n-1].to, x.to)
		} else if x.to > x.from {
			merged = append(merged, x)
		}
	}
	return merged
}

// overlap returns the times that are in both a and b. Each has to hold separate intervals in order.
func overlap(a, b []interval) (both []interval) {
	for len(a) > 0 && len(b) > 0 {
		if x := (interval{math.Max(a[0].from, b[0].from), math.Min(a[0].to, b[0].to)}); x.to > x.from {
			both = append(both, x)
		}
		if a[0].to < b[0].to {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return both
}

// sumNs returns the total length of the intervals.
func sumNs(all []interval) (ns float64) {
	for _, x := range all {
		ns += x.to - x.from
	}
	return ns
}
