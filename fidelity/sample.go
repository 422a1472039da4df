package fidelity

import (
	"math"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
)

// Sample is one sandwich: what both clocks made of one run of a workload.
type Sample struct {
	// RequestedNs is how long the workload was to take, 0 where nobody asked.
	RequestedNs float64 `json:"requested_ns"`
	// ReferenceNs is how long it took by the reference.
	ReferenceNs float64 `json:"reference_ns"`
	// CounterTicks is what the counter counted, and CounterNs that many ticks at
	// the rate that the counter is believed to have.
	CounterTicks int64       `json:"counter_ticks"`
	CounterNs    stats.Float `json:"counter_ns"`
	// PairingNs bounds how much the two durations may differ because the clocks
	// were not read at the same moment and the reference shows steps; ErrorNs has
	// the counter's steps added. A difference up to ErrorNs is no fault.
	PairingNs float64 `json:"-"`
	ErrorNs   float64 `json:"-"`
	// StartCPU and EndCPU are where the two ends were read, -1 where that is not
	// known, or where the thread was moved while it read.
	StartCPU int `json:"-"`
	EndCPU   int `json:"-"`
	// IdleNs is how long the thread neither ran nor waited for a CPU: by what the
	// kernel counted, or else by what was asked of the workload.
	IdleNs float64 `json:"-"`
	// Use is what the kernel counted of the thread in between, where Counted; waits
	// and switches within the ends are counted as well.
	Use     machine.ThreadUse `json:"-"`
	Counted bool              `json:"-"`
}

// Migrated reports that the two ends are known to have been read on different
// CPUs, or one of them during a move.
func (s Sample) Migrated() bool {
	return s.Counted && (s.StartCPU != s.EndCPU || s.StartCPU < 0)
}

// Sampler takes sandwiches. It is for one thread, and its readings allocate
// nothing.
type Sampler struct {
	Counter, Reference clock.Rated
	// Look asks the kernel what it counted of the calling thread; nil where it
	// does not tell.
	Look func() (machine.ThreadUse, error)
}

// Take is the sandwich around run, which is told how long to take.
func (s *Sampler) Take(requestedNs float64, run func(requestedNs float64)) Sample {
	start := s.mark()
	run(requestedNs)
	return s.between(requestedNs, start, s.mark())
}

// marks is how many readings of both clocks an end may choose from. The first
// ones after a sleep are slow.
const marks = 10

// mark is one end of a sandwich. The kernel is asked on both sides of it, so that
// a move in the middle is seen.
type mark struct {
	clock.Sandwich
	before, after machine.ThreadUse
	counted       bool
}

// mark takes the tightest of some readings.
func (s *Sampler) mark() mark {
	var m mark
	var before, after bool
	m.before, before = s.look()
	m.Sandwich = clock.Tightest(s.Counter.Clock, s.Reference.Clock, marks)
	m.after, after = s.look()
	m.counted = before && after
	return m
}

func (s *Sampler) look() (machine.ThreadUse, bool) {
	if s.Look == nil {
		return machine.ThreadUse{}, false
	}
	use, err := s.Look()
	return use, err == nil
}

// cpu is where the mark was read.
func (m mark) cpu() int {
	if !m.counted || m.before.CPU != m.after.CPU {
		return -1
	}
	return m.before.CPU
}

// between compares the two durations. The counter was read somewhere between the
// two readings of the reference; the middle is off by half of that at most, and
// half the reference's step.
func (s *Sampler) between(requestedNs float64, start, end mark) Sample {
	sample := Sample{
		RequestedNs:  requestedNs,
		ReferenceNs:  s.Reference.Ns(end.Before-start.Before+end.After-start.After) / 2,
		CounterTicks: end.Counter - start.Counter,
		PairingNs:    (s.widthNs(start) + s.widthNs(end)) / 2,
		StartCPU:     start.cpu(), EndCPU: end.cpu(),
		Counted: start.counted && end.counted,
	}
	sample.CounterNs = stats.FloatOf(s.Counter.Ns(sample.CounterTicks))
	sample.ErrorNs = sample.PairingNs + stepNs(s.Counter)
	if sample.Counted {
		sample.Use = end.before.Since(start.after)
		sample.IdleNs = math.Max(0, sample.ReferenceNs-float64(sample.Use.CPUNs+sample.Use.WaitNs))
		// The readings that were chosen may lie on the far side of a switch within
		// an end.
		around := end.after.Since(start.before)
		sample.Use.WaitNs = around.WaitNs
		sample.Use.VoluntarySwitches, sample.Use.InvoluntarySwitches = around.VoluntarySwitches, around.InvoluntarySwitches
	}
	return sample
}

// widthNs is how far apart the moments may be that the readings of one end stand
// for.
func (s *Sampler) widthNs(m mark) float64 {
	return math.Abs(s.Reference.Ns(m.Width())) + stepNs(s.Reference)
}

// stepNs is how much later than its reading a clock may have been read: up to the
// next value that it can show, and a unit more where values are cut to units that
// they are no multiples of.
func stepNs(c clock.Rated) float64 {
	tick := c.TickNs.Value
	switch {
	case !(tick > 0): // not known
		return math.Max(0, c.AccuracyNs)
	case c.AccuracyNs > tick:
		return c.AccuracyNs + tick
	}
	return tick
}
