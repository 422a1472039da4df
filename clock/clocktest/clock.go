package clocktest

import (
	"math"
	"math/rand/v2"
)

// Clock is a simulated clock: a counter that is updated every QuantumNs. A call that reads it
// costs time, and rounds the reading down to whole units.
//
// reading = floor(floor(t / quantum) x quantum / unit)
//
// Here t is the machine's time as changed by this clock's oscillator and faults.
type Clock struct {
	Machine *Machine
	// QuantumNs is the time between two updates of the counter.
	QuantumNs float64
	// UnitNs is the unit of a reading; a reading is rounded down to it.
	UnitNs float64
	// PhaseNs is how far the counter was into its quantum when the machine started.
	PhaseNs float64
	// Cost draws the duration of one call, in nanoseconds.
	Cost Distribution
	// EdgeJitterNs is the most by which an update is late; the delay is random.
	EdgeJitterNs float64
	// Unique raises a reading that would equal the previous one by one unit, as the RDTSC of some
	// AMD processors does.
	Unique bool
	// Faults are the faults of the clock.
	Faults Faults

	thread  int
	last    int64
	reads   int
	stepped float64
}

// Faults describes the faults of a clock. The zero value is a clock without faults.
type Faults struct {
	// RatePPM is a constant error of the rate, in parts per million.
	RatePPM float64
	// DriftPPMPerSecond is the change of the rate with time.
	DriftPPMPerSecond float64
	// Once in BackStepEvery readings the clock steps back by BackStepNs.
	BackStepEvery int
	BackStepNs    float64
	// At JumpAtNs the clock jumps forward by JumpNs, once.
	JumpAtNs, JumpNs float64
	// From StuckFromNs to StuckToNs the reading does not change.
	StuckFromNs, StuckToNs float64
	// WrapBits wraps the reading at this many bits; 0 for never.
	WrapBits int
	// ThreadOffsetNs is added to the readings of the thread with that index.
	ThreadOffsetNs []float64
	// CPUOffsetNs and CPUSkewPPM apply to readings on the CPU with that index: how far its clock
	// is ahead when the machine starts, and how much faster it runs.
	CPUOffsetNs, CPUSkewPPM []float64
	// GlitchShare is the share of readings that are off by up to GlitchNs in either direction.
	GlitchShare, GlitchNs float64
}

// Distribution draws a duration in nanoseconds.
type Distribution func(*rand.Rand) float64

// Constant returns the distribution of a cost that never varies.
func Constant(ns float64) Distribution {
	return func(*rand.Rand) float64 { return ns }
}

// Jittered returns the distribution of ns times a log-normal factor with the given sigma.
func Jittered(ns, sigma float64) Distribution {
	return func(r *rand.Rand) float64 { return ns * math.Exp(sigma*r.NormFloat64()) }
}

// WithOutliers makes the given share of the calls take up to factor times as long.
func WithOutliers(d Distribution, share, factor float64) Distribution {
	return func(r *rand.Rand) float64 {
		ns := d(r)
		if r.Float64() < share {
			ns *= 1 + (factor-1)*r.Float64()
		}
		return ns
	}
}

// Steps returns the distribution of a cost that takes one of a few values, with the given
// weights.
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

// Read returns one reading, in units. The counter's value is taken at a random moment within the
// call.
func (c *Clock) Read() int64 {
	cost := c.Cost(c.Machine.rng)
	before := cost * c.Machine.rng.Float64()
	c.Machine.Run(before)
	v := c.at(c.Machine.now)
	c.Machine.Run(cost - before)
	return v
}

// ReadEarly returns a reading that the processor takes up to earlyNs before its place in the
// program.
func (c *Clock) ReadEarly(earlyNs float64) int64 {
	v := c.at(c.Machine.now - earlyNs*c.Machine.rng.Float64())
	c.Machine.Run(c.Cost(c.Machine.rng))
	return v
}

// Chain fills ticks with consecutive readings, with work rounds of work before each.
func (c *Clock) Chain(work int, ticks []int64) {
	for i := range ticks {
		c.Machine.Work(work)
		ticks[i] = c.Read()
	}
}

// OnThread returns the same clock as read by the thread with that index.
func (c *Clock) OnThread(thread int) *Clock {
	other := *c
	other.thread = thread
	return &other
}

// Calls returns a function that fills durations with the times that batch calls of the clock
// take, in units of reference. Each batch stands between two readings of reference; with batch
// 0 there is nothing between them.
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

// at returns what the clock shows when the machine's time is t.
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

// seen returns the time t as changed by the clock's oscillator and faults.
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

// count returns how many updates the counter has had at time t of its oscillator.
func (c *Clock) count(t float64) float64 {
	n := math.Floor(t / c.QuantumNs)
	if c.EdgeJitterNs > 0 && t-n*c.QuantumNs < c.EdgeJitterNs*lateness(n) {
		n--
	}
	return n
}

// units converts the time of n updates to units, rounded down.
func (c *Clock) units(n float64) int64 {
	return int64(math.Floor(n * (c.QuantumNs / c.UnitNs)))
}

// lateness returns by how much update n is late, as a share of the largest delay. It is the same
// for each reading of the update.
func lateness(n float64) float64 {
	r := rand.New(rand.NewPCG(math.Float64bits(n), 0xed6e))
	return r.Float64()
}
