// Package command has what the commands of this module have in common.
package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"chronoscope/internal/load"
)

// Main runs an experiment until it ends, or until the user ends it. It prints an error after the command's
// name, and exits with status 1. If the process was started as a competitor, it runs as one instead.
func Main(name string, run func(ctx context.Context, args []string, stdout io.Writer) error) {
	load.Serve()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// Child returns a command in a process group of its own. An end of ctx interrupts the group. If the command has ended, or a minute
// later, what is left of the group is killed. Ctrl-C in a terminal does not reach the group: it would interrupt chronoscope a second
// time, and a second interrupt ends it without what it has measured.
func Child(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error {
		err := syscall.Kill(-c.Process.Pid, syscall.SIGINT)
		for end := time.Now().Add(time.Minute); c.Process.Signal(syscall.Signal(0)) == nil && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		return err
	}
	c.WaitDelay = time.Minute
	return c
}

// Lost returns an error if competitors ended before they were stopped, so that the load was smaller than it is said to be. If ctx
// has ended, which ends them too, the error is that of ctx.
func Lost(ctx context.Context, competitors *load.Load) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if n := competitors.Lost(); n > 0 {
		return fmt.Errorf("%d competitors ended too early", n)
	}
	return nil
}
