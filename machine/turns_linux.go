package machine

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// AskForTurns asks the scheduler to let the calling thread, and those that it starts from now
// on, run for the time d without interruption when others want its CPU. The thread's share of the
// CPU does not change. No rights are needed. The goroutine has to be locked to its thread.
//
// AskForTurns returns the time that the thread asked for before, or the kernel's default. A kernel that ignores
// the request returns no error. An error says that the thread is not an ordinary one, or that the system
// forbids the request.
func AskForTurns(d time.Duration) (before time.Duration, err error) {
	const what = "asking for longer time slices"
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return 0, fmt.Errorf("%s: sched_getattr: %w", what, err)
	}
	if attr.Policy != unix.SCHED_NORMAL && attr.Policy != unix.SCHED_BATCH {
		return 0, &UnsupportedError{
			Operation: what,
			Reason:    fmt.Sprintf("the thread has the scheduling policy %d, which has other rules", attr.Policy),
			Remedy:    "start it with the ordinary policy (chrt --other 0)",
		}
	}
	before = time.Duration(attr.Runtime)
	attr.Runtime, attr.Deadline, attr.Period = uint64(d), 0, 0
	if err := unix.SchedSetAttr(0, attr, 0); err != nil {
		return 0, fmt.Errorf("%s: sched_setattr: %w", what, err)
	}
	return before, nil
}
