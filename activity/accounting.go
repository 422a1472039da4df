package activity

import (
	"math"

	"chronoscope/stats"
)

// CPUTime is the time that a process or thread ran, in user mode and in system mode.
type CPUTime struct{ UserNs, SystemNs float64 }

// SumNs returns the time in both modes.
func (c CPUTime) SumNs() float64 { return c.UserNs + c.SystemNs }

// known returns the time in both modes, or a missing value if c is nil.
func (c *CPUTime) known() stats.Float {
	if c == nil {
		return stats.Float{}
	}
	return stats.FloatOf(c.SumNs())
}

// Since returns the time that was added since an earlier reading.
func (c CPUTime) Since(before CPUTime) CPUTime {
	return CPUTime{UserNs: c.UserNs - before.UserNs, SystemNs: c.SystemNs - before.SystemNs}
}

// add adds ns to the system time if system is set, otherwise to the user time.
func (c *CPUTime) add(system bool, ns float64) {
	if system {
		c.SystemNs += ns
	} else {
		c.UserNs += ns
	}
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

// Bounds returns the bounds of [TimeBounds] on the time that the process used.
func (a Account) Bounds() (aboveNs, belowNs float64) {
	return TimeBounds(a.Ticks(), a.Segments, a.IntervalNs)
}

// charge counts a tick, in system mode if system is set, otherwise in user mode.
func (a *Account) charge(system bool) {
	if system {
		a.SystemTicks++
	} else {
		a.UserTicks++
	}
}

// TimeBounds returns what a number of ticks, charged over a number of segments, says about the time
// that was really used: it is more than aboveNs and less than belowNs. Neither bound is itself
// possible, except for an aboveNs of 0.
//
// A segment with n ticks lies between two ticks that are n+1 intervals apart, and contains two
// ticks that are n-1 intervals apart (Bryant 2003, practice problem 9.4: 70 ms recorded at 10 ms a
// tick are more than 60 and less than 80). Each further segment widens the bounds by one interval
// at both ends. The count allows no narrower bounds, however many ticks there are.
func TimeBounds(ticks, segments int, intervalNs float64) (aboveNs, belowNs float64) {
	if segments <= 0 {
		return 0, 0
	}
	return math.Max(0, float64(ticks-segments)) * intervalNs, float64(ticks+segments) * intervalNs
}
