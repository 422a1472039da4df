package machine

import (
	"errors"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A request leaves the thread's policy and niceness as they are.
func TestAskForTurns(t *testing.T) {
	runtime.LockOSThread() // it is never unlocked: the thread ends with the goroutine
	before, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		t.Skip(err)
	}
	nice := min(before.Nice+3, 19) // every user may raise the niceness
	if err := unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), int(nice)); err != nil {
		t.Fatal(err)
	}
	usual, err := AskForTurns(LongTurns)
	if err != nil {
		t.Skip(err)
	}
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || attr.Policy != unix.SCHED_NORMAL || attr.Nice != nice {
		t.Errorf("%+v, %v", attr, err)
	}
	if runtimeNs := attr.Runtime; runtimeNs != 0 && runtimeNs != uint64(LongTurns) { // 0 on kernels that ignore the request
		t.Errorf("asked for %v, got %d ns", LongTurns, runtimeNs)
	}
	if last, err := AskForTurns(usual); err != nil || last != 0 && last != LongTurns {
		t.Errorf("%v, %v", last, err)
	}
	if attr, err := unix.SchedGetAttr(0, 0); err != nil || attr.Nice != nice || attr.Runtime != uint64(usual) {
		t.Errorf("%+v, %v", attr, err)
	}
}

// A thread of another policy keeps its policy.
func TestAskForTurnsOfAnIdleThread(t *testing.T) {
	runtime.LockOSThread()
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0); err != nil {
		t.Skip(err)
	}
	var refused *UnsupportedError
	if _, err := AskForTurns(LongTurns); !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
	if attr, err := unix.SchedGetAttr(0, 0); err != nil || attr.Policy != unix.SCHED_IDLE {
		t.Errorf("%+v, %v", attr, err)
	}
}
