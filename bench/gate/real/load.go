package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// load starts the competitors of the gate on each CPU, and returns a function that ends them. Its error says that some had ended
// before, so that the gate ran under a smaller load.
func load(kind string) (release func() error, err error) {
	competitors := []string{}
	switch n, err := strconv.Atoi(kind); {
	case kind == "none":
	case kind == "bursty":
		competitors = []string{"long", "short"}
	case err == nil && n >= 1:
		for range n - 1 {
			competitors = append(competitors, "endless")
		}
	default:
		return nil, fmt.Errorf("-loads: %q is no load: give none, bursty, or a number such as 4", kind)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var started []*exec.Cmd
	release = func() error {
		lost := 0
		for _, c := range started {
			_ = c.Process.Signal(syscall.SIGTERM)
			_ = c.Wait()
			if status, is := c.ProcessState.Sys().(syscall.WaitStatus); !is || !status.Signaled() || status.Signal() != syscall.SIGTERM {
				lost++
			}
		}
		if lost > 0 {
			return fmt.Errorf("%d of %d competitors ended before the gate did", lost, len(started))
		}
		return nil
	}
	for _, kind := range competitors {
		for range runtime.NumCPU() {
			c := exec.Command(self, "-compete", kind)
			c.Env = append(os.Environ(), "GOMAXPROCS=1")
			if err := c.Start(); err != nil {
				return nil, errors.Join(err, release())
			}
			started = append(started, c)
		}
	}
	return release, nil
}

// compete runs as a competitor: an endless loop, or one that computes and sleeps for exponentially distributed
// times, like the competitors of the recordings that the simulation replays. It ends with the process that
// started it.
func compete(kind string) {
	times := map[string]struct{ computes, sleeps time.Duration }{
		"endless": {time.Second, 0}, "long": {3 * time.Millisecond, 20 * time.Millisecond}, "short": {100 * time.Microsecond, 2 * time.Millisecond},
	}[kind]
	parent := os.Getppid()
	random := func(mean time.Duration) time.Duration { return time.Duration(rand.ExpFloat64() * float64(mean)) }
	for os.Getppid() == parent {
		for from, length := time.Now(), random(times.computes); time.Since(from) < length; {
		}
		if times.sleeps > 0 {
			time.Sleep(random(times.sleeps))
		}
	}
	os.Exit(0)
}
