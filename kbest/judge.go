package kbest

import (
	"fmt"
	"math"
	"time"

	"chronoscope/stats"
)

// Limits for the verdict.
const (
	leastCycles   = 0.2  // the least time of a call, in cycles, on any core
	leastNs       = 0.05 // the same in nanoseconds, if the core's rate is unknown
	leastGrowth   = 1.5  // twice the calls take at least this many times as long
	fewChanges    = 0.1  // changes of the core's speed in a sample: up to here trusted
	manyChanges   = 0.7
	unseenLongNs  = 1e6 // the length of a sample beyond which preemption has to be seen
	rejectedShare = 0.5
	leastDrift    = 0.01 // the least difference between earlier and later samples that counts, as a share
	driftErrors   = 5    // standard deviations of U beyond which drift is no chance
	fewestOfPhase = 4    // the smallest number of samples that tells a phase
	leastPhase    = 1. / 32
	sleepsShare   = 0.02 // the share of its CPU time that a thread may give up; the Go scheduler takes 0.3 %
)

// judge sets the result's verdict and its reasons.
func (c *conclusion) judge() {
	if math.IsNaN(c.Estimate.Value) {
		c.Lower(stats.Unusable, "%d of %d samples could be used, %d are needed%s", len(c.full), len(c.Samples), max(fewestSamples, c.m.plan.K), c.mostRejected())
		return
	}
	c.tellUnseen()
	c.judgeWork()
	c.judgeLoop()
	c.judgeSamples()
	c.judgeWhole()
	c.judgeSpeed()
	c.judgeSharing()
	c.judgeNeighbours()
	switch width := c.Estimate.RelativeHalfWidth(); {
	case !(width <= stats.UselessShare) || c.Estimate.Value <= 0:
		c.Lower(stats.Unusable, "the interval is as wide as %s: the samples contradict one another, or the clock is too coarse", stats.Duration(2*c.Estimate.HalfWidth(), 3))
	case width > stats.WideShare && c.meanwhile <= stats.WideShare:
		c.Lower(stats.Suspect, "the core's rate wandered by %.2g %%, up and down: fix its frequency", 100*c.speed.spread)
	case width > stats.WideShare:
		c.Lower(stats.Suspect, "the interval is %s wide: more trials, or a calmer machine, narrow it", stats.Duration(2*c.Estimate.HalfWidth(), 3))
	}
}

// ruleOfThree: if none of n calls was slow, the share of slow ones is below 3/n in 95 of 100 cases.
const ruleOfThree = 3

// tellUnseen adds caveats about what the samples can't show: changes in long phases, and rare slow calls.
func (c *conclusion) tellUnseen() {
	for i := range c.Samples {
		c.Timed += c.Samples[i].N
	}
	if c.Watched > 0 {
		c.Caveats = append(c.Caveats, fmt.Sprintf("the subject was watched for %s: where its cost changes later, as that of a program that warms up, or in longer phases, the figure may be that of one phase", stats.Duration(float64(c.Watched), 2)))
	}
	if c.Timed >= ruleOfThree {
		c.Caveats = append(c.Caveats, fmt.Sprintf("%d calls were timed: slow ones that are rarer than 1 in %d, or come in bursts further apart than these, may not be among them", c.Timed, c.Timed/ruleOfThree))
	}
}

// judgeWork lowers the verdict if the compiler seems to have removed the work.
func (c *conclusion) judgeWork() {
	if c.Cycles.Hi < leastCycles || math.IsNaN(c.Cycles.Hi) && c.Estimate.Hi < leastNs {
		c.Lower(stats.Suspect, "a call takes %.2g ns, less than a fifth of a cycle: the work seems to have been optimised away; give its result to Keep", c.Estimate.Value)
	}
	full, half := leastRun(c.full)-c.m.overhead.clockNs, leastRun(c.half)-c.m.overhead.clockNs
	if full < leastGrowth*half && len(c.half) >= fewestSamples {
		c.Lower(stats.Suspect, "twice the calls take %.2f times as long: the work seems to have been optimised away, or is done once for all calls", full/half)
	} else if fixed := c.fixedNs(); fixed > 0.01*full {
		c.Lower(stats.Suspect, "each trial takes %v beyond its calls, whatever their number", time.Duration(fixed))
	}
}

// judgeLoop lowers the verdict if the time of the empty loop is unknown, and so not subtracted.
func (c *conclusion) judgeLoop() {
	if _, ok := c.m.loops[c.series]; !ok && c.series.subject.Empty != nil {
		c.Lower(stats.Suspect, "the empty loop could not be measured: its time is in the figure")
	}
}

