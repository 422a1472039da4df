package clock

import "time"

// trappedFrom is several times what a counter costs that the program reads itself
// (20 to 60 cycles are usual), and less than a way into a hypervisor and back.
const trappedFrom = 250 * time.Nanosecond

// trapped describes a counter that somebody reads in the program's stead, at each
// reading; it is empty for any other. The readings are true, and as dear as those
// of a system call.
func trapped(read func() int64) string {
	if leastDuration(read) < readingsTimed*trappedFrom {
		return ""
	}
	return ", which a hypervisor or sandbox traps and emulates"
}

const readingsTimed = 16

// leastDuration is what readingsTimed readings take, in the best of several runs.
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
