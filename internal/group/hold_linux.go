package group

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mostHeld bounds how many processes are looked for, since a program may start others
// meanwhile.
const mostHeld = 1000

// hold takes hold of a process's descendants by file descriptors (pidfd_open(2), Linux 5.3 and
// later), so that a number which is another process's by the time of end does no harm.
func hold(pid int) (end func()) {
	var held []int
	for queue := []int{pid}; len(queue) > 0 && len(held) < mostHeld; queue = queue[1:] {
		for _, child := range children(queue[0]) {
			fd, err := unix.PidfdOpen(child, 0)
			if err != nil {
				continue
			}
			if !slices.Contains(children(queue[0]), child) { // it has ended, and the number may be another's
				unix.Close(fd)
				continue
			}
			held, queue = append(held, fd), append(queue, child)
		}
	}
	return func() {
		for _, fd := range held {
			unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			unix.Close(fd)
		}
	}
}

// children are the processes that a process has started and not yet waited for
// (/proc/PID/task/TID/children, proc(5)).
func children(pid int) (all []int) {
	tasks := fmt.Sprintf("/proc/%d/task", pid)
	threads, _ := os.ReadDir(tasks)
	for _, thread := range threads {
		text, _ := os.ReadFile(tasks + "/" + thread.Name() + "/children")
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}
