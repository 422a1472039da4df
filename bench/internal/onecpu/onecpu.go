// Package onecpu runs a program with all its threads on one CPU.
package onecpu

import (
	"context"
	"fmt"
	"io"
	"os"

	"chronoscope/bench/internal/command"
	"chronoscope/machine"
)

// Marker is an environment variable that says that all threads of the process are on one CPU.
const Marker = "CHRONOSCOPE_BENCH_ON_ONE_CPU"

// Confine runs the program once more with all its threads on that CPU, unless they are already there. Pinning a
// thread does not pin the threads that the runtime started before, and package testing would measure on those.
// done says that the caller has nothing left to do but return err.
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
	c := command.Child(ctx, self, args...)
	c.Env = append(os.Environ(), Marker+"=1")
	c.Stdout, c.Stderr = stdout, os.Stderr
	return true, c.Run()
}
