package program

import (
	"fmt"
	"math"

	"chronoscope/stats"
)

// longNs and shortNs are the limits of the experimental protocol of Bryant 2003, section 9.6, in nanoseconds. For
// longer programs than longNs, interval counting works well enough at any load. For shorter ones than shortNs, the
// time by a clock of the processor ([CycleTime]) does. In between, the source asks for a lightly loaded machine.
const longNs, shortNs = 1e9, 10e6

// chooseMethod chooses the method by the protocol, from what was found out about the machine and the program.
func (c *conclusion) chooseMethod() {
	busy := stats.Median(c.low)
	waited := c.waitShare()
	never := c.neverBlocks()
	var widths []float64
	chosen, _ := c.chosen()
	for _, i := range chosen {
		widths = append(widths, c.widths[i])
	}
	c.Method = CycleTime
	switch {
	case stats.Median(widths) > math.Max(boundsApart, c.plan.Precision):
		c.Method = Bounds
		c.bounded = c.boundByOthers()
		c.Explanation = c.sayDelays()
	case never && busy >= c.longNs() && c.charges(busy):
		c.Method = ByIntervalCounting
		c.Explanation = fmt.Sprintf("it runs for %s and never blocks, so that the CPU time that the kernel charged is its time at any load (± %.2g %% here%s)", stats.Duration(busy, 3), 100*c.chargeError(busy), c.validated())
		c.charge()
	case never && waited > c.plan.Precision:
		c.Explanation = fmt.Sprintf("other programs had its CPU for %.2g %% of the time, which is taken off", 100*waited)
	case waited > c.plan.Precision:
		c.Explanation = fmt.Sprintf("it blocks, and waited for a CPU for %.2g %% of the time: the waits that certainly delayed its end are taken off", 100*waited)
	case waited > undisturbed:
		c.Explanation = fmt.Sprintf("little disturbed it (%.2g %% lost to other programs)", 100*waited)
	default:
		c.Explanation = fmt.Sprintf("nothing disturbed it (%.2g %% lost to other programs)", 100*waited)
	}
	if c.most(func(r *Run) bool { return r.traced.blocksKnown > 0 }) {
		c.Explanation += "; the kernel's tracepoints told who woke its threads"
		if c.Method == CycleTime {
			c.Method = CriticalPath
		}
	}
}

// boundByOthers widens the bounds of each run to limits that hold whatever the program waits for. The upper limit is
// the wall time: alone the program takes no longer. The lower limit is calmNs: the wall time less the longest delay
// that others can have caused. If that delay is unknown for more than strayShare of the runs, or if the limits are
// typically too far apart for a trusted result, boundByOthers changes nothing and returns false.
func (c *conclusion) boundByOthers() bool {
	unknown := 0
	var widths []float64
	for _, r := range c.used {
		wall := float64(r.WallNs)
		if !(r.calmNs > 0) {
			unknown++
			continue
		}
		widths = append(widths, (wall-r.calmNs)/wall)
	}
	if float64(unknown) > strayShare*float64(len(c.used)) || !(stats.Median(widths) <= 2*stats.WideShare) {
		return false
	}
	for i, r := range c.used {
		if r.calmNs > 0 {
			c.low[i], c.high[i] = math.Min(c.low[i], r.calmNs), math.Max(c.high[i], float64(r.WallNs))
		}
	}
	return true
}

// sayDelays says what may have delayed a typical run. The bounds also hold interrupts, where these may not have made
// the program longer: one that works until some time, or waits for a timer, ends no later. If the bounds would not be
// far apart without them, sayDelays sets interrupted.
func (c *conclusion) sayDelays() string {
	var least, most, apart []float64
	for i, r := range c.used {
		wall, interrupts := float64(r.WallNs), known(r.InterruptsNs)
		low, high := c.low[i]+interrupts, math.Max(c.high[i], math.Min(c.high[i]+interrupts, known(r.grossHighNs))) // with them
		atLeast := math.Max(0, wall-high)
		least, most, apart = append(least, atLeast), append(most, math.Max(atLeast, wall-low)), append(apart, (high-low)/math.Max(1, c.high[i]))
	}
	if c.interrupted = stats.Median(apart) <= math.Max(boundsApart, c.plan.Precision); c.interrupted {
		return "interrupts took " + stats.Duration(c.typical(func(r *Run) float64 { return r.InterruptsNs }), 3) + ", and how much of that made it longer is not known"
	}
	return fmt.Sprintf("other programs delayed it by an unknown amount, between %s and %s", stats.Duration(stats.Median(least), 3), stats.Duration(stats.Median(most), 3))
}

