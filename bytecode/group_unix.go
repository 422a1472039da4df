//go:build unix

package bytecode

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the virtual machine a process group of its own, so that a terminal's
// interrupt reaches this process alone.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends the virtual machine, which is not reaped yet, and what it has started.
func endGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
