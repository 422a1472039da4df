package check

import (
	"fmt"
	"math"

	"chronoscope/clock"
	"chronoscope/stats"
)

const (
	burstLength = 64 // readings, as many as the kernel's own test for inconsistent clocks takes
	tries       = 5  // sandwiches of which a look keeps the tightest
	// wanderLimit is how far a free oscillator may wander while it is watched.
	wanderLimit = 10e-6
	// sameRate is for clocks that the kernel derives from one another.
	sameRate = 1e-6
)

// subject is a clock with what was gathered of it.
type subject struct {
	clock.Rated
	fenced func() int64
	// bare reads without a fence; nil for a clock that knows no difference.
	bare func() int64
	// keepsTime: time passes by it, whoever runs.
	keepsTime bool
	// shared: its readings can be compared between threads.
	shared bool
	// disciplined: the kernel may bend its rate.
	disciplined bool
	// standard: the other clocks' rates are held against it.
	standard bool
	// bits is how wide the counter is.
	bits int

	burst [burstLength]int64
	order BackSteps
	// between are those from one look to the next, and wraps those that look like a
	// counter starting over: no steps back where it does.
	between, wraps BackSteps
	seen           bool
	last           int64

	rate  *watch // against the best reference; nil where there is none
	steps *watch // against a clock of the same rate, where there is one; else rate

	across *across
}

// newSubject describes a clock of this process. Linux disciplines all of its wall
// clocks but CLOCK_MONOTONIC_RAW.
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
		s.bits = 56 // at least, Arm Architecture Reference Manual, "Generic Timer"
	}
	return s
}

// tickNs is NaN where it is not known.
func (s *subject) tickNs() float64 { return tickNs(s.Rated) }

func (s *subject) accuracyNs() float64 { return accuracyNs(s.Rated) }

func tickNs(c clock.Rated) float64 {
	if ns := c.TickNs.Value; ns > 0 && !math.IsInf(ns, 0) {
		return ns
	}
	return math.NaN()
}

// accuracyNs is a tick at least, and that where nothing better is known.
func accuracyNs(c clock.Rated) float64 {
	if c.AccuracyNs > tickNs(c) && !math.IsInf(c.AccuracyNs, 0) {
		return c.AccuracyNs
	}
	return tickNs(c)
}

// length writes a number of ticks.
func (s *subject) length(ticks int64) string {
	if ns := float64(ticks) * s.tickNs(); !math.IsNaN(ns) {
		return stats.Duration(ns, 4)
	}
	return fmt.Sprintf("%d ticks", ticks)
}

// look takes a burst of readings and looks for steps back in it, and takes a
// sandwich with each reference.
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

// watch is a clock beside a reference.
type watch struct {
	clock, reference clock.Rated
	// bend is how far the ratio of their rates may change without a fault.
	bend       float64
	sandwiches []clock.Sandwich
}

// look keeps the tightest of a few sandwiches.
func (w *watch) look() {
	w.sandwiches = append(w.sandwiches, clock.Tightest(w.clock.Clock, w.reference.Clock, tries))
}

// spanNs is how long the clock was watched, by the reference.
func (w *watch) spanNs() float64 {
	if len(w.sandwiches) == 0 {
		return 0
	}
	return w.sandwiches[len(w.sandwiches)-1].MiddleSince(w.sandwiches[0]) * tickNs(w.reference)
}

// pairs are the sandwiches as times, with the error that each may have.
func (w *watch) pairs(sandwiches []clock.Sandwich) []Pair {
	return Pairs(sandwiches, tickNs(w.reference), tickNs(w.clock), accuracyNs(w.clock)+accuracyNs(w.reference))
}
