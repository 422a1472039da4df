package program

import (
	"math"

	"chronoscope/stats"
)

// alone is what a run used whose clocks did not show what it waited ([process.Command.NoteClocks]):
// its CPU time, by the kernel's notes, how often it stood still for its tracer, and how often it looked.
type alone struct {
	ranNs        float64
	stops, looks int
}

// worksByClock tells whether the program may do more or less work by what a clock shows: it works
// for a while, looks, and works on. Looks before all of its work and after it change nothing.
func (r *Run) worksByClock() bool {
	return float64(r.ClockWorkNs) > passable(float64(r.CPUNs())) || r.Unnoted == nil && r.Unclocked != nil
}

// Each stop for a tracer costs the program at most stopCPUNs of CPU time. What programs use differs
// from run to run by sameCPUShare, and by sameCPUNs, without a reason that matters.
const stopCPUNs, sameCPUShare, sameCPUNs = 10e3, 0.03, 0.2e6

// uncorrected tells whether the program may have done less in the traced run, too, because it was late:
// it looked at clocks amid its work that showed what it had waited.
func (r *Run) uncorrected() bool { return float64(r.UncorrectedWorkNs) > passable(float64(r.CPUNs())) }

// undoneNs is how much work the program, which looks at clocks, may at most have left undone because
// it was late: by how much its CPU time, in runs whose clocks did not show what it waited, may exceed
// that of the runs that count. It is infinite where it does exceed that, or is not known.
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

// usualCPU is the CPU time of the runs that count, and how far another may be off without a reason that matters.
func (c *conclusion) usualCPU() (usual, same float64) {
	ran := c.each(func(r *Run) float64 { return r.traced.ranNs })
	usual = stats.Median(ran)
	return usual, sameCPUShare*usual + sameCPUNs + 2*madScale*stats.MAD(ran)
}

// addedNs is how much work the program did because it was late: it looked at clocks, and used clearly
// less CPU time in each run whose clocks did not show what it waited. Such a run often ends with its
// last look, so that no work between looks tells of it.
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

// doneAlone is by how much more CPU time it used at most where its clocks did not show what it waited.
func (c *conclusion) doneAlone() (more float64) {
	usual, _ := c.usualCPU()
	for _, a := range c.series.alone {
		more = math.Max(more, a.ranNs-usual)
	}
	return more
}

// allowForClocks takes a program that looks at a clock while it works. It may have left work undone
// where it was late: where its clocks did not show that, it used more CPU time. It may also work until
// some time, so that interrupts don't make it longer, unless it waited for much longer than it can have
// left undone: then it works by no clock. Work that it did because it was late is not done alone.
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
	byClock := !(c.typical((*Run).waitedNs) > 2*undone)
	for i, r := range c.used {
		if byClock {
			c.high[i] = math.Max(c.high[i], r.grossHighNs)
		}
		if !math.IsInf(undone, 1) {
			more := math.Min(undone, r.waitedNs())
			r.slackUpNs, r.slackUpOfLowNs = r.slackUpNs+more, r.slackUpOfLowNs+more
		}
	}
}
