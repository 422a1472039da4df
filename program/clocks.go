package program

import (
	"math"

	"chronoscope/stats"
)

// alone is a traced run whose clocks did not show its waits ([process.Command.NoteClocks]): its CPU time by the
// kernel's events, how often its tracer stopped it, and how often it read a clock.
type alone struct {
	ranNs        float64
	stops, looks int
}

// worksByClock reports whether the program may do more or less work depending on a clock: it works for a while, reads
// the clock, and works on; or its readings are not all known. Readings before or after all of its work change nothing.
func (r *Run) worksByClock() bool {
	return float64(r.ClockWorkNs) > passable(float64(r.CPUNs())) || r.Unnoted == nil && r.Unclocked != nil
}

// worksByCPUTime is as worksByClock, for readings of the CPU time.
func (r *Run) worksByCPUTime() bool { return float64(r.CPUTimeWorkNs) > passable(float64(r.CPUNs())) }

// allowForCPUTime widens the bounds of a program that may work until it has used some CPU time. If that holds
// interrupts, they do not make the program longer.
func (c *conclusion) allowForCPUTime() {
	if !c.series.looksAtCPUTime {
		return
	}
	for i, r := range c.used {
		c.high[i] = math.Max(c.high[i], r.grossHighNs)
	}
}

// stopCPUNs is the most CPU time that a stop by a tracer costs a program. Two runs did the same work if their CPU times
// differ by no more than the sum of sameCPUShare, a share, and sameCPUNs (see usualCPU).
const stopCPUNs, sameCPUShare, sameCPUNs = 10e3, 0.03, 0.2e6

// uncorrected reports whether the program may have done less even in the traced run because it was late: amid its work
// it read clocks that showed its waits.
func (r *Run) uncorrected() bool { return float64(r.UncorrectedWorkNs) > passable(float64(r.CPUNs())) }

// undoneNs bounds the work that a program that reads clocks may have left undone because it was late. It returns the
// most CPU time by which runs whose clocks hid the program's waits can exceed the runs that count. That is infinite if
// these times clearly differ, or are not known.
func (c *conclusion) undoneNs() float64 {
	usual, same := c.usualCPU()
	least := math.Inf(1)
	for _, a := range c.series.alone {
		stopped := stopCPUNs * float64(a.stops)
		if more := a.ranNs - usual; more >= -same && more <= same+stopped {
			least = math.Min(least, same+stopped)
		}
	}
	return least
}

// usualCPU returns the median CPU time of the runs that count. same is the largest difference from it in a run that did
// the same work.
func (c *conclusion) usualCPU() (usual, same float64) {
	ran := c.each(func(r *Run) float64 { return r.traced.ranNs })
	usual = stats.Median(ran)
	return usual, sameCPUShare*usual + sameCPUNs + 2*madScale*stats.MAD(ran)
}

// addedNs returns how much more work the program did because it was late, in CPU time. It is 0 unless the program read
// clocks, and used clearly less CPU time in each run whose clocks hid its waits. Such a run often ends with its last
// reading, so that no work between readings shows it.
func (c *conclusion) addedNs() float64 {
	usual, same := c.usualCPU()
	added := math.Inf(1)
	for _, a := range c.series.alone {
		if a.looks == 0 {
			return 0
		}
		added = math.Min(added, usual-a.ranNs)
	}
	if math.IsInf(added, 1) || added <= same || !c.mostlyWaited() {
		return 0
	}
	return added
}

// madScale makes a median absolute deviation comparable to a standard deviation.
const madScale = 1.4826

// littleLate is a share of the wall time. A program that looks at clocks and waited for longer may have left out work that
// takes longer than the wait, and one that sleeps until some time may have left out the sleep. Up to it, the interval holds
// the wait.
const littleLate = 0.02

// mayLeaveOut reports whether the program looks at clocks, had to wait by enough to leave out a part of its work, and no run
// whose clocks hid its waits shows what it does alone. If there was no such run at all, any wait that matters is enough.
func (c *conclusion) mayLeaveOut() bool {
	if !c.series.looksAtClock || !math.IsInf(c.undoneNs(), 1) {
		return false
	}
	return len(c.series.alone) == 0 || c.typical((*Run).waitedNs) > littleLate*c.Wall.Value
}

// doneAlone returns the largest excess of the CPU time of a run whose clocks hid its waits over the usual CPU time; 0
// if there is none.
func (c *conclusion) doneAlone() (more float64) {
	usual, _ := c.usualCPU()
	for _, a := range c.series.alone {
		more = math.Max(more, a.ranNs-usual)
	}
	return more
}

// allowForClocks widens the bounds of a program that reads clocks while it works. It may have left work undone because
// it was late; then it used more CPU time in runs whose clocks hid its waits. It may also work until some time, so that
// interrupts do not make it longer. It does not work by a clock if it waited for much longer than the work that it can
// have left undone. Work that it did because it was late is not done alone.
func (c *conclusion) allowForClocks() {
	added := c.addedNs()
	for i := range c.used {
		c.low[i] = math.Max(0, c.low[i]-added)
	}
	if !c.series.looksAtClock {
		return
	}
	undone := c.undoneNs()
	if math.IsInf(undone, 1) && c.mostlyWaited() {
		more := c.doneAlone()
		for i := range c.used {
			c.high[i] += more
		}
	}
	mayLeaveOut := c.mayLeaveOut()
	byClock := !(c.typical((*Run).waitedNs) > 2*undone)
	for i, r := range c.used {
		if byClock {
			c.high[i] = math.Max(c.high[i], r.grossHighNs)
		}
		more := math.Min(undone, r.waitedNs())
		if mayLeaveOut {
			more = 0 // no bound is known, and the verdict says so
		}
		r.slackUpNs, r.slackUpOfLowNs = r.slackUpNs+more, r.slackUpOfLowNs+more
	}
}
