package check

import (
	"fmt"
	"math"
	"slices"

	"chronoscope/clock"
	"chronoscope/stats"
)

// discipline describes how the kernel steers its clocks towards the time of day (adjtimex(2)). It
// never steers CLOCK_MONOTONIC_RAW and the processor's counters.
type discipline struct {
	// ratePPM is how much faster the kernel was told to let its clocks run.
	ratePPM float64
	// offsetNs is the offset that the kernel still has to remove by running faster or slower.
	offsetNs float64
	// following reports that a daemon or a pulse per second steers the clocks all the time.
	following bool
	// leapPending reports that the last second of this day will be left out or repeated.
	leapPending bool
}

// kept holds the discipline before and after a watch, or the error of reading it, and the
// clocksource on which the kernel's clocks rest, empty if that is not known.
type kept struct {
	before, after discipline
	err           error
	clocksource   string
}

// counterSources names the clocksources that scale the processor's own counter.
var counterSources = []string{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"}

// disciplines reports whether the kernel may change a clock's rate.
func disciplines(c *clock.Clock) bool {
	return c.Kind == clock.KindWall && c.Name != "monotonic-raw"
}

// heldAgainst names the reference that a clock was compared with, and says what the comparison
// can't show: two clocks that rest on one oscillator agree even if the oscillator is wrong.
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

// explanation says why a clock that the kernel disciplines runs between lo and hi ppm faster
// than the reference; it is empty if the discipline does not explain it.
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
