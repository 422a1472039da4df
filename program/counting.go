package program

import "chronoscope/process"

// IntervalCounting bounds the CPU time of a run by the user and system time that the kernel charged for it, as times(2)
// and getrusage(2) tell it (Bryant 2003, section 9.2).
//
// A kernel that charges by a clock is accurate to the microsecond that it shows. A kernel that charges whole ticks is
// off by up to one tick at each end of each stretch in which the program had the CPU: a single stretch that was charged
// n ticks took more than n-1 and less than n+1 (practice problem 9.4). Over many stretches the errors tend to cancel,
// but that is not certain. Ticks are assumed to take 10 ms, the longest in use.
func IntervalCounting(r process.Run, byTicks bool) (lowNs, highNs float64) {
	charged, off := float64(r.CPUNs()), 1e3
	if byTicks {
		off = 10e6 * float64(1+r.VoluntarySwitches+r.InvoluntarySwitches)
	}
	return max(0, charged-off), charged + off
}
