package process

import (
	"cmp"
	"slices"

	"golang.org/x/sys/unix"
)

// left are the processes that a program has started, leader, and whose end the kernel has not
// noted by now; none where it could not note all. One whose first thread has ended counts as
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
		case r.kind == Executed && ours[r.tid]: // by another thread: the first had to end for that
			left[r.tid] = true
		case r.kind == Exited && first:
			delete(left, r.tid)
		}
	}
	delete(left, leader)
	return left
}

// mostGenerations bounds how often what a program has left is looked for, since it may go on
// starting processes meanwhile.
const mostGenerations = 100

// killLeft ends what a program that has ended has left behind, also what has left its process
// group. The number of a process may be another's by now. So whoever has it is held by a file
// descriptor (pidfd_open(2), Linux 5.3 and later) before the notes are asked once more: where
// they still hold no end of the program's process, that is the one which is held.
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
