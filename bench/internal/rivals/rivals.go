// Package rivals keeps a CPU busy with processes that want it all the time.
package rivals

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"chronoscope/machine"
)

// marker in the environment makes this program a rival.
const marker = "CHRONOSCOPE_BENCH_RIVAL"

// Serve turns the process into a rival if it was started as one; call it first in
// main. A rival ends with its parent, whose end of a pipe is then closed.
func Serve() {
	if os.Getenv(marker) == "" {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for x := uint64(1); ; x = x*6364136223846793005 + 1 {
		if x == 0 {
			os.Exit(0) // never, which the compiler does not know
		}
	}
}

// OnOneCPU in the environment says that all threads of the process are on one CPU.
const OnOneCPU = "CHRONOSCOPE_BENCH_ON_ONE_CPU"

// Confine runs the program once more with all its threads on that CPU, unless it is
// so already: a thread that is pinned does not take along those that the runtime
// has started before, on which package testing would then measure. done says that
// the other one has done the work.
func Confine(ctx context.Context, cpu int, args []string, stdout io.Writer) (done bool, err error) {
	if os.Getenv(OnOneCPU) != "" {
		return false, nil
	}
	self, err := os.Executable()
	if err != nil {
		return true, fmt.Errorf("rivals: %w", err)
	}
	restore, err := machine.Pin([]int{cpu})
	if err != nil {
		return true, err
	}
	defer func() { _ = restore() }()
	c := exec.CommandContext(ctx, self, args...)
	c.Env = append(os.Environ(), OnOneCPU+"=1")
	c.Stdout, c.Stderr = stdout, os.Stderr
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = time.Minute
	return true, c.Run()
}

// Start starts n rivals on the CPUs of the calling thread, which has to be pinned
// (machine.Pin): children take over its CPUs. stop ends them.
func Start(n int) (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("rivals: %w", err)
	}
	if cpus, err := machine.Affinity(); err != nil || len(cpus) != 1 {
		return nil, fmt.Errorf("rivals: the thread has to be pinned to one CPU, it has %v: %v", cpus, err)
	}
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
		stops = nil
	}
	for range n {
		c := exec.Command(self)
		c.Env = append(os.Environ(), marker+"=1", "GOMAXPROCS=2", "GOGC=off")
		pipe, err := c.StdinPipe()
		if err != nil {
			stop()
			return nil, fmt.Errorf("rivals: %w", err)
		}
		if err := c.Start(); err != nil {
			stop()
			return nil, fmt.Errorf("rivals: %w", err)
		}
		stops = append(stops, func() {
			_ = pipe.Close()
			_ = c.Process.Kill()
			_ = c.Wait()
		})
	}
	return stop, nil
}
