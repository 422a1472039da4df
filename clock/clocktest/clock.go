package clocktest

import (
	"math"
	"math/rand/v2"
)

// Clock is a simulated clock: a counter that is updated every QuantumNs, read
// by a call that costs time and rounds down to whole units.
//
//	reading = floor(floor(t / quantum) x quantum / unit)
//
// where t is the machine's time as this clock's oscillator and faults show it.
type Clock struct {
	Machine *Machine
	// QuantumNs is the time between two updates of the counter.
	QuantumNs float64
	// UnitNs is the unit of a reading; a reading is rounded down to it.
	UnitNs float64
	// PhaseNs is how far the counter was into its quantum when the machine started.
	PhaseNs float64
	// Cost draws how long one call takes, in nanoseconds.
	Cost Distribution
	// EdgeJitterNs makes each update late by a random amount up to this.
	EdgeJitterNs float64
	// Unique raises a reading that would repeat the one before by one unit, as
	// the RDTSC of some AMD processors does.
	Unique bool
	// Faults are what is wrong with the clock.
	Faults Faults

	thread  int
	last    int64
	reads   int
	stepped float64
}

// Faults are what can be wrong with a clock. The zero value is a good clock.
type Faults struct {
	// RatePPM is a constant error of the rate, in parts per million.
	RatePPM float64
	// DriftPPMPerSecond lets the rate change as time goes by.
	DriftPPMPerSecond float64
	// BackStepEvery readings the clock steps back by BackStepNs.
	BackStepEvery int
	BackStepNs    float64
	// JumpAtNs and JumpNs step the clock forward once.
	JumpAtNs, JumpNs float64
	// StuckFromNs to StuckToNs the reading does not change.
	StuckFromNs, StuckToNs float64
	// WrapBits wraps the reading at this many bits; 0 for never.
	WrapBits int
	// ThreadOffsetNs is added for readings of the thread with that index.
	ThreadOffsetNs []float64
	// CPUOffsetNs and CPUSkewPPM are added for readings on the CPU with that number:
	// what it is ahead when the machine starts, and how much faster it runs.
	CPUOffsetNs, CPUSkewPPM []float64
	// GlitchShare of the readings are off by up to GlitchNs, either way.
	GlitchShare, GlitchNs float64
}

// Distribution draws a duration in nanoseconds.
type Distribution func(*rand.Rand) float64

// Constant is a cost that never varies.
func Constant(ns float64) Distribution {
	return func(*rand.Rand) float64 { return ns }
}

// Jittered is a cost that varies about ns with a log-normal factor of the
// given sigma.
func Jittered(ns, sigma float64) Distribution {
	return func(r *rand.Rand) float64 { return ns * math.Exp(sigma*r.NormFloat64()) }
}

// WithOutliers makes a share of the calls take up to factor times as long.
func WithOutliers(d Distribution, share, factor float64) Distribution {
	return func(r *rand.Rand) float64 {
		ns := d(r)
		if r.Float64() < share {
			ns *= 1 + (factor-1)*r.Float64()
		}
		return ns
	}
}

// Steps is a cost that takes one of a few values, with the given weights.
func Steps(ns, weights []float64) Distribution {
	var total float64
	for _, w := range weights {
		total += w
	}
	return func(r *rand.Rand) float64 {
		x := r.Float64() * total
		for i, w := range weights {
			if x -= w; x < 0 {
				return ns[i]
			}
		}
		return ns[len(ns)-1]
	}
}

// Read is one reading, in units. The counter is looked at somewhere within
// the call.
func (c *Clock) Read() int64 {
	cost := c.Cost(c.Machine.rng)
	before := cost * c.Machine.rng.Float64()
	c.Machine.Run(before)
	v := c.at(c.Machine.now)
	c.Machine.Run(cost - before)
	return v
}

// ReadEarly is a reading that the processor takes ahead of its place in the
// program, by up to earlyNs.
func (c *Clock) ReadEarly(earlyNs float64) int64 {
	v := c.at(c.Machine.now - earlyNs*c.Machine.rng.Float64())
	c.Machine.Run(c.Cost(c.Machine.rng))
	return v
}

// Chain fills ticks with consecutive readings, work rounds before each.
func (c *Clock) Chain(work int, ticks []int64) {
	for i := range ticks {
		c.Machine.Work(work)
		ticks[i] = c.Read()
	}
}

// OnThread is the same clock as the thread with that index reads it.
func (c *Clock) OnThread(thread int) *Clock {
	other := *c
	other.thread = thread
	return &other
}

// Calls returns a function that fills durations with what batch calls of the
// clock take, in units of reference, each stretch framed by two readings of
// reference; batch 0 frames nothing.
func (c *Clock) Calls(reference *Clock) func(batch int, durations []int64) {
	return func(batch int, durations []int64) {
		for i := range durations {
			start := reference.Read()
			for range batch {
				c.Read()
			}
			durations[i] = reference.Read() - start
		}
	}
}

// at is what the clock reads when the machine's time is t.
func (c *Clock) at(t float64) int64 {
	c.reads++
	v := c.units(c.count(c.seen(t)))
	if c.Unique {
		if v <= c.last && v > c.last-2 {
			v = c.last + 1
		}
		c.last = v
	}
	if f := c.Faults; f.GlitchShare > 0 && c.Machine.rng.Float64() < f.GlitchShare {
		v += int64(math.Round((2*c.Machine.rng.Float64() - 1) * f.GlitchNs / c.UnitNs))
	}
	if c.Faults.WrapBits > 0 {
		v &= 1<<c.Faults.WrapBits - 1
	}
	return v
}

// seen is the time that the clock's oscillator and faults make of t.
func (c *Clock) seen(t float64) float64 {
	f := c.Faults
	if t > f.StuckFromNs && t < f.StuckToNs {
		t = f.StuckFromNs
	}
	ppm := f.RatePPM + f.DriftPPMPerSecond*t/2e9 // the integral of the rate
	seen := t*(1+ppm*1e-6) + c.PhaseNs
	if f.JumpNs != 0 && t >= f.JumpAtNs {
		seen += f.JumpNs
	}
	if f.BackStepEvery > 0 && c.reads%f.BackStepEvery == 0 {
		c.stepped -= f.BackStepNs
	}
	if c.thread < len(f.ThreadOffsetNs) {
		seen += f.ThreadOffsetNs[c.thread]
	}
	if cpu := c.Machine.CPU; cpu < len(f.CPUOffsetNs) {
		seen += f.CPUOffsetNs[cpu]
	}
	if cpu := c.Machine.CPU; cpu < len(f.CPUSkewPPM) {
		seen += t * f.CPUSkewPPM[cpu] * 1e-6
	}
	return seen + c.stepped
}

// count is how many updates the counter has had at time t of its oscillator.
func (c *Clock) count(t float64) float64 {
	n := math.Floor(t / c.QuantumNs)
	if c.EdgeJitterNs > 0 && t-n*c.QuantumNs < c.EdgeJitterNs*lateness(n) {
		n--
	}
	return n
}

// units rounds the time of n updates down to the unit.
func (c *Clock) units(n float64) int64 {
	return int64(math.Floor(n * (c.QuantumNs / c.UnitNs)))
}

// lateness is how late update n is, as a share of the most that it can be:
// the same at each look.
func lateness(n float64) float64 {
	r := rand.New(rand.NewPCG(math.Float64bits(n), 0xed6e))
	return r.Float64()
}
