package process

import (
	"cmp"
	"slices"

	"golang.org/x/sys/unix"
)

// left returns the processes that the program with the first process leader has started and whose end the
// kernel has not noted yet; nil if the kernel lost notes. A process whose first thread has ended counts as
// ended.
func (w *watch) left(leader int) map[int]bool {
	w.drain()
	if w.lost > 0 {
		return nil
	}
	slices.SortStableFunc(w.records, func(a, b record) int { return cmp.Compare(a.atNs, b.atNs) })
	ours, left := map[int]bool{leader: true}, map[int]bool{}
	for _, r := range w.records {
		switch first := r.tid == r.process; {
		case r.kind == Forked && ours[r.parentTID]:
			ours[r.tid] = true
			if first {
				left[r.tid] = true
			}
		case r.kind == Forked && r.tid != leader: // of another program, with the number of a thread that has ended
			delete(ours, r.tid)
			delete(left, r.tid)
		case r.kind == Executed && ours[r.tid]: // if another thread did it, the first one ended for that
			left[r.tid] = true
		case r.kind == Exited && first:
			delete(left, r.tid)
		}
	}
	delete(left, leader)
	return left
}

// mostGenerations is how often killLeft looks for processes, since they may go on starting others meanwhile.
const mostGenerations = 100

// killLeft kills the processes that an ended program has left behind, including those that have left its
// process group. By now another process may have the number of one of them. So killLeft opens a file descriptor
// for the process that has the number (pidfd_open(2), Linux 5.3 and later), and then looks at the notes once
// more. If they still hold no end of the program's process, the descriptor is that process's.
func (w *watch) killLeft(leader int) {
	if w == nil {
		return
	}
	seen := map[int]bool{}
	for range mostGenerations {
		held := map[int]int{}
		for pid := range w.left(leader) {
			if seen[pid] {
				continue
			}
			seen[pid] = true
			if fd, err := unix.PidfdOpen(pid, 0); err == nil {
				held[pid] = fd
			}
		}
		if len(held) == 0 {
			return
		}
		still := w.left(leader)
		for pid, fd := range held {
			if still[pid] {
				unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			}
			unix.Close(fd)
		}
	}
}
