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
	if leastDuration(read) < readingsTimed*trappedFrom {
		return ""
	}
	return ", which a hypervisor or sandbox traps and emulates"
}

const readingsTimed = 16

// leastDuration returns the time of readingsTimed readings in the best of several runs.
func leastDuration(read func() int64) time.Duration {
	const runs = 8
	least := time.Duration(1<<63 - 1)
	for range runs {
		start := time.Now()
		for range readingsTimed {
			read()
		}
		least = min(least, time.Since(start))
	}
	return least
}
