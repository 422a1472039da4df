//go:build !linux

package activity

import "chronoscope/machine"

// These are the orders to the partner.
const (
	returnAtOnce byte = iota
	sweepFirst
)

// switchingCPU returns an error: threads can't be bound here.
func switchingCPU(int) (int, error) { return 0, errNoSwitching() }

// pair is never created on this system.
type pair struct{ trips int }

func openPair(int, workingSet) (*pair, error) { return nil, errNoSwitching() }

func errNoSwitching() error {
	return &machine.UnsupportedError{
		Operation: "measuring what a context switch costs",
		Reason:    "two threads that hand a CPU to each other have to be bound to it, which is done on Linux only",
		Remedy:    "measure it on Linux",
	}
}

func (*pair) trip(byte) error              { return nil }
func (*pair) calls() error                 { return nil }
func (*pair) close() (*SwitchCount, error) { return nil, nil }
