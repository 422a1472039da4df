//go:build unix

package program

import (
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// counting finds how the kernel counts: time that is counted by a clock is no whole number
// of milliseconds, as every tick is.
func counting() Counting {
	for begun := time.Now(); time.Since(begun) < 20*time.Millisecond; {
		var u unix.Rusage
		if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
			break
		}
		if ns := float64(u.Utime.Nano() + u.Stime.Nano()); math.Abs(math.Remainder(ns, 1e6)) > 2e3 && math.Abs(math.Remainder(ns, 1e9/300)) > 2e3 {
			return Counting{}
		}
	}
	return Counting{Unknown: true}
}