// judgeSamples lowers the verdict for what the samples can't tell.
func (c *conclusion) judgeSamples() {
	typical := c.full[len(c.full)/2].RunNs
	if c.blocks {
		c.Lower(stats.Suspect, "the subject gives up its CPU: the figure is wall time, the interval begins with wall time less the wait for a CPU, and CPU time stands beside it")
	}
	if share := (screen{overhead: c.m.overhead}).sleptShare(c.Samples); !c.blocks && share > sleepsShare {
		c.Lower(stats.Suspect, "the thread gave up its CPU now and then, for %.2g %% of the time that it ran: where the subject sleeps or waits, that is not in the figure", 100*share)
	}
	if c.m.station.Use == nil && typical > unseenLongNs {
		c.Lower(stats.Suspect, "the kernel does not tell when others had the CPU, and samples of %v are long enough for it%s", time.Duration(typical), c.m.station.whyUncounted())
	}
	if !c.m.looks.known() && typical > escapeNs && !c.blocks {
		c.Lower(stats.Suspect, "what interrupts this CPU could not be watched, and samples of %v are long enough for it", time.Duration(typical))
	}
	clear := math.Max(leastDrift, 3*c.meanwhile)
	if c.Mean.Value > 0 { // the width of the mean's interval shows how calls differ, not how they drift
		clear = leastDrift
	}
	if by := c.drift(); math.Abs(by) > clear {
		c.Lower(stats.Suspect, "later samples take %+.2g %% more than earlier ones: the work, or what slows it, changes as time goes by", 100*by)
	}
	rejected := len(c.Samples) - len(c.full) - len(c.half) - len(c.surveys) - c.Rejected[Shared] // samples on a shared core say nothing about the others
	if float64(rejected) > rejectedShare*float64(len(c.Samples)) {
		c.Lower(stats.Suspect, "%d of %d samples were rejected%s", rejected, len(c.Samples), c.mostRejected())
	}
}

// sleptShare returns how long the thread gave up its CPU in the samples, as a share of its CPU time.
func (s screen) sleptShare(samples []Sample) float64 {
	var sleptNs, ranNs float64
	for i := range samples {
		x := &samples[i]
		if x.Rejected == Unclear || x.Rejected == Collected {
			continue
		}
		ranNs += s.cpuNs(x)
		if x.Use.VoluntarySwitches > 0 {
			sleptNs += math.Max(0, s.awayNs(x))
		}
	}
	return sleptNs / ranNs
}

// drift returns by what share samples take longer after some moment than before it, 0 if that may be chance.
// Nearly all of one side have to lie above nearly all of the other: Mann and Whitney's U is beyond driftErrors
// standard deviations, or nearly at the extreme that so few samples can reach. Of all moments that leave enough
// samples on either side, the one with the clearest change counts (Pettitt, "A Non-Parametric Approach to the
// Change-Point Problem", Applied Statistics 28, 1979). If the mean is the estimate, its interval holds what
// phases make of it, so that only the middle moment counts.
func (c *conclusion) drift() float64 {
	n := len(c.full)
	fewest := max(fewestOfPhase, int(leastPhase*float64(n)))
	if c.Estimate.Statistic == Mean {
		fewest = n / 2
	}
	if n < 2*fewestOfPhase || c.blocks {
		return 0
	}
	var runs []float64
	for _, x := range c.full {
		runs = append(runs, x.RunNs)
	}
	var earlier, clearest float64
	at := 0
	twice, _ := stats.TwiceMidranks(runs) // times are no NaN
	for i, rank := range twice {
		earlier += float64(rank) / 2
		if i+1 < fewest || n-i-1 < fewest {
			continue
		}
		first, pairs := float64(i+1), float64((i+1)*(n-i-1))
		u := math.Abs(earlier - first*float64(n+1)/2)
		if by := u / math.Min(0.99*pairs/2, driftErrors*math.Sqrt(pairs*float64(n+1)/12)); by > clearest {
			clearest, at = by, i+1
		}
	}
	if clearest < 1 {
		return 0
	}
	return stats.Median(runs[at:])/stats.Median(runs[:at]) - 1
}

// mostRejected names the reason for which most samples were rejected, for a message; "" if none was.
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

// judgeSpeed lowers the verdict if the core may have changed its speed, and changed it back, within a sample.
func (c *conclusion) judgeSpeed() {
	var ranNs float64
	for _, x := range c.Samples {
		ranNs += x.spentNs()
	}
	changes := float64(c.speed.changes) / ranNs * c.full[0].RunNs
	within := float64(c.speed.within) / float64(len(c.Samples))
	switch {
	case changes > manyChanges:
		c.Lower(stats.Unusable, "the core changed its speed %.2g times in each sample: fix its frequency", changes)
	case math.Max(changes, within) > fewChanges:
		c.Lower(stats.Suspect, "the core changed its speed in %.0f of 100 samples, and may have done so unseen in others: fix its frequency", 100*math.Max(changes, within))
	}
}
