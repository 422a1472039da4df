// Package onecpu lets a program run with all its threads on one CPU.
package onecpu

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"chronoscope/machine"
)

// Marker in the environment says that all threads of the process are on one CPU.
const Marker = "CHRONOSCOPE_BENCH_ON_ONE_CPU"

// Confine runs the program once more with all its threads on that CPU, unless it is
// so already: a thread that is pinned does not take along those that the runtime
// has started before, on which package testing would then measure. done says that
// the other one has done the work.
func Confine(ctx context.Context, cpu int, args []string, stdout io.Writer) (done bool, err error) {
	if os.Getenv(Marker) != "" {
		return false, nil
	}
	self, err := os.Executable()
	if err != nil {
		return true, fmt.Errorf("onecpu: %w", err)
	}
	restore, err := machine.Pin([]int{cpu})
	if err != nil {
		return true, err
	}
	defer func() { _ = restore() }()
	c := exec.CommandContext(ctx, self, args...)
	c.Env = append(os.Environ(), Marker+"=1")
	c.Stdout, c.Stderr = stdout, os.Stderr
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = time.Minute
	return true, c.Run()
}
