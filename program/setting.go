package program

import (
	"context"
	"io/fs"
	"math"
	"time"

	"chronoscope/env"
	"chronoscope/machine"
)

// Setting is what is known of the machine before a measurement. [Here] fills in what is not given.
type Setting struct {
	// CounterHz is the rate of the processor's counter, in Hz; 0 if unknown.
	CounterHz float64
	// Noise is what interrupts are known to take from the CPUs. Watch measures it on the caller's CPU for the
	// given time; nil if that is not possible.
	Noise machine.Noise
	Watch func(context.Context, time.Duration) machine.Noise
	// CPUs is the number of CPUs that the programs may use; 0 if unknown.
	CPUs int
	// CoreHz returns the present rate of the core on which the caller runs, in Hz; nil if it can't be
	// measured.
	CoreHz func() float64
	// Slowed returns the share by which independent instructions now take longer on the caller's CPU than on
	// a core that nothing shares ([clock.PortProbe]); nil if it can't be measured.
	Slowed func() float64
	// ByTicks tells that the kernel may charge CPU time in whole ticks, rather than by a clock.
	ByTicks bool
	// Reach holds the range of durations that each method measures within a tolerance, from a validation on
	// this machine. If it is empty, the limits of the source hold (Bryant 2003, section 9.6).
	Reach []Reach
	// Nice is the niceness of programs whose process.Command.Nice is 0. They then run in sessions of their own, so that
	// it counts among all programs.
	Nice int
	// NoWakeups turns off the recording of the kernel's tracepoints for programs that wait.
	NoWakeups bool
	// Root holds the /proc and /sys to read; nil reads those of this machine.
	Root fs.FS
}

// Reach is the range of durations that a method measured within a tolerance, under a load.
type Reach struct {
	Method Method
	// Load is the number of threads that wanted the CPU, including the measured one.
	Load int
	// Tolerance is the greatest relative error.
	Tolerance float64
	// MinDurationNs and MaxDurationNs bound the range; NaN if no duration kept within the tolerance.
	MinDurationNs, MaxDurationNs float64
}

// reaches returns the range of durations that the method measures under competition: by the results with the largest
// tolerance that does not exceed the precision. ok is false if there are none.
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

// checks returns the noise that is known, to which looks add.
func (s Setting) checks() *env.NoiseChecks {
	w := env.ChecksOf(s.Noise)
	w.Watch = s.Watch
	return w
}
