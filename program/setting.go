package program

import (
	"io/fs"

	"chronoscope/clock"
	"chronoscope/machine"
)

// Setting is what is known beforehand of the machine. [Here] fills in what is not given.
type Setting struct {
	// Clock is what wall time is read from where the kernel does not note exec and exit;
	// where it holds none, that is Go's.
	Clock clock.Rated
	// Noise of the CPUs, as a trace of activity shows it.
	Noise machine.Noise
	// CPUs is how many the programs may use; 0 is not known.
	CPUs int
	// CoreHz is the rate of the core now, in Hz, on which the caller runs; nil where it
	// can't be measured.
	CoreHz func() float64
	// Counting is how the kernel accounts for CPU time.
	Counting Counting
	// Reach is how long a program each method may be used for on this machine, as a
	// validation of the methods has found; none is the source's own (section 9.6).
	Reach []Reach
	// Nice is the niceness of all programs that don't have one of their own, by
	// process.Command.Nice.
	Nice int
	// Root holds the machine's /proc and /sys; nil is this machine's.
	Root fs.FS
}

// Reach is up to which duration a method kept within a tolerance, at a load.
type Reach struct {
	Method Method
	// Load is how many threads wanted the CPU, the measured one among them.
	Load int
	// Tolerance is the greatest relative error.
	Tolerance     float64
	MaxDurationNs float64
}

// Counting is how a kernel accounts for CPU time.
type Counting struct {
	// TickNs is the interval that it charges in whole; 0 where it counts by a clock, and
	// where Unknown.
	TickNs  float64
	Unknown bool
}
