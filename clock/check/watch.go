package check

import (
	"fmt"
	"math"

	"chronoscope/clock"
	"chronoscope/stats"
)

const (
	burstLength = 64 // readings; the kernel's own test for inconsistent clocks takes as many
	tries       = 5  // sandwiches per look; the tightest is kept
	// wanderLimit is the relative amount by which the rate of a free oscillator may change
	// during a watch.
	wanderLimit = 10e-6
	// sameRate is the limit for two clocks that the kernel derives from one another.
	sameRate = 1e-6
)

// subject is a clock that is checked, with what was gathered about it.
type subject struct {
	clock.Rated
	fenced func() int64
	// bare reads without a fence; nil if the clock has no such reading.
	bare func() int64
	// keepsTime reports that the clock counts real time, whichever thread runs.
	keepsTime bool
	// shared reports that its readings can be compared between threads.
	shared bool
	// disciplined reports that the kernel may change its rate.
	disciplined bool
	// standard reports that the other clocks' rates are compared with it.
	standard bool
	// bits is the width of the counter.
	bits int

	burst [burstLength]int64
	order BackSteps
	// between counts the steps back from one look to the next. wraps counts those of them that
	// look like a counter starting over; they are no faults if the counter does start over.
	between, wraps BackSteps
	seen           bool
	last           int64

	rate  *watch // against the best reference; nil if there is none
	steps *watch // against a clock of the same rate if there is one, otherwise equal to rate

	across *across
}

// newSubject describes a clock of this process. Linux may change the rate of all of its wall
// clocks except CLOCK_MONOTONIC_RAW.
func newSubject(c clock.Rated) *subject {
	s := &subject{
		Rated: c, fenced: c.Start, bits: 64, across: newAcross(),
		keepsTime: c.Kind == clock.KindWall || c.Kind == clock.KindCounter && c.Scope == clock.ScopeMachine,
		shared:    c.Scope != clock.ScopeThread, disciplined: disciplines(c.Clock),
	}
	if s.keepsTime && c.Kind == clock.KindCounter {
		s.bare = c.Read
	}
	if c.Name == "cntvct" || c.Name == "cntvct-fenced" {
		s.bits = 56 // the least width that the Arm Architecture Reference Manual allows ("Generic Timer")
	}
	return s
}

// tickNs returns the length of a tick; NaN if it is not known.
func (s *subject) tickNs() float64 { return tickNs(s.Rated) }

func (s *subject) accuracyNs() float64 { return accuracyNs(s.Rated) }

// measurable reports whether the length of the clock's ticks and its accuracy are known. Otherwise it
// can't be told whether a difference to another clock is a fault.
func (s *subject) measurable() bool { return s.accuracyNs() > 0 }

func tickNs(c clock.Rated) float64 {
	if ns := c.TickNs.Value; ns > 0 && !math.IsInf(ns, 0) {
		return ns
	}
	return math.NaN()
}

// accuracyNs returns the clock's accuracy, but at least one tick; NaN if either is not known.
func accuracyNs(c clock.Rated) float64 {
	if math.IsInf(c.AccuracyNs, 0) {
		return math.NaN()
	}
	return math.Max(c.AccuracyNs, tickNs(c))
}

// length formats a number of ticks as a duration, if the tick's length is known.
func (s *subject) length(ticks int64) string {
	if ns := float64(ticks) * s.tickNs(); !math.IsNaN(ns) {
		return stats.Duration(ns, 4)
	}
	return fmt.Sprintf("%d ticks", ticks)
}

// look takes a burst of readings, looks for steps back in it, and takes a sandwich with each
// reference.
func (s *subject) look() {
	s.Chain(0, s.burst[:])
	if s.seen {
		s.between.compare(s.last, s.burst[0])
	}
	s.seen, s.last = true, s.burst[0]
	for _, ticks := range s.burst[1:] {
		if wrappedAt(s.last, ticks) > 0 {
			s.wraps.compare(s.last, ticks)
		} else {
			s.order.compare(s.last, ticks)
		}
		s.last = ticks
	}
	if s.rate != nil {
		s.rate.look()
	}
	if s.steps != nil && s.steps != s.rate {
		s.steps.look()
	}
}

// watch compares a clock with a reference.
type watch struct {
	clock, reference clock.Rated
	// bend is how much the ratio of their rates may change without a fault.
	bend       float64
	sandwiches []clock.Sandwich
}

func (w *watch) look() {
	w.sandwiches = append(w.sandwiches, clock.Tightest(w.clock.Clock, w.reference.Clock, tries))
}

// spanNs returns the time for which the clock was watched, by the reference.
func (w *watch) spanNs() float64 {
	if len(w.sandwiches) == 0 {
		return 0
	}
	return w.sandwiches[len(w.sandwiches)-1].MiddleSince(w.sandwiches[0]) * tickNs(w.reference)
}

// pairs converts the sandwiches to times, each with the error that it may have.
func (w *watch) pairs(sandwiches []clock.Sandwich) []Pair {
	return Pairs(sandwiches, tickNs(w.reference), tickNs(w.clock), accuracyNs(w.clock)+accuracyNs(w.reference))
}
