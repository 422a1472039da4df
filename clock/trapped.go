package clock

import "time"

// trappedFrom is the least cost of a reading for which a counter counts as trapped. It is several
// times the cost of a counter that the program reads directly (20 to 60 cycles are usual), and
// less than a transition to a hypervisor and back.
const trappedFrom = 250 * time.Nanosecond

// trapped describes a counter whose instruction a hypervisor or sandbox traps and emulates; it is
// empty for any other counter. The readings of such a counter are true, but as expensive as
// system calls.
func trapped(read func() int64) string {
	if leastDuration(time.Now, read) < readingsTimed*trappedFrom {
		return ""
	}
	return ", which a hypervisor or sandbox traps and emulates"
}

const readingsTimed = 16

// leastDuration returns the time of readingsTimed readings in the best of several runs, by the clock now. It leaves out
// what a look at that clock takes: in a program's first seconds gVisor's vDSO does not tell the time, and a system call
// takes longer there than all the readings.
func leastDuration(now func() time.Time, read func() int64) time.Duration {
	return max(0, leastOf(readingsTimed, now, read)-leastOf(0, now, read))
}

// leastOf returns the least time that n readings took in several runs.
func leastOf(n int, now func() time.Time, read func() int64) time.Duration {
	const runs = 8
	least := time.Duration(1<<63 - 1)
	for range runs {
		start := now()
		for range n {
			read()
		}
		least = min(least, now().Sub(start))
	}
	return least
}
