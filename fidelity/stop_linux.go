package fidelity

import (
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func canStop() error { return nil }

// tieToParent lets the kernel kill the child where its parent dies, so that none
// stays behind stopped. A group of its own keeps it from the terminal's signals:
// the parent decides when it ends.
func tieToParent(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// stopAndContinue stops the process, waits until it has stopped and then for ns,
// and continues it in any case.
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

// waitStopped returns when the child has stopped, which a signal that was sent
// does not say. That takes the news of the stop only: the child's end is left to
// those who wait for it.
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
