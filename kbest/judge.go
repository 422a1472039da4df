package kbest

import (
	"fmt"
	"math"
	"time"

	"chronoscope/stats"
)

// Limits of what is trusted.
const (
	wideShare     = 0.05 // half the interval's width beyond which a figure is suspect
	uselessShare  = 0.25 // and beyond which it is unusable
	leastCycles   = 0.2  // a call takes at least, on any core
	leastNs       = 0.05 // the same where the core's rate is not known
	leastGrowth   = 1.5  // of the time of twice the calls
	fewChanges    = 0.1  // of the core's speed in a sample
	manyChanges   = 0.7
	unseenLongNs  = 1e6 // a sample beyond which preemption has to be seen
	rejectedShare = 0.5
)

// judge says how far the result can be trusted.
func (c *conclusion) judge() {
	if math.IsNaN(c.Estimate.Value) {
		c.Lower(stats.Unusable, "%d of %d samples could be used, %d are needed%s", len(c.full), len(c.Samples), max(fewestSamples, c.m.plan.K), c.mostRejected())
		return
	}
	c.judgeWork()
	c.judgeSamples()
	c.judgeSpeed()
	switch width := c.Estimate.RelativeHalfWidth(); {
	case !(width <= uselessShare) || c.Estimate.Value <= 0:
		c.Lower(stats.Unusable, "the interval is as wide as %s: the samples contradict one another, or the clock is too coarse", c.width())
	case width > wideShare:
		c.Lower(stats.Suspect, "the interval is %s wide: more trials, or a calmer machine, narrow it", c.width())
	}
}

func (c *conclusion) width() string {
	return fmt.Sprintf("%.3g ns", c.Estimate.Hi-c.Estimate.Lo)
}

// judgeWork looks for work that is not there.
func (c *conclusion) judgeWork() {
	if c.Cycles.Hi < leastCycles || math.IsNaN(c.Cycles.Hi) && c.Estimate.Hi < leastNs {
		c.Lower(stats.Suspect, "a call takes %.2g ns, less than a fifth of a cycle: the work seems to have been optimised away; give its result to Keep", c.Estimate.Value)
	}
	if len(c.half) < fewestSamples {
		return
	}
	full, half := leastRun(c.full)-c.m.overhead.clockNs, leastRun(c.half)-c.m.overhead.clockNs
	if full < leastGrowth*half {
		c.Lower(stats.Suspect, "twice the calls take %.2f times as long: the work seems to have been optimised away, or is done once for all calls", full/half)
	} else if fixed := c.fixedNs(); fixed > 0.01*full {
		c.Lower(stats.Suspect, "each trial takes %v beyond its calls, whatever their number", time.Duration(fixed))
	}
}

// judgeSamples says what the samples can't tell.
func (c *conclusion) judgeSamples() {
	typical := c.full[len(c.full)/2].RunNs
	if c.blocks {
		c.Lower(stats.Suspect, "the subject gives up its CPU: the figure is wall time, the interval begins with wall time less the wait for a CPU, and CPU time stands beside it")
	}
	if c.m.station.Use == nil && typical > unseenLongNs {
		c.Lower(stats.Suspect, "the kernel does not tell when others had the CPU, and samples of %v are long enough for it", time.Duration(typical))
	}
	if !c.noise().Known() && typical > escapeNs && !c.blocks {
		c.Lower(stats.Suspect, "what interrupts this CPU is not known, and samples of %v are long enough for it: record its activity first", time.Duration(typical))
	}
	rejected := len(c.Samples) - len(c.full) - len(c.half)
	if float64(rejected) > rejectedShare*float64(len(c.Samples)) {
		c.Lower(stats.Suspect, "%d of %d samples were rejected%s", rejected, len(c.Samples), c.mostRejected())
	}
}

// mostRejected names the reason for which most samples were rejected.
func (c *conclusion) mostRejected() string {
	most, name := 0, Reason("")
	for reason, n := range c.Rejected {
		if n > most || n == most && reason < name {
			most, name = n, reason
		}
	}
	if most == 0 {
		return ""
	}
	return ", most because of " + string(name)
}

// judgeSpeed says whether the core may have changed its speed, and changed back,
// within a sample.
func (c *conclusion) judgeSpeed() {
	var ranNs float64
	for _, x := range c.Samples {
		ranNs += x.spentNs()
	}
	changes := float64(c.speed.changes) / ranNs * c.full[0].RunNs
	switch {
	case changes > manyChanges:
		c.Lower(stats.Unusable, "the core changed its speed %.2g times in each sample: fix its frequency", changes)
	case changes > fewChanges:
		c.Lower(stats.Suspect, "the core changed its speed in %.0f of 100 samples, and may have done so unseen in others: fix its frequency", 100*changes)
	}
}
