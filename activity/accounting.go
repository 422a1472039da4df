package activity

import (
	"fmt"
	"math"
	"slices"
)

// Span is a stretch of time in which a CPU ran one process in one mode.
type Span struct {
	Process string
	// System is kernel mode on behalf of the process: a system call, a page
	// fault, one half of a switch to or from it (Bryant 2003, section 9.1.1).
	System         bool
	StartNs, EndNs float64
}

// CPUTime is time that a process or thread ran, by mode.
type CPUTime struct{ UserNs, SystemNs float64 }

// SumNs is the time in both modes.
func (c CPUTime) SumNs() float64 { return c.UserNs + c.SystemNs }

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

// Account is what accounting by ticks makes of one process, beside what it
// really used (Bryant 2003, section 9.2, Figure 9.7).
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

// Charge accounts for the spans by ticks, as a kernel does that looks at each
// tick which process was active, and in which mode: each tick charges a whole
// interval to the span that it ends or falls into, "the activity to its
// immediate left" (Bryant 2003, section 9.2.1). Ticks that no process ran at are
// those of the process named "".
//
// The spans have to follow one another in time; gaps between them are idle.
func Charge(spans []Span, ticksNs []float64, intervalNs float64) (map[string]Account, error) {
	if err := checkSpans(spans); err != nil {
		return nil, err
	}
	accounts := map[string]Account{}
	for i, s := range spans {
		a := accounts[s.Process]
		a.Used.add(s.System, s.EndNs-s.StartNs)
		if i == 0 || spans[i-1].Process != s.Process || spans[i-1].EndNs < s.StartNs {
			a.Segments++
		}
		accounts[s.Process] = a
	}
	for _, at := range ticksNs {
		left := spanLeftOf(spans, at)
		a := accounts[left.Process]
		a.charge(left.System)
		accounts[left.Process] = a
	}
	for process, a := range accounts {
		a.IntervalNs = intervalNs
		accounts[process] = a
	}
	return accounts, nil
}

// checkSpans is the error of spans that don't follow one another.
func checkSpans(spans []Span) error {
	end := math.Inf(-1)
	for i, s := range spans {
		if !(s.StartNs >= end && s.EndNs >= s.StartNs) {
			return fmt.Errorf("activity: span %d, of %q from %v to %v ns, follows one that ends at %v ns: list the spans in the order of time, without overlaps", i, s.Process, s.StartNs, s.EndNs, end)
		}
		end = s.EndNs
	}
	return nil
}

// spanLeftOf is the span that was active just before a time, or none.
func spanLeftOf(spans []Span, at float64) Span {
	i, _ := slices.BinarySearchFunc(spans, at, func(s Span, at float64) int {
		if s.EndNs < at {
			return -1
		}
		return 1
	})
	if i < len(spans) && spans[i].StartNs < at {
		return spans[i]
	}
	return Span{}
}
