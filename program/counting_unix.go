//go:build unix

package program

import (
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// chargesByClock reports whether the kernel is seen to charge CPU time by a clock: a time that is neither a whole number
// of milliseconds nor of ticks of 1/300 s.
func chargesByClock() bool {
	for begun := time.Now(); time.Since(begun) < 20*time.Millisecond; {
		var u unix.Rusage
		if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
			break
		}
		if ns := float64(u.Utime.Nano() + u.Stime.Nano()); math.Abs(math.Remainder(ns, 1e6)) > 2e3 && math.Abs(math.Remainder(ns, 1e9/300)) > 2e3 {
			return true
		}
	}
	return false
}
