//go:build unix

package group

import (
	"os/exec"
	"syscall"
)

func own(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Env = append(c.Environ(), newMark())
}

func end(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
