//go:build linux && (amd64 || arm64)

package clock

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tried is nil where the instruction works on this thread, and the reason why
// not otherwise; the note says what the answer rests on where that is less
// than a trial. The trial is made once, and the kernel asked each time, since the
// counter may have been disabled meanwhile. Who has it disabled while a clock is
// open still dies of the next reading.
func tried(i instruction) (note string, err error) {
	if note, err = outcomes[i](); err != nil {
		return "", err
	}
	return note, untried(i)
}

var outcomes = func() (once [instructionCount]func() (string, error)) {
	for i := range instructionCount {
		once[i] = sync.OnceValues(func() (string, error) { return try(i) })
	}
	return once
}()

func try(i instruction) (note string, err error) {
	if err := lacks(i); err != nil {
		return "", err
	}
	status, err := runTrial(i, false)
	if err != nil {
		return fmt.Sprintf(", untried (%v)", err), nil
	}
	return "", judge(i, status)
}

// judge reads the end of a child that ran the instruction.
func judge(i instruction, status unix.WaitStatus) error {
	switch {
	case status.Exited() && status.ExitStatus() == 0:
		return nil
	case status.Signaled() && status.Signal() == unix.SIGSEGV:
		return disabled(i)
	case status.Signaled() && status.Signal() == unix.SIGILL:
		return illegal(i)
	case status.Signaled():
		return &Unavailable{
			Reason: Trapped,
			Detail: fmt.Sprintf("%s in a child process ended in %v", i, status.Signal()),
			Remedy: "look for a sandbox or hypervisor that forbids the instruction",
		}
	}
	return &Unavailable{
		Reason: Trapped,
		Detail: fmt.Sprintf("the child process that tried %s ended with status %#x", i, uint32(status)),
	}
}

func disabled(i instruction) error {
	return &Unavailable{
		Reason: DisabledForProcess,
		Detail: fmt.Sprintf("%s ends in SIGSEGV: a process above this one disabled it with prctl(PR_SET_TSC)", i),
		Remedy: "start the program outside of that sandbox, or call prctl(PR_SET_TSC, PR_TSC_ENABLE) before it starts",
	}
}

// illegal tells a missing instruction from a trapped one: every processor of
// arm64 has the virtual counter, so that there somebody traps it.
func illegal(i instruction) error {
	reason := NoInstruction
	if i == instructionCNTVCT {
		reason = Trapped
	}
	return &Unavailable{
		Reason: reason,
		Detail: fmt.Sprintf("%s in a child process ended in SIGILL", i),
		Remedy: "on a virtual machine, let the host pass the instruction on",
	}
}

// untried decides without a child, from what the kernel says of this thread; a
// kernel that can't say can't disable either.
func untried(i instruction) error {
	var mode int32
	if err := unix.Prctl(unix.PR_GET_TSC, uintptr(unsafe.Pointer(&mode)), 0, 0, 0); err != nil {
		return nil
	}
	return permitted(i, mode)
}

func permitted(i instruction, mode int32) error {
	if mode == unix.PR_TSC_SIGSEGV {
		return disabled(i)
	}
	return nil
}

// runTrial makes a child that runs the instruction and exits, and waits for
// it. With disable the child first forbids itself the counter. An error means
// that the system refused the child.
func runTrial(i instruction, disable bool) (unix.WaitStatus, error) {
	pid, err := forkTrial(i, disable)
	if err != nil {
		return 0, fmt.Errorf("clone(2) of a child that tries %s: %w", i, err)
	}
	var status unix.WaitStatus
	for {
		// A child without an exit signal is seen with __WALL only.
		_, err := unix.Wait4(pid, &status, unix.WALL, nil)
		if err != unix.EINTR {
			return status, err
		}
	}
}

// forkTrial makes the child. All signals are blocked meanwhile, so that none
// runs a Go signal handler in the child. It announces its end with no signal:
// the host program sees no SIGCHLD, and a wait for any child does not find it.
// User emulators refuse such a child; they get one that sends SIGCHLD.
func forkTrial(i instruction, disable bool) (pid int, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, old unix.Sigset_t
	for word := range all.Val {
		all.Val[word] = ^all.Val[word]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &old); err != nil {
		return 0, err
	}
	defer unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	answer := cloneTrial(i, disable, 0)
	if answer == -int(unix.EINVAL) {
		answer = cloneTrial(i, disable, int(unix.SIGCHLD))
	}
	if answer < 0 {
		return 0, unix.Errno(-answer)
	}
	return answer, nil
}

// cloneTrial clones the process. In the parent it is the child's process ID,
// or a negative error number; in the child it does not return. The child shares
// no memory with the parent, since it makes itself undumpable, which is a
// property of the memory, and dies of a signal that could write a core file.
//
//go:noescape
func cloneTrial(i instruction, disable bool, exitSignal int) int
