package fidelity

import (
	"errors"
	"math"
	"slices"

	"chronoscope/clock"
	"chronoscope/machine"
	"chronoscope/stats"
)

// Sample is one sandwich: the readings of both clocks around one run of a workload.
type Sample struct {
	// RequestedNs is how long the workload was asked to take, 0 if it was not asked.
	RequestedNs float64 `json:"requested_ns"`
	// ReferenceNs is how long it took according to the reference; NaN if the reference could not
	// be read.
	ReferenceNs float64 `json:"reference_ns"`
	// CounterTicks is what the counter counted, and CounterNs is the time of these ticks at the
	// rate that the counter is believed to have.
	CounterTicks int64       `json:"counter_ticks"`
	CounterNs    stats.Float `json:"counter_ns"`
	// PairingNs bounds how much the two durations may differ because the clocks were not read at
	// the same moment and the reference has steps. ErrorNs is PairingNs plus the counter's steps. A
	// difference of up to ErrorNs is no fault.
	PairingNs float64 `json:"-"`
	ErrorNs   float64 `json:"-"`
	// StartCPU and EndCPU are the CPUs on which the two ends were read; -1 if that is not known, or
	// if the thread was moved during the readings.
	StartCPU int `json:"-"`
	EndCPU   int `json:"-"`
	// IdleNs is how long the thread neither ran nor waited for a CPU: by the kernel's counters, or
	// otherwise by the share of the requested time that the workload sleeps.
	IdleNs float64 `json:"-"`
	// Use is what the kernel counted for the thread between the two ends, if Counted is true. It
	// includes waits and switches within the ends.
	Use     machine.ThreadUse `json:"-"`
	Counted bool              `json:"-"`
}

// Migrated reports whether the two ends are known to have been read on different CPUs, or one of
// them during a move.
func (s Sample) Migrated() bool {
	return s.Counted && (s.StartCPU != s.EndCPU || s.StartCPU < 0)
}

// Sampler takes sandwiches. It must be used by one thread only. Its readings allocate nothing.
type Sampler struct {
	Counter, Reference clock.Rated
	// Look returns what the kernel has counted for the calling thread; nil if the kernel does not
	// tell.
	Look func() (machine.ThreadUse, error)
}

// Take takes a sandwich around run, which is called with the requested time.
func (s *Sampler) Take(requestedNs float64, run func(requestedNs float64)) Sample {
	start := s.mark()
	run(requestedNs)
	return s.between(requestedNs, start, s.mark())
}

// marks is the number of sandwiches from which each end takes the tightest. The first readings
// after a sleep are slow.
const marks = 10

// unread is what a reference shows that could not be read.
const unread = math.MinInt64

// failure returns an error if the reference could not be read.
func (s Sample) failure() error {
	if math.IsNaN(s.ReferenceNs) {
		return errors.New("the reference could not be read")
	}
	return nil
}

// mark is one end of a sandwich. The kernel's counters are read before and after it, so that a move
// to another CPU during the readings is noticed.
type mark struct {
	clock.Sandwich
	before, after machine.ThreadUse
	counted       bool
}

// mark takes some sandwiches of readings and keeps the tightest.
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

// cpu returns the CPU on which the mark was read, or -1.
func (m mark) cpu() int {
	if !m.counted || m.before.CPU != m.after.CPU {
		return -1
	}
	return m.before.CPU
}

// between compares the two durations. The counter was read at some time between the two readings of
// the reference. Their middle is off by at most half the time between them plus half the reference's
// step.
func (s *Sampler) between(requestedNs float64, start, end mark) Sample {
	sample := Sample{
		RequestedNs:  requestedNs,
		ReferenceNs:  s.Reference.Ns(end.Before-start.Before+end.After-start.After) / 2,
		CounterTicks: end.Counter - start.Counter,
		PairingNs:    (s.widthNs(start) + s.widthNs(end)) / 2,
		StartCPU:     start.cpu(), EndCPU: end.cpu(),
		Counted: start.counted && end.counted,
	}
	if slices.Contains([]int64{start.Before, start.After, end.Before, end.After}, unread) {
		sample.ReferenceNs = math.NaN()
	}
	sample.CounterNs = stats.FloatOf(s.Counter.Ns(sample.CounterTicks))
	sample.ErrorNs = sample.PairingNs + stepNs(s.Counter)
	if sample.Counted {
		sample.Use = end.before.Since(start.after)
		sample.IdleNs = math.Max(0, sample.ReferenceNs-float64(sample.Use.CPUNs+sample.Use.WaitNs))
		// A switch within an end may lie on either side of the readings that were chosen, so all
		// switches within the ends are counted.
		around := end.after.Since(start.before)
		sample.Use.WaitNs = around.WaitNs
		sample.Use.VoluntarySwitches, sample.Use.InvoluntarySwitches = around.VoluntarySwitches, around.InvoluntarySwitches
	}
	return sample
}

// widthNs returns how far apart the times may be at which the clocks of one end were read.
func (s *Sampler) widthNs(m mark) float64 {
	return math.Abs(s.Reference.Ns(m.Width())) + stepNs(s.Reference)
}

// stepNs returns the longest time that may pass between the moment that a reading shows and the
// moment of the reading: the clock's tick or its accuracy, whichever is longer. If the accuracy
// is coarser than a tick, one tick is added, because values may be rounded down to ticks that do
// not divide the accuracy.
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
