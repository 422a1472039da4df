package fidelity

import (
	"fmt"
	"slices"

	"chronoscope/clock"
	"chronoscope/machine"
)

// These are the oscillators that clocks use. Oscillators of one board count as different,
// although a board may derive one from the other.
const (
	tscOscillator     = "the time stamp counter"
	armOscillator     = "the architecture's counter"
	coreOscillator    = "the core's clock"
	hostClock         = "the host's clock"
	calendarChip      = "the real-time clock's own crystal"
	networkTime       = "the time of the network, to which the kernel keeps this clock"
	unknownOscillator = ""
)

// These are the names of the references with an oscillator of their own.
const (
	PTPKVM       = "ptp-kvm"
	RTC          = "rtc"
	Synchronised = "realtime-synchronised"
)

// oscillatorOfSource maps each clocksource of the kernel to what it counts. The clock in a page
// that the hypervisor shares is the guest's time stamp counter, scaled by the host.
var oscillatorOfSource = map[machine.Text]string{
	"tsc": tscOscillator, "kvm-clock": tscOscillator, "xen": tscOscillator,
	"hyperv_clocksource_tsc_page": tscOscillator,
	"arch_sys_counter":            armOscillator,
	"hpet":                        "the high precision event timer",
	"acpi_pm":                     "the power management timer",
}

// oscillatorOfName maps each clock that does not follow the kernel's clocksource to what it counts.
var oscillatorOfName = map[string]string{
	"tsc": tscOscillator, "tsc-fenced": tscOscillator, "tscp": tscOscillator,
	"cntvct": armOscillator, "cntvct-fenced": armOscillator,
	"perf-cycles": coreOscillator, "perf-ref-cycles": tscOscillator,
	PTPKVM: hostClock, RTC: calendarChip, Synchronised: networkTime,
}

// Independence reports whether two clocks of this machine rest on different oscillators, and why.
// CLOCK_MONOTONIC_RAW and the time stamp counter, for example, rest on the same oscillator while
// the counter is the kernel's clocksource. The agreement of two such clocks shows that the counter
// is read faithfully, but says nothing about its rate. The same holds for two clocks that one time
// service steers. m may be nil if nothing is known about the machine.
func Independence(counter, reference *clock.Clock, m *machine.Machine) (independent bool, why string) {
	a, b := oscillator(counter, m), oscillator(reference, m)
	switch {
	case reference.Name == Synchronised && steered(counter):
		return false, fmt.Sprintf("the same time service steers both %s and %s", counter.Name, reference.Name)
	case a == unknownOscillator:
		return false, fmt.Sprintf("what %s rests on is not known", counter.Name)
	case b == unknownOscillator:
		return false, fmt.Sprintf("what %s rests on is not known", reference.Name)
	case a == b:
		return false, fmt.Sprintf("both %s and %s rest on %s", counter.Name, reference.Name, a)
	case slices.Contains([]string{a, b}, coreOscillator):
		return false, fmt.Sprintf("%s is made from the same crystal as the system's clocks", coreOscillator)
	}
	return true, fmt.Sprintf("%s rests on %s, %s on %s", counter.Name, a, reference.Name, b)
}

// steered reports whether the time service changes the rate of a clock of the kernel (adjtimex(2)).
// The kernel steers all its wall clocks together, except CLOCK_MONOTONIC_RAW.
func steered(c *clock.Clock) bool {
	return slices.Contains(clock.Names(), c.Name) && c.Kind == clock.KindWall && c.Name != "monotonic-raw"
}

// followsClocksource reports whether a clock changes with the kernel's clocksource.
func followsClocksource(name string) bool {
	_, own := oscillatorOfName[name]
	return !own || name == Synchronised
}

// oscillator returns the oscillator on which a clock rests; empty if it is not known. All clocks of
// the kernel rest on its clocksource. CPU time is counted by the scheduler's clock
// (Documentation/timers/timekeeping.rst), which is the processor's counter if the counter is stable
// enough to be the clocksource.
func oscillator(c *clock.Clock, m *machine.Machine) string {
	if known, ok := oscillatorOfName[c.Name]; ok {
		return known
	}
	if m == nil || !slices.Contains(clock.Names(), c.Name) {
		return unknownOscillator
	}
	return oscillatorOfSource[m.Clocksource]
}
