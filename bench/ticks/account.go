package main

import "chronoscope/activity"

// CPUTime is the time that a process or thread ran, in user mode and in system mode.
type CPUTime struct{ UserNs, SystemNs float64 }

// SumNs returns the time in both modes.
func (c CPUTime) SumNs() float64 { return c.UserNs + c.SystemNs }

// Since returns the time that was added since an earlier reading.
func (c CPUTime) Since(before CPUTime) CPUTime {
	return CPUTime{UserNs: c.UserNs - before.UserNs, SystemNs: c.SystemNs - before.SystemNs}
}

// Account compares the CPU time that accounting by ticks charges to one process with the time that
// it really used (Bryant 2003, section 9.2, Figure 9.7).
type Account struct {
	IntervalNs float64 // time from one tick to the next
	// UserTicks and SystemTicks are the numbers of ticks that were charged to the process.
	UserTicks, SystemTicks int
	// Segments is the number of stretches in which the CPU ran nothing but the process and
	// interrupts.
	Segments int
	// Used is the time that the process really used.
	Used CPUTime
}

// Ticks returns how many ticks were charged to the process.
func (a Account) Ticks() int { return a.UserTicks + a.SystemTicks }

// Charged returns the time that the system reports: one whole interval for each tick.
func (a Account) Charged() CPUTime {
	return CPUTime{UserNs: float64(a.UserTicks) * a.IntervalNs, SystemNs: float64(a.SystemTicks) * a.IntervalNs}
}

// Bounds returns the bounds of [activity.TimeBounds] on the time that the process used.
func (a Account) Bounds() (aboveNs, belowNs float64) {
	return activity.TimeBounds(a.Ticks(), a.Segments, a.IntervalNs)
}
