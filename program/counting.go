package program

import "chronoscope/process"

// IntervalCounting bounds the CPU time of a run by what the kernel charged for it, user
// and system time together, as times(2) and getrusage(2) tell (Bryant 2003, section 9.2).
//
// A kernel that counts by a clock is right to the microsecond that it shows. One that
// charges whole ticks is up to one tick off at each end of each stretch in which the
// program had the CPU: a single stretch that was charged n ticks took more than n-1 and
// less than n+1 (practice problem 9.4). Over many stretches the errors tend to cancel, but
// nothing says that they do. Where it is not known how the kernel counts, ticks of 10 ms
// are assumed, the longest in use.
func IntervalCounting(r process.Run, c Counting) (lowNs, highNs float64) {
	charged, off := float64(r.CPUNs()), 1e3
	tick := c.TickNs
	if c.Unknown {
		tick = 10e6
	}
	if tick > 0 {
		off = tick * float64(1+r.VoluntarySwitches+r.InvoluntarySwitches)
	}
	return max(0, charged-off), charged + off
}
