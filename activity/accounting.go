package activity

import (
	"math"

	"chronoscope/stats"
)

// CPUTime is time that a process or thread ran, by mode.
type CPUTime struct{ UserNs, SystemNs float64 }

// SumNs is the time in both modes.
func (c CPUTime) SumNs() float64 { return c.UserNs + c.SystemNs }

// known is the time in both modes; missing where c is nil.
func (c *CPUTime) known() stats.Float {
	if c == nil {
		return stats.Float{}
	}
	return stats.FloatOf(c.SumNs())
}

// Since is what has been added since an earlier reading.
func (c CPUTime) Since(before CPUTime) CPUTime {
	return CPUTime{UserNs: c.UserNs - before.UserNs, SystemNs: c.SystemNs - before.SystemNs}
}

// add counts time in one of the modes.
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
	IntervalNs float64 // from one tick to the next
	// UserTicks and SystemTicks were charged to the process.
	UserTicks, SystemTicks int
	// Segments are the stretches in which the CPU ran nobody else.
	Segments int
	// Used is what the process really used.
	Used CPUTime
}

// Ticks is how often the process was charged.
func (a Account) Ticks() int { return a.UserTicks + a.SystemTicks }

// Charged is what the system reports: a whole interval a tick.
func (a Account) Charged() CPUTime {
	return CPUTime{UserNs: float64(a.UserTicks) * a.IntervalNs, SystemNs: float64(a.SystemTicks) * a.IntervalNs}
}

// Bounds are those of [TimeBounds] on the sum of what was used.
func (a Account) Bounds() (aboveNs, belowNs float64) {
	return TimeBounds(a.Ticks(), a.Segments, a.IntervalNs)
}

// charge counts a tick.
func (a *Account) charge(system bool) {
	if system {
		a.SystemTicks++
	} else {
		a.UserTicks++
	}
}

// TimeBounds is what a number of ticks, charged over a number of segments, says
// of the time that was really used: it lies above aboveNs and below belowNs,
// both excluded, and 0 is not excluded where aboveNs is 0.
//
// A segment that n ticks fell into lies between two ticks n+1 intervals apart,
// and holds two that are n-1 apart (Bryant 2003, practice problem 9.4: 70 ms
// recorded at 10 ms a tick are more than 60 and less than 80). Each further
// segment adds an interval to either side. No narrower bounds follow from the
// count, however many ticks there are.
func TimeBounds(ticks, segments int, intervalNs float64) (aboveNs, belowNs float64) {
	if segments <= 0 {
		return 0, 0
	}
	return math.Max(0, float64(ticks-segments)) * intervalNs, float64(ticks+segments) * intervalNs
}
