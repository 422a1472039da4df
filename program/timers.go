package program

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// timerWait is a block that was ended by a timer.
type timerWait struct {
	thread int // its index among the threads of the program by their starts
	ns     float64
	// lateNs is the largest possible delay of the block's begin compared with a run alone.
	lateNs float64
}

// allowForTimers lowers the upper bounds of a program whose sleeps last equally long in all runs, no matter how late
// they begin: such sleeps have no deadline, so the waits before them are subtracted. ruleOutDeadline does this for a
// single thread without tracepoints.
func (c *conclusion) allowForTimers() {
	if c.varies || c.mostlyLate() || !c.timersMove() {
		return
	}
	for i, r := range c.used {
		if end := r.traced.moved.atNs; len(r.traced.timers) > 0 && end < c.high[i] {
			c.high[i] = math.Max(c.low[i], end)
		}
	}
}

// timersMove reports whether each sleep of the program lasts equally long in all runs, although it began late by
// different times, or was hardly late at all.
func (c *conclusion) timersMove() bool {
	type sleep struct{ thread, number int } // number is the sleep's index in its thread
	slept, late := map[sleep][]float64{}, map[sleep][]float64{}
	most, fewest := 0, math.MaxInt
	for _, r := range c.used {
		t, number := r.traced, map[int]int{}
		if !r.noted || t.blocksUnknown > 0 {
			return false
		}
		for _, w := range t.timers {
			s := sleep{w.thread, number[w.thread]}
			number[w.thread]++
			slept[s], late[s] = append(slept[s], w.ns), append(late[s], w.lateNs)
		}
		most, fewest = max(most, len(t.timers)), min(fewest, r.timedWaits)
	}
	if most < fewest { // some calls found their time passed in every run
		return false
	}
	matters := c.plan.Precision * stats.Median(c.low) / float64(max(1, most))
	for s := range slept {
		if len(slept[s]) < fewestChosen {
			return false
		}
		if hardly := stats.Quantile(slices.Sorted(slices.Values(late[s])), 0.9) <= matters; !hardly && spread(slept[s]) > alikeShare*spread(late[s]) {
			return false
		}
	}
	return true
}
