// Package timermeter measures a clock by its readings alone: its accuracy,
// its invocation cost and how far that spreads, and one quality metric that
// ranks clocks by all three (Kuperberg 2011a, TimerMeter).
//
// It takes a clock as a function, and so any clock: one of this process, of
// another runtime, or a simulated one.
package timermeter

// Subject is a clock as it is measured here.
type Subject struct {
	// UnitNs is nanoseconds per unit of a reading.
	UnitNs float64
	// UnitError bounds how far UnitNs may be off, as a share of it: the error of
	// a calibration; 0 where the unit is given.
	UnitError float64
	// Chain fills ticks with consecutive readings, work rounds of a busy loop
	// before each.
	Chain func(work int, ticks []int64)
	// LeastChain is how many readings are worth a chain, where a chain takes long
	// beside its readings; 0 leaves it to the sampler.
	LeastChain int
	// StandsStill is true where the clock stands still between two chains, as CPU time
	// of a thread that waits.
	StandsStill bool
	// Calls fills durations with what batch consecutive calls take, in units of
	// Reference, and Frames with what is seen of batch rounds without the calls. Nil
	// where nothing can time them.
	Calls, Frames func(batch int, durations []int64)
	Reference     Reference
}
