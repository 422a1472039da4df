// Package timermeter measures a clock by its readings alone. It finds the clock's accuracy, its
// invocation cost and the spread of that cost, and combines the three in one quality metric by
// which clocks are ranked (Kuperberg 2011a, TimerMeter).
//
// A clock is given as a function, so that it can be any clock: one of this process, one of
// another runtime, or a simulated one.
//
// Terms: a chain is a series of consecutive readings, and a stretch a part of it without long
// pauses; a lattice is a set of evenly spaced values on which readings lie, and its quantum the
// spacing; a chunk is a group of batches of calls that are timed together; the frame is the time
// between two readings of the timing clock without a call between them.
package timermeter

// Subject is a clock that is measured.
type Subject struct {
	// UnitNs is the length of one unit of a reading, in nanoseconds.
	UnitNs float64
	// UnitError is the largest relative error of UnitNs: the error of a calibration, or 0 if the
	// unit is given.
	UnitError float64
	// Chain fills ticks with consecutive readings, with work rounds of a busy loop before each.
	Chain func(work int, ticks []int64)
	// LeastChain is the least number of readings in a chain, for a clock for which it takes long
	// to start a chain; 0 leaves the number to the sampler.
	LeastChain int
	// StandsStill is true if the clock stands still between two chains, as the CPU time of a
	// thread that waits does.
	StandsStill bool
	// Calls fills durations with the times that batch consecutive calls take, in units of
	// Reference. Frames fills durations with the times of batch rounds without the calls. Both are
	// nil if nothing can time the calls.
	Calls, Frames func(batch int, durations []int64)
	Reference     Reference
}
