package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

const syscallInterrupt = syscall.SIGINT

// load starts the competitors of the gate on each CPU, and returns a function that ends them.
func load(kind string) (release func(), err error) {
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
	release = func() {
		for _, c := range started {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
	for _, kind := range competitors {
		for range runtime.NumCPU() {
			c := exec.Command(self, "-compete", kind)
			c.Env = append(os.Environ(), "GOMAXPROCS=1")
			if err := c.Start(); err != nil {
				release()
				return nil, err
			}
			started = append(started, c)
		}
	}
	return release, nil
}

// longest is how long a competitor lives if nobody ends it.
const longest = 10 * time.Minute

// compete runs as a competitor: an endless loop, or one that computes and sleeps for exponentially distributed
// times, like the competitors of the recordings that the simulation replays. It ends with the process that
// started it.
func compete(kind string) {
	times := map[string]struct{ computes, sleeps time.Duration }{
		"endless": {time.Second, 0}, "long": {3 * time.Millisecond, 20 * time.Millisecond}, "short": {100 * time.Microsecond, 2 * time.Millisecond},
	}[kind]
	parent, began := os.Getppid(), time.Now()
	random := func(mean time.Duration) time.Duration { return time.Duration(rand.ExpFloat64() * float64(mean)) }
	for time.Since(began) < longest && os.Getppid() == parent {
		for from, length := time.Now(), random(times.computes); time.Since(from) < length; {
		}
		if times.sleeps > 0 {
			time.Sleep(random(times.sleeps))
		}
	}
	os.Exit(0)
}
