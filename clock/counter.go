package clock

// The functions of this file are the cheapest way to read the processor's counter: the time
// stamp counter (RDTSC) on amd64, the virtual counter (CNTVCT_EL0) on arm64. They check nothing.
// If [Open] says that "tsc" or "cntvct" is unavailable, a call ends the process with a signal
// from which Go can't recover. On other architectures they read Go's monotonic clock, in
// nanoseconds.

// Counter returns an unfenced reading of the processor's counter, in its ticks. The processor
// may execute it earlier or later than its place in the program, by as many instructions as it
// can reorder.
func Counter() int64 { return counter() }

// CounterStart returns the reading that opens a timed region: earlier work has ended, and
// nothing of the region has begun.
func CounterStart() int64 { return counterStart() }

// CounterEnd returns the reading that closes a timed region: the region has ended, and nothing
// after it has begun.
func CounterEnd() int64 { return counterEnd() }

// Counters fills ticks with unfenced readings, one right after the other. The loop is in
// assembly, because a function call per reading would cost more than the reading.
func Counters(ticks []int64) { counterChain(0, ticks) }

// counterClock returns a Clock with the properties that all counters of the processor share. Its
// CountsSuspend is unknown: whether the counter stops, goes on or restarts while the machine is
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
