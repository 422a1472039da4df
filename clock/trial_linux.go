//go:build linux && (amd64 || arm64)

package clock

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tried returns nil if the instruction works on this thread, and otherwise the reason why it does
// not. If no trial was possible, note says what the answer rests on instead. The trial is made
// once, but the kernel is asked each time, because the counter may have been disabled meanwhile.
// If the counter is disabled while a clock is open, the next reading still ends the process.
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

// judge returns the reason that the exit status of a child that ran the instruction shows.
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

// illegal returns the error for SIGILL: the instruction is missing or trapped. It is trapped on
// arm64, where every processor has the virtual counter.
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

// untried judges without a child, by what the kernel says about this thread. A kernel that can't say
// whether the counter is disabled for a thread can't disable it either.
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

// runTrial makes a child that runs the instruction and exits, and waits for it. If disable is
// set, the child first disables the counter for itself. An error means that the system refused
// to make the child.
func runTrial(i instruction, disable bool) (unix.WaitStatus, error) {
	pid, err := forkTrial(i, disable)
	if err != nil {
		return 0, fmt.Errorf("clone(2) of a child that tries %s: %w", i, err)
	}
	var status unix.WaitStatus
	for {
		// wait4 finds a child without an exit signal only with __WALL.
		_, err := unix.Wait4(pid, &status, unix.WALL, nil)
		if err != unix.EINTR {
			return status, err
		}
	}
}

// CounterCanBeDisabled reports whether a process that disables the processor's counter for itself
// (PR_SET_TSC, prctl(2)) is stopped when it reads the counter. Some hypervisors let it read on, though
// the kernel accepts the setting. A child tries it, once. If no child can be made, the answer is true.
var CounterCanBeDisabled = sync.OnceValue(func() bool {
	counter := instructionRDTSC
	if runtime.GOARCH == "arm64" {
		counter = instructionCNTVCT
	}
	status, err := runTrial(counter, true)
	return err != nil || status.Signaled() && status.Signal() == unix.SIGSEGV
})

// forkTrial makes the child. It blocks all signals meanwhile, so that no Go signal handler runs
// in the child. The child sends no signal at its end, so that the host program gets no SIGCHLD,
// and a wait for any child does not find it. User-mode emulators refuse to make such a child; for
// them the child sends SIGCHLD.
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

// cloneTrial clones the process. In the parent it returns the child's process ID, or a negative
// error number; in the child it does not return. The child makes itself undumpable, so that its
// death by a signal writes no core file. Because that is a property of its memory, the child
// shares no memory with the parent.
//
//go:noescape
func cloneTrial(i instruction, disable bool, exitSignal int) int
