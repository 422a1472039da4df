package gobench

import (
	"fmt"
	"math"
	"strings"
	"time"

	"chronoscope/stats"
)

// judge says how far the figure can be trusted.
func (c *conclusion) judge() {
	seen := c.judgeWork()
	if seen {
		c.judgeBasis()
		c.judgeProportion()
	}
	if n := len(c.used) + c.Rejected; float64(c.Rejected) > rejectedShare*float64(n) {
		c.Lower(stats.Suspect, "%d of %d repetitions were left out, the first because %s: find out what stops its process", c.Rejected, n, c.Rejections[0].Why)
	}
	if !c.setting.Noise.Known() {
		c.Lower(stats.Suspect, "what interrupts the CPUs is not known, and was not taken off")
	}
	if n := len(c.used); n < c.plan.LeastRepetitions {
		c.Lower(stats.Suspect, "%d repetitions are not enough for a 95 %% interval, %d are needed: %s", n, c.plan.LeastRepetitions, c.remedy())
	}
	switch width := c.Estimate.RelativeHalfWidth(); {
	case seen && c.Basis == Bounds && !(width <= uselessShare):
		c.Lower(stats.Unusable, "from %s is all that can be said: %s", c.Estimate.Range(), c.remedy())
	case !(width <= uselessShare) || c.Estimate.Value <= 0:
		c.Lower(stats.Unusable, "the repetitions contradict one another: from %s", c.Estimate.Range())
	case width > c.plan.Precision && c.Basis != Bounds:
		c.Lower(stats.Suspect, "half its interval is %.2g %% wide, and %.2g %% was asked for: %s", 100*width, 100*c.plan.Precision, c.remedy())
	}
}

// busyShare of its time is what a benchmark waits for CPUs on a busy machine.
const busyShare = 0.01

// remedy is what narrows the interval. Several CPUs that others have, too, are several
// waits to know of; who has given it one CPU already is not told to.
func (c *conclusion) remedy() string {
	switch busy := c.WaitShare > busyShare; {
	case busy && c.setting.CPUs > 1:
		return fmt.Sprintf("give it one CPU and more time, with --cpu 1 --max-time %s", brief(4*c.plan.MaxTime))
	case c.Basis == Bounds:
		return "measure it on a calmer machine, since more time does not narrow bounds"
	default:
		return fmt.Sprintf("more time narrows it, such as --max-time %s, or a calmer machine", brief(4*c.plan.MaxTime))
	}
}

// brief is a duration without the minutes and seconds that are none.
func brief(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	return text
}

// judgeBasis says what the figure's basis does not tell.
func (c *conclusion) judgeBasis() {
	switch {
	case math.IsNaN(c.WaitShare):
		c.Lower(stats.Suspect, "whether its threads waited for a CPU is not known (the process could not be traced): the interval ends with what its own timer says")
	case c.Basis == Bounds && c.blocks:
		c.Lower(stats.Suspect, "it blocks, and others had the CPUs for %.3g %% of its time: the interval goes from all of that taken off to none of it", 100*c.WaitShare)
	case c.Basis == Bounds:
		c.Lower(stats.Suspect, "%.3g of its threads could run at a time, and they waited for a CPU for %.3g %% of its time in all: the interval goes from all of that taken off to none of it", c.Runnable, 100*c.WaitShare)
	case c.Basis == CPUTime && c.untimed > untimedShare:
		c.Lower(stats.Suspect, "for %.3g %% of the time its timer stands still, and others had the CPU: the timed part's share of the CPU time is taken for its share of the time", 100*c.untimed)
	}
}
