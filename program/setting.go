package program

import (
	"context"
	"io/fs"
	"math"
	"time"

	"chronoscope/machine"
)

// Setting is what is known beforehand of the machine. [Here] fills in what is not given.
type Setting struct {
	// CounterHz is the rate of the processor's counter, in Hz; 0 is not known.
	CounterHz float64
	// Noise of the CPUs, as far as it is known beforehand, and Watch sees more of it: for so
	// long, on the CPU of the caller; nil where that can't be.
	Noise machine.Noise
	Watch func(context.Context, time.Duration) machine.Noise
	// CPUs is how many the programs may use; 0 is not known.
	CPUs int
	// CoreHz is the rate of the core now, in Hz, on which the caller runs; nil where it
	// can't be measured.
	CoreHz func() float64
	// Slowed is the share by which independent instructions now take longer than on a core that
	// nothing shares, on the CPU of the caller ([clock.PortProbe]); nil where it can't be measured.
	Slowed func() float64
	// Counting is how the kernel accounts for CPU time.
	Counting Counting
	// Reach is between which durations each method did on this machine, as a validation of
	// the methods has found; without one the source's own limits are taken (section 9.6).
	Reach []Reach
	// Nice is the niceness of all programs that don't have one of their own, by
	// process.Command.Nice.
	Nice int
	// NoWakeups turns off recording the kernel's tracepoints for programs that wait.
	NoWakeups bool
	// Root holds the machine's /proc and /sys; nil is this machine's.
	Root fs.FS
}

// Reach is between which durations a method kept within a tolerance, at a load.
type Reach struct {
	Method Method
	// Load is how many threads wanted the CPU, the measured one among them.
	Load int
	// Tolerance is the greatest relative error.
	Tolerance float64
	// MinDurationNs and MaxDurationNs bound the range; NaN if no duration kept within the tolerance.
	MinDurationNs, MaxDurationNs float64
}

// reaches tells the method's reach at the precision that is asked for, beside competitors,
// by the coarsest tolerance that is no coarser; false where none was found.
func (s Setting) reaches(m Method, precision float64) (fromNs, toNs float64, ok bool) {
	tolerance := 0.0
	for _, r := range s.Reach {
		if r.Method == m && r.Load > 1 && r.Tolerance <= precision {
			tolerance = math.Max(tolerance, r.Tolerance)
		}
	}
	toNs = math.Inf(1)
	for _, r := range s.Reach {
		if r.Method != m || r.Load <= 1 || r.Tolerance != tolerance {
			continue
		}
		ok = true
		if math.IsNaN(r.MinDurationNs) || math.IsNaN(r.MaxDurationNs) {
			return math.Inf(1), 0, true
		}
		fromNs, toNs = math.Max(fromNs, r.MinDurationNs), math.Min(toNs, r.MaxDurationNs)
	}
	return fromNs, toNs, ok
}

// Counting is how a kernel accounts for CPU time.
type Counting struct {
	// TickNs is the tick of a kernel that charges whole ticks; 0 for one that charges by a clock,
	// and for Unknown.
	TickNs  float64
	Unknown bool
}