// undisturbed is the largest share of its time that a program loses to others if nothing disturbed it.
const undisturbed = 0.001

// boundsApart is the relative distance between the bounds above which the method is called Bounds.
const boundsApart = 0.02

// waitShare returns the share of the time for which the program was kept from running.
func (c *conclusion) waitShare() float64 {
	share := c.typical(func(r *Run) float64 {
		if r.noted {
			return r.traced.deficientNs / math.Max(1, r.traced.wallNs)
		}
		return r.RunqueueWaitNs / math.Max(1, float64(r.WallNs))
	})
	if math.IsNaN(share) {
		return 0
	}
	return share
}

// neverBlocks reports whether the program has one thread that could run all the time.
func (c *conclusion) neverBlocks() bool {
	for _, r := range c.used {
		if !r.noted || !r.traced.high.own || r.traced.idleNs > math.Max(passableNs, passableShare*r.HighNs) || r.traced.ranNs > 1.02*r.traced.high.ranNs {
			return false
		}
	}
	return !c.varies
}

// longNs returns the least time for which interval counting is used. This is the source's limit or, if a validation on
// this machine found a lower one, the time above which cycle-grade time fails. It is no less than the least time for
// which interval counting works by that validation.
func (c *conclusion) longNs() float64 {
	least := float64(longNs)
	if _, to, ok := c.setting.reaches(CycleTime, c.plan.Precision); ok && to > 0 {
		least = math.Min(least, to)
	}
	if from, _, ok := c.setting.reaches(ByIntervalCounting, c.plan.Precision); ok {
		least = math.Max(least, from)
	}
	return least
}

// validated says where the limits come from, unless they are the source's.
func (c *conclusion) validated() string {
	if _, _, ok := c.setting.reaches(ByIntervalCounting, c.plan.Precision); ok {
		return ", and good from " + stats.Duration(c.longNs(), 3) + " on, as a validation found"
	}
	return ""
}

// charges reports whether the time that the kernel charges is precise enough.
func (c *conclusion) charges(ns float64) bool { return c.chargeError(ns) <= c.plan.Precision }

// chargeError returns how far the charged time may be off, as a share of ns.
func (c *conclusion) chargeError(ns float64) float64 {
	return c.typical(func(r *Run) float64 {
		low, high := IntervalCounting(r.Run, c.setting.ByTicks)
		return (high - low) / 2 / ns
	})
}

// charge takes the bounds of the runs from interval counting. The charged time includes what the process did before its
// exec. It does not include steal, which is not subtracted again. What the bounds allow for beyond the run's own, such as
// interrupts that do not make the program longer, stays allowed for.
func (c *conclusion) charge() {
	for i, r := range c.used {
		low, high := IntervalCounting(r.Run, c.setting.ByTicks)
		before := r.traced.startNs
		off := (r.HighNs + r.LowNs) / 2
		charged := r.traced.high.atNs - r.traced.stolenNs
		taken := math.Max(0, charged-off) // interrupts and preemptions
		less, more := math.Max(0, r.unsharedFactor*r.LowNs-c.low[i]), math.Max(0, c.high[i]-r.unsharedFactor*r.HighNs)
		c.low[i], c.high[i] = r.unsharedFactor*(low-before-exitTailNs-taken)-less, r.unsharedFactor*(high-before-taken)+more
	}
}

// exitTailNs is about the time for which the kernel charges a thread after the event of its exit.
const exitTailNs = 200e3
