package lateness

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A reading without a system call lies between two with one, but for the error of the moment that both
// clocks are held by; steps of the clock's rate in between move both.
func TestMonotonicWithoutASystemCall(t *testing.T) {
	read := func() int64 {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
			t.Fatal(err)
		}
		return now.Nano()
	}
	const errorNs = 100e3 // the narrowest of 100 pairs is far below
	for range 100 {
		before, ns, after := read(), monotonicNs(), read()
		if ns < before-errorNs || ns > after+errorNs {
			t.Fatalf("%d ns between %d and %d", ns, before, after)
		}
	}
}
