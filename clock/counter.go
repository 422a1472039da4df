package clock

// The functions of this file are the cheapest way to the processor's counter:
// the time stamp counter (RDTSC) on amd64, the virtual counter (CNTVCT_EL0) on
// arm64. They check nothing. Where [Open] says of "tsc" or "cntvct" that it is
// unavailable, a call ends the process with a signal that Go can't recover
// from. On other architectures they read Go's monotonic clock, in
// nanoseconds.

// Counter is a bare reading of the processor's counter, in its ticks. The
// processor may take it earlier or later than it stands in the program, by as
// much as its window of open instructions spans.
func Counter() int64 { return counter() }

// CounterStart is the reading that opens a timed region: earlier work has
// ended, and nothing of the region has begun.
func CounterStart() int64 { return counterStart() }

// CounterEnd is the reading that closes a timed region: the region has ended,
// and nothing of what follows has begun.
func CounterEnd() int64 { return counterEnd() }

// Counters fills ticks with bare readings that follow one another as closely
// as the processor can take them; the loop is in assembly, as a call a reading
// would cost more than the reading.
func Counters(ticks []int64) { counterChain(0, ticks) }

// counterClock describes what all counters of the processor have in common.
// Whether the counter stops, goes on or restarts while the machine is
// suspended depends on the processor and on the firmware.
func counterClock(api string, read func() int64, chain func(int, []int64)) *Clock {
	return &Clock{
		API: api, Kind: KindCounter, Scope: ScopeMachine,
		CountsSleep: Yes, CountsSuspend: Unknown,
		read: read, start: CounterStart, end: CounterEnd, chain: chain,
		gaps: func(last int64, w Watch, gaps []Gap) (int, int64) {
			return counterGaps(last, w.Until, w.Threshold, w.Long, gaps)
		},
	}
}
