package program

import (
	"slices"

	"chronoscope/tracepoint"
)

// devoted returns the threads of other programs that worked for the program alone: a server without another client.
// shared says that threads of other programs woke those of the program, or were woken by them, and are not devoted. all
// are the wake-ups in order of time.
//
// Threads of other programs form groups: those between which there were wake-ups. A group is devoted if each of its
// threads slept until a thread woke it, the first one a thread of the program, and woke up each later time because a
// thread of the program or of the group woke it. A thread that an interrupt or the kernel woke may have got work from
// elsewhere, and so may one that woke up by no event: some kernels note nothing of what woke a thread on an idle CPU.
func (w *wakeups) devoted(e wakeupEvents, all []waking) (devoted map[int32]bool, shared bool) {
	watching, firstRan := e.watching(), w.firstActive()
	group := map[int32]int32{} // a forest: each thread's parent, or itself
	var root func(id int32) int32
	root = func(id int32) int32 {
		if parent, ok := group[id]; !ok || parent == id {
			group[id] = id
			return id
		}
		group[id] = root(group[id])
		return group[id]
	}
	wokenAt, others, touched := map[int32][]float64{}, map[int32]bool{}, map[int32]bool{}
	for _, k := range all {
		id, by := k.thread, k.waker.Thread
		byThread := k.waker.Source == tracepoint.ByThread && !watching[by] && !e.kernel[by]
		byProgram := byThread && w.named(by, k.atNs) != nil
		if w.named(id, k.atNs) != nil {
			if byThread && !byProgram {
				touched[by] = true
			}
			continue
		}
		if watching[id] || e.kernel[id] {
			continue
		}
		wokenAt[id] = append(wokenAt[id], k.atNs)
		switch root(id); {
		case !byThread:
			others[id] = true
		case byProgram:
			touched[id] = true
		default:
			group[root(id)] = root(by)
		}
	}
	for id := range touched {
		root(id) // it may have woken nobody else
	}
	spoiled := map[int32]bool{}
	for id := range group {
		if at, ran := firstRan[id]; others[id] || len(wokenAt[id]) == 0 || ran && at < wokenAt[id][0]-earlyNs || w.wokeUnseen(id, wokenAt[id]) {
			spoiled[root(id)] = true
		}
	}
	devoted = map[int32]bool{}
	for id := range group {
		if !spoiled[root(id)] {
			devoted[id] = true
		}
		shared = shared || touched[id] && !devoted[id]
	}
	return devoted, shared
}

// firstActive returns when each thread was first seen to have a CPU.
func (w *wakeups) firstActive() map[int32]float64 {
	first := map[int32]float64{}
	note := func(id int32, ns float64) {
		if at, ok := first[id]; !ok || ns < at {
			first[id] = ns
		}
	}
	for _, turns := range w.turns {
		for _, t := range turns {
			note(t.thread, t.atNs)
		}
	}
	for id, left := range w.leavings {
		note(id, left[0].atNs)
	}
	return first
}

// wokeUnseen reports whether a thread gave up its CPU, and had one again later, though nothing woke it in between.
func (w *wakeups) wokeUnseen(id int32, wokenAt []float64) bool {
	left := w.leavings[id]
	for i := 1; i < len(left); i++ {
		if left[i-1].state == tracepoint.Runnable {
			continue
		}
		from, to := left[i-1].atNs-earlyNs, left[i].atNs
		if j, _ := slices.BinarySearch(wokenAt, from); j == len(wokenAt) || wokenAt[j] > to {
			return true
		}
	}
	return false
}
