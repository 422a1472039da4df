package clock

import (
	"maps"

	"golang.org/x/sys/unix"
)

// goTimeCountsSuspend is No because Go reads CLOCK_MONOTONIC, which stops during a suspend.
const goTimeCountsSuspend = No

// systemClocks opens the clocks of Linux.
var systemClocks = linuxClocks()

func linuxClocks() map[string]opener {
	clocks := map[string]opener{
		"gettimeofday":     openGettimeofday,
		"time":             openTime,
		"times":            openTimes,
		"clock":            openClock,
		"getrusage-self":   openRusage(unix.RUSAGE_SELF, "RUSAGE_SELF", ScopeProcess),
		"getrusage-thread": openRusage(unix.RUSAGE_THREAD, "RUSAGE_THREAD", ScopeThread),
	}
	maps.Insert(clocks, openersOf(posixClocks, openPosix))
	maps.Insert(clocks, openersOf(perfEvents, openPerf))
	return clocks
}

// openersOf returns the name and the opener of each clock in descriptions.
func openersOf[T any](descriptions map[string]T, open func(T) opener) func(func(string, opener) bool) {
	return func(yield func(string, opener) bool) {
		for name, d := range descriptions {
			if !yield(name, open(d)) {
				return
			}
		}
	}
}
