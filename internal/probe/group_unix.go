//go:build unix

package probe

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the program a process group of its own, so that it is ended with
// all that it starts, and a terminal's interrupt reaches this process alone.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends the program, which is not reaped yet, and what it has started.
func endGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
