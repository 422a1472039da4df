package check

import (
	"fmt"
	"math"
	"slices"

	"chronoscope/clock"
	"chronoscope/stats"
)

// discipline is how the kernel says that it keeps its clocks in step with the
// time of day (adjtimex(2)). CLOCK_MONOTONIC_RAW and the processor's counters are
// left alone.
type discipline struct {
	// ratePPM is by how much the kernel was told to let its clocks run faster.
	ratePPM float64
	// offsetNs is what is still to be made up for by running faster or slower.
	offsetNs float64
	// following: a daemon or a pulse steers them from moment to moment.
	following bool
	// leapPending: the last second of this day will be left out or repeated.
	leapPending bool
}

// kept is the discipline before and after a watch, or why it is not known, and the
// clocksource that the kernel's clocks rest on, empty where that is not known.
type kept struct {
	before, after discipline
	err           error
	clocksource   string
}

// counterSources are the clocksources that are the processor's own counter, scaled.
var counterSources = []string{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"}

// disciplines reports that the kernel may bend a clock's rate.
func disciplines(c *clock.Clock) bool {
	return c.Kind == clock.KindWall && c.Name != "monotonic-raw"
}

// heldAgainst says what a clock was held against, and what that is worth: two
// clocks that rest on one oscillator agree however wrong it is.
func (k kept) heldAgainst(s *subject, reference *clock.Clock) string {
	oneIsCounter := (s.Kind == clock.KindCounter) != (reference.Kind == clock.KindCounter)
	switch {
	case !oneIsCounter:
		return "held against " + reference.Name + ", which rests on the same source: that says nothing of the oscillator"
	case slices.Contains(counterSources, k.clocksource):
		return "held against " + reference.Name + ", with the same counter below (clocksource " + k.clocksource + "): that says nothing of the oscillator"
	case k.clocksource == "":
		return "held against " + reference.Name + "; whether both rest on the same oscillator is not known"
	}
	return "held against " + reference.Name + " (clocksource " + k.clocksource + ")"
}

// explanation says why a clock that the kernel disciplines runs at another rate
// than the reference, between lo and hi ppm faster; empty where nothing explains
// it.
func (k kept) explanation(lo, hi float64) string {
	b, a := k.before, k.after
	least, most := math.Min(b.ratePPM, a.ratePPM), math.Max(b.ratePPM, a.ratePPM)
	bent := 0.0
	why := fmt.Sprintf("the kernel was told to let its clocks run %+.4g ppm faster (adjtimex)", a.ratePPM)
	switch {
	case k.err != nil:
		bent, why = clock.SlewLimit*1e6, fmt.Sprintf("the system may be slewing its clocks, and that could not be asked: %v", k.err)
	case b.following || a.following:
		bent, why = clock.SlewLimit*1e6, "the system is slewing its clocks to keep them in step with the time of day (adjtimex: PLL, FLL or PPS)"
	case b.offsetNs != 0 || a.offsetNs != 0:
		bent, why = clock.SlewLimit*1e6, fmt.Sprintf("the system is slewing its clocks to make up for %s (adjtimex)", stats.Duration(math.Max(math.Abs(b.offsetNs), math.Abs(a.offsetNs)), 4))
	case least != most:
		why = fmt.Sprintf("the system changed the rate of its clocks from %+.4g to %+.4g ppm meanwhile (adjtimex)", b.ratePPM, a.ratePPM)
	case a.ratePPM == 0:
		return ""
	}
	bent += driftTolerance
	if hi < least-bent || lo > most+bent {
		return ""
	}
	return why
}
