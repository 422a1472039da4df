package fidelity

import (
	"fmt"

	"chronoscope/clock"
	"chronoscope/stats"
)

// Refused says that a comparison would be meaningless, and why. It is an error.
type Refused struct {
	Counter, Reference string
	Workload           string // empty if it holds for every workload
	Why                string // the reason, and what to do instead
}

func (r *Refused) Error() string {
	beside := ""
	if r.Workload != "" {
		beside = " beside " + r.Workload
	}
	return fmt.Sprintf("%s against %s%s: %s", r.Counter, r.Reference, beside, r.Why)
}

// worstStep is the largest permitted step of a reference, as a share of the longest interval.
// With a coarser reference the comparison would show next to nothing.
const worstStep = 0.01

// CheckPair returns an error if two clocks can't be compared over intervals of up to longestNs. The
// error is a [*Refused].
func CheckPair(counter, reference clock.Rated, longestNs float64) error {
	refuse := func(format string, args ...any) error {
		return &Refused{Counter: counter.Name, Reference: reference.Name, Why: fmt.Sprintf(format, args...)}
	}
	for _, c := range []clock.Rated{counter, reference} {
		if countsEvents(c.Clock) {
			return refuse("%s counts events, which are no time: take a clock, or a counter of cycles", c.Name)
		}
	}
	steps := 2 * stepNs(reference)
	switch {
	case counter.Name == reference.Name, reference.Name == Synchronised && steered(counter.Clock) && counter.Settable:
		// CLOCK_TAI and all clocks of the calendar are CLOCK_REALTIME, moved or rounded.
		return refuse("a clock always agrees with itself: take another reference")
	case reference.CountsSleep == clock.No:
		return refuse("%s stands still while its thread does not run, so it proves nothing: take a wall clock as reference", reference.Name)
	case !(reference.TickNs.Value > 0):
		return refuse("the length of the reference's tick is not known: calibrate it, or take a clock that counts in nanoseconds")
	case reference.AccuracyNs > counter.AccuracyNs && steps > worstStep*longestNs:
		return refuse("the reference moves in steps of %s, so that over %s it could only tell an error of %.2g %% or more: take a finer one, or intervals of %s and more",
			stats.Duration(stepNs(reference), 3), stats.Duration(longestNs, 3), 100*steps/longestNs, stats.Duration(steps/worstStep, 3))
	}
	return nil
}

// CheckWorkload returns an error if the counter stands still while the workload sleeps. The error is
// a [*Refused].
func CheckWorkload(counter, reference clock.Rated, w Workload) error {
	if counter.CountsSleep != clock.No || w.Busy {
		return nil
	}
	return &Refused{
		Counter: counter.Name, Reference: reference.Name, Workload: w.Name,
		Why: fmt.Sprintf("%s counts only while its thread runs, and in this workload others run or none: take one in which the thread is busy alone, such as fibonacci", counter.Name),
	}
}

// countsEvents reports whether a counter's ticks depend on what a program does. Cycles are events
// too, but they have a rate.
func countsEvents(c *clock.Clock) bool { return c.Name == "perf-instructions" }
