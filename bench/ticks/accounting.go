package main

import (
	"fmt"
	"math"
	"slices"
)

// Span is a stretch of time in which a CPU ran one process in one mode.
type Span struct {
	Process string
	// System is kernel mode on behalf of the process: a system call, a page fault, or half of a switch to or
	// from it (Bryant 2003, section 9.1.1).
	System         bool
	StartNs, EndNs float64
}

// Charge accounts for the spans by ticks. It works like a kernel that notes at each tick which process is
// active, and in which mode. Each tick charges a whole interval to the span that it ends or falls into, "the
// activity to its immediate left" (Bryant 2003, section 9.2.1). Ticks at which no process ran are charged to
// the process named "".
//
// The spans have to follow one another in time; gaps between them are idle.
func Charge(spans []Span, ticksNs []float64, intervalNs float64) (map[string]Account, error) {
	if err := checkSpans(spans); err != nil {
		return nil, err
	}
	accounts := map[string]Account{}
	for i, s := range spans {
		a := accounts[s.Process]
		if s.System {
			a.Used.SystemNs += s.EndNs - s.StartNs
		} else {
			a.Used.UserNs += s.EndNs - s.StartNs
		}
		if i == 0 || spans[i-1].Process != s.Process || spans[i-1].EndNs < s.StartNs {
			a.Segments++
		}
		accounts[s.Process] = a
	}
	for _, at := range ticksNs {
		left := spanLeftOf(spans, at)
		a := accounts[left.Process]
		if left.System {
			a.SystemTicks++
		} else {
			a.UserTicks++
		}
		accounts[left.Process] = a
	}
	for process, a := range accounts {
		a.IntervalNs = intervalNs
		accounts[process] = a
	}
	return accounts, nil
}

// checkSpans returns an error if the spans don't follow one another.
func checkSpans(spans []Span) error {
	end := math.Inf(-1)
	for i, s := range spans {
		if !(s.StartNs >= end && s.EndNs >= s.StartNs) {
			return fmt.Errorf("span %d, of %q from %v to %v ns, follows one that ends at %v ns: list the spans in the order of time, without overlaps", i, s.Process, s.StartNs, s.EndNs, end)
		}
		end = s.EndNs
	}
	return nil
}

// spanLeftOf returns the span that was active just before a time, or an empty one.
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
