//go:build !linux

package machine

import (
	"math"
	"time"
)

func affinity() ([]int, error) { return nil, errNoAffinity() }
func setAffinity([]int) error  { return errNoAffinity() }

func setProcessAffinity([]int) error { return errNoAffinity() }
func restoreAffinity([]int) error    { return errNoAffinity() }

func errNoAffinity() error {
	return &UnsupportedError{
		Operation: "binding a thread to a CPU",
		Reason:    "the calls for it are known on Linux only, and macOS has none that binds",
		Remedy:    "measure without naming CPUs, and keep the machine otherwise idle",
	}
}

func OwnCPUNs() float64 { return math.NaN() }

// Thread reads the kernel's counters of a thread. It works on Linux only.
type Thread struct{}

// OpenThread returns an error: this system does not offer the counters.
func OpenThread() (*Thread, error) {
	return nil, &UnsupportedError{
		Operation: "reading the run-queue wait and context switches of a thread",
		Reason:    "the system does not count them for a program to read",
		Remedy:    "causes that rest on them are left open",
	}
}

// Close does nothing.
func (*Thread) Close() error { return nil }

// Look is never called, because OpenThread fails.
func (*Thread) Look() (ThreadUse, error) { return ThreadUse{}, nil }

// AskForTurns returns an error: on this system a thread can't ask for longer time slices.
func AskForTurns(time.Duration) (before time.Duration, err error) {
	return 0, &UnsupportedError{
		Operation: "asking for longer time slices",
		Reason:    "the system has no way to ask for them",
		Remedy:    "measure while few others want the CPU",
	}
}
