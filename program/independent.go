package program

import (
	"math"
	"slices"

	"chronoscope/tracepoint"
)

// findIndependent finds the threads of other programs that are active of their own accord, such as another client of a
// server: each ran, or was woken, before the program woke it, directly or through others. It notes when a server worked
// for one of these, since what the server does then need not follow from the program until the program wakes it again.
// all are the wake-ups in order of time.
func (w *wakeups) findIndependent(e wakeupEvents, all []waking) {
	watching, processes, ranFrom := e.watching(), e.processes(), w.ranFrom()
	linked, independent := map[int32]bool{}, map[int32]bool{}
	for _, k := range all {
		id, by := k.thread, k.waker.Thread
		ours := w.named(id, k.atNs) != nil
		if k.atNs < 0 || watching[id] || e.kernel[id] {
			continue
		}
		if k.waker.Source != tracepoint.ByThread || e.kernel[by] {
			independent[id] = independent[id] || !ours && !linked[id]
			continue
		}
		byOurs := w.named(by, k.atNs) != nil
		independent[by] = independent[by] || !byOurs && !linked[by]
		switch first, ran := ranFrom[id]; {
		case ours || watching[by]:
		case byOurs:
			linked[id] = true
		case !linked[by]:
			linked[id], independent[id] = false, true
		case independent[id], ran && first < k.atNs && !linked[id]:
			independent[id] = true
			if l := w.foreign[by]; l != nil && processes[by] != processes[id] {
				l.servedNs = append(l.servedNs, k.atNs)
			}
		default:
			linked[id] = true
		}
	}
	for id, l := range w.foreign {
		l.independent = independent[id]
	}
}

// processes returns the processes of all threads that were active.
func (e wakeupEvents) processes() map[int32]int32 {
	all := map[int32]int32{}
	for _, x := range e.events {
		all[x.Thread] = x.Process
	}
	return all
}

// ranFrom returns when each thread first had a CPU after the program's exec.
func (w *wakeups) ranFrom() map[int32]float64 {
	first := map[int32]float64{}
	for _, turns := range w.turns {
		for i, t := range turns {
			if i+1 < len(turns) && turns[i+1].atNs <= 0 {
				continue
			}
			at := math.Max(0, t.atNs)
			if ns, ok := first[t.thread]; !ok || at < ns {
				first[t.thread] = at
			}
		}
	}
	return first
}

// served reports whether the thread worked for an independent one between two times.
func (l *line) served(from, to float64) bool {
	i, _ := slices.BinarySearch(l.servedNs, from)
	return i < len(l.servedNs) && l.servedNs[i] <= to
}
