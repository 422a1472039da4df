package fidelity

import (
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func canStop() error { return nil }

// tieToParent makes the kernel kill the child if its parent dies, so that no stopped child remains. A
// process group of its own keeps the child from receiving the terminal's signals: only the parent
// ends it.
func tieToParent(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// stopAndContinue stops the process, waits until it has stopped, waits for ns more, and continues it
// even after an error.
func stopAndContinue(pid int, ns float64) error {
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		return fmt.Errorf("stopping it: %w", err)
	}
	stopped := waitStopped(pid)
	if stopped == nil {
		time.Sleep(time.Duration(ns))
	}
	if err := unix.Kill(pid, unix.SIGCONT); err != nil {
		return fmt.Errorf("continuing it: %w", err)
	}
	return stopped
}

// waitStopped returns when the child has stopped; it may run on for a moment after the stop
// signal was sent. It only consumes the notice of the stop, so that another wait still gets the
// child's exit status.
func waitStopped(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED, nil)
		if err == nil {
			return nil
		}
		if err != unix.EINTR {
			return fmt.Errorf("waiting until it has stopped: %w", err)
		}
	}
}
