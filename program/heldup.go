package program

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/tracepoint"
)

// interval is a time between two moments.
type interval struct{ from, to float64 }

// heldUpNs bounds the time for which others can have delayed a program that took wallNs: a thread of it, or one that
// may work for it, could have run and did not, while another program had a CPU. workedNs is the time for which those
// that may work for it had CPUs. all are the wake-ups in order of time.
func (w *wakeups) heldUpNs(e wakeupEvents, all []waking, wallNs float64) (ns, workedNs float64) {
	workers := w.mayWorkForIt(e, all)
	waits := w.waitsOf(workers)
	for _, l := range w.order {
		for _, x := range l.spans {
			switch {
			case x.state == kept:
				waits = append(waits, interval{x.from, x.to})
			case x.state == blocked && x.wake == nil: // who ended it is not known, nor when
				waits = append(waits, interval{w.busySince(x), x.to})
			}
		}
	}
	var others, worked []interval
	for _, turns := range w.turns {
		for i, t := range turns {
			if t.thread == 0 || t.thread != unknownThread && w.named(t.thread, t.atNs) != nil {
				continue
			}
			x := interval{t.atNs, math.Inf(1)}
			if i+1 < len(turns) {
				x.to = turns[i+1].atNs
			}
			if others = append(others, x); workers[t.thread] {
				worked = append(worked, x)
			}
		}
	}
	whole := []interval{{0, wallNs}}
	ns, workedNs = sumNs(overlap(overlap(union(waits), union(others)), whole)), sumNs(overlap(union(worked), whole))
	// Several threads may go on while one of them waits for another program, which may work for others then.
	if len(w.order) > 1 {
		ns += workedNs
	}
	return ns, workedNs
}

// mayWorkForIt returns the threads of other programs that may work for the program: they woke its threads, or were
// woken by them, directly or through one another. This process is woken to watch it.
func (w *wakeups) mayWorkForIt(e wakeupEvents, all []waking) map[int32]bool {
	workers, watching := map[int32]bool{}, map[int32]bool{}
	for id := range w.foreign {
		workers[id] = true
	}
	for _, x := range e.events {
		if x.Process == e.watcher {
			watching[x.Thread] = true
		}
	}
	for _, k := range all {
		by := k.waker.Thread
		woken := k.atNs >= 0 && k.waker.Source == tracepoint.ByThread && (workers[by] || w.named(by, k.atNs) != nil)
		if woken && !watching[k.thread] && w.named(k.thread, k.atNs) == nil {
			workers[k.thread] = true
		}
	}
	return workers
}

// waitsOf returns when these threads could have run and had no CPU.
func (w *wakeups) waitsOf(threads map[int32]bool) (waits []interval) {
	starts := map[int32][]float64{}
	for _, turns := range w.turns {
		for _, t := range turns {
			if threads[t.thread] {
				starts[t.thread] = append(starts[t.thread], t.atNs)
			}
		}
	}
	for id := range threads {
		slices.Sort(starts[id])
		until := func(ns float64) {
			to := math.Inf(1)
			if i, _ := slices.BinarySearch(starts[id], ns); i < len(starts[id]) {
				to = starts[id][i]
			}
			waits = append(waits, interval{ns, to})
		}
		left := w.leavings[id]
		for _, x := range left {
			if x.state == tracepoint.Runnable {
				until(x.atNs)
			}
		}
		for _, k := range w.wakings[id] {
			if !w.hasTurn(id, k.atNs) {
				until(k.atNs)
			} else if i, _ := slices.BinarySearchFunc(left, k.atNs, byLeaving); i < len(left) && left[i].atNs <= k.atNs+earlyNs {
				until(left[i].atNs) // woken while it gave up its CPU
			}
		}
	}
	return waits
}

func byLeaving(x leaving, ns float64) int { return cmp.Compare(x.atNs, ns) }

// hasTurn tells whether a thread had a CPU.
func (w *wakeups) hasTurn(id int32, ns float64) bool {
	for cpu := range w.turns {
		if t, ok := w.turnBefore(cpu, ns); ok && t.thread == id {
			return true
		}
	}
	return false
}

// busySince returns since when, in a block, threads had had the CPU that the blocked one got, one after the other.
func (w *wakeups) busySince(x span) float64 {
	turns := w.turns[int32(x.next)]
	i, _ := slices.BinarySearchFunc(turns, x.to, func(t turn, ns float64) int { return cmp.Compare(t.atNs, ns) })
	since := x.to
	for i--; i >= 0 && turns[i].thread != 0 && since > x.from; i-- {
		since = math.Max(x.from, turns[i].atNs)
	}
	return since
}

// union returns the times in which any of these is, in order.
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

// overlap returns the times that are in both, which are in order.
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

// sumNs is how long intervals are together.
func sumNs(all []interval) (ns float64) {
	for _, x := range all {
		ns += x.to - x.from
	}
	return ns
}
