package gobench

import (
	"fmt"
	"math"
	"strings"
	"time"

	"chronoscope/remedy"
	"chronoscope/stats"
)

// judge sets the verdict and its reasons.
func (c *conclusion) judge() {
	seen := c.judgeWork()
	if seen {
		c.judgeBasis()
		c.judgeProportion()
	}
	if n := len(c.used) + c.Rejected; float64(c.stoodStill) > rejectedShare*float64(n) {
		c.Lower(stats.Suspect, "%d of %d repetitions were left out, the first because %s: find out what stops its process", c.stoodStill, n, c.Rejections[0].Why)
	}
	if why := c.sharing.Suspicion("repetitions", c.sharing.Slowed); why != "" && !c.leftShared {
		c.Lower(stats.Suspect, "%s", why)
	}
	if c.neighbours.Lost.Hi > stats.GuessedAdded {
		c.Lower(stats.Suspect, "%s", c.neighbours.AddedByOthers())
	}
	if c.othersUnknown() {
		c.Lower(stats.Suspect, "the CPU time of other programs is not known: they may have slowed it through shared caches and memory, or delayed what it waits for")
	}
	if !c.setting.Checks.Known() {
		c.Lower(stats.Suspect, "what interrupts the CPUs is not known, and was not taken off")
	}
	if n := c.throttledRuns(); c.mayBlock && float64(n) > strayShare*float64(2*len(c.used)) {
		c.Lower(stats.Suspect, "its CPU quota was used up in %d of %d runs, which may have stopped what it waits for: raise the limit of its control group (cpu.max)", n, 2*len(c.used))
	}
	c.judgeCount()
	width := c.Estimate.RelativeHalfWidth()
	switch {
	case len(c.used) == 1 && c.Estimate.Value > 0: // it has no interval, which judgeCount says
	case seen && !(width <= stats.UselessShare) && c.untimed > mostlyUntimed:
		c.Lower(stats.Unusable, "its timer stands still for %.3g %% of the time (b.StopTimer, or what it does outside of its loop), and what is left is too little to be timed beside that: time more per b.StartTimer, or prepare all iterations before b.ResetTimer", 100*c.untimed)
	case !(width <= stats.UselessShare) && math.IsNaN(c.Estimate.Value):
		c.Lower(stats.Unusable, "the runs of few and of many iterations don't differ beyond chance: no time is known")
	case seen && c.Basis == Bounds && !(width <= stats.UselessShare):
		c.Lower(stats.Unusable, "it takes %s, and no more is known: %s", c.Estimate.Range(), c.remedy(c.narrower()))
	case !(width <= stats.UselessShare):
		c.Lower(stats.Unusable, "the repetitions contradict one another: from %s", c.Estimate.Range())
	case width > math.Max(stats.WideShare, c.plan.Precision) && c.Basis != Bounds:
		c.Lower(stats.Suspect, "± %.2g %%, asked ± %.2g %%: %s", 100*width, 100*c.plan.Precision, c.remedy(c.narrower()))
	}
}

// throttledRuns returns how many of the runs used the CPU quota up. The run-queue waits of the benchmark's threads
// include the time for which the quota stopped them. How long it stopped other processes for which the benchmark waits
// is not known.
func (c *conclusion) throttledRuns() (n int) {
	for _, rep := range c.used {
		for _, o := range []Observation{rep.Few, rep.Many} {
			if o.Throttled {
				n++
			}
		}
	}
	return n
}

// judgeCount lowers the verdict if there are too few repetitions.
func (c *conclusion) judgeCount() {
	n, least := len(c.used), c.plan.LeastRepetitions
	switch {
	case n >= least:
	case c.series.tooSlow:
		startNs, iterationNs := c.series.firstCosts()
		iteration, repetition := time.Duration(iterationNs), time.Duration(2*startNs+(fewestFew+fewestMany)*iterationNs)
		c.Lower(stats.Unusable, "an iteration takes %v here, so that one repetition alone would have taken longer than was allowed (%v): it was run once. %d repetitions need about %s of %s", iteration.Round(time.Millisecond), brief(2*c.plan.MaxTime), least, brief(roundUp(time.Duration(least)*repetition)), remedy.Of(remedy.MaxTime))
	case n == 1:
		c.Lower(stats.Unusable, "a single repetition has no interval, and can't be judged, %d are needed: %s", least, c.remedy(1.2*float64(least)))
	default:
		c.Lower(stats.Suspect, "%d repetitions are not enough for a 95 %% interval, %d are needed: %s", n, least, c.remedy(1.2*float64(least)/float64(n)))
	}
}

// narrower returns by which factor the number of repetitions has to grow for the requested precision: the width
// of an interval falls with the square root of that number. For bounds it returns 4, since they don't tell how
// many repetitions it would take on one CPU.
func (c *conclusion) narrower() float64 {
	if c.Basis == Bounds {
		return 4
	}
	return math.Pow(c.Estimate.RelativeHalfWidth()/c.plan.Precision, 2)
}

// busyShare is the least share of its time that a benchmark waits for CPUs on a busy machine.
const busyShare = 0.01

// mostTime is the longest time to measure a benchmark that a remedy advises.
const mostTime = 20 * time.Minute

// remedy says how to narrow the interval if that takes times as many repetitions. On one CPU, less of the wait
// is unknown.
func (c *conclusion) remedy(times float64) string {
	calmer := "measure it on a calmer machine, or ask for less precision"
	needed := float64(max(c.series.spent, c.plan.MaxTime)) * times
	more := needed <= float64(mostTime)
	longer := brief(roundUp(time.Duration(math.Max(needed, 2*float64(c.plan.MaxTime)))))
	switch busy := c.waitPerTimed > busyShare; {
	case busy && c.setting.CPUs > 1 && more:
		return fmt.Sprintf("give it one CPU and more time, with %s %s", remedy.Of(remedy.CPUs, 1), remedy.Of(remedy.MaxTime, longer))
	case busy && c.setting.CPUs > 1:
		return fmt.Sprintf("give it one CPU, with %s, and a calmer machine", remedy.Of(remedy.CPUs, 1))
	case c.Basis == Bounds:
		return "measure it on a calmer machine, since more time does not narrow bounds"
	case more:
		return fmt.Sprintf("more time narrows it, such as %s, or a calmer machine", remedy.Of(remedy.MaxTime, longer))
	default:
		return fmt.Sprintf("%s: more than %s of %s would be needed", calmer, brief(mostTime), remedy.Of(remedy.MaxTime))
	}
}

// roundUp rounds a duration up to tens of seconds, and above five minutes to whole minutes.
func roundUp(d time.Duration) time.Duration {
	unit := 10 * time.Second
	if d > 5*time.Minute {
		unit = time.Minute
	}
	return (d + unit - 1) / unit * unit
}

// brief writes a duration without zero seconds at its end.
func brief(d time.Duration) string {
	if d < time.Second {
		return d.String()
	}
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	return text
}

// narrow reports whether a benchmark waited so little that the requested precision holds, however much of the
// wait delayed it.
func (c *conclusion) narrow() bool {
	return c.waitPerTimed <= 2*c.plan.Precision && c.Estimate.RelativeHalfWidth() <= c.plan.Precision
}

// judgeBasis lowers the verdict for what is unknown about the benchmark's threads.
func (c *conclusion) judgeBasis() {
	switch {
	case c.narrow(), c.apart:
	case !c.WaitShare.Known():
		c.Lower(stats.Suspect, "whether its threads waited for a CPU is not known (the process could not be traced): the interval ends with what its own timer says")
	case c.Basis == Bounds && !c.mayBlock:
		c.Lower(stats.Suspect, "%.2g of its threads could run at a time, and they waited for a CPU for %.3g %% of their time: how much of its work is done at once is only known roughly: %s", c.Runnable.Value(), 100*c.WaitShare.Value(), c.remedy(c.narrower()))
	case c.Basis == Bounds && c.blocks:
		c.Lower(stats.Suspect, "it blocks, and others had the CPUs for %.3g %% of its time: the interval reaches from all of that taken off to none of it", 100*c.WaitShare.Value())
	case c.Basis == Bounds:
		c.Lower(stats.Suspect, "it needs %.2g CPUs, and its threads waited for one for %.3g %% of their time: the interval reaches from all of that taken off to none of it: %s", c.Runnable.Value(), 100*c.WaitShare.Value(), c.remedy(c.narrower()))
	case c.Basis == Timer && c.mayBlock && c.Estimate.RelativeHalfWidth() > stats.WideShare:
		c.Lower(stats.Suspect, "it waits, and other programs ran meanwhile: the interval reaches from all of their CPU time taken off to none of it, as they may have delayed what it waits for")
	case c.Basis == CPUTime && c.Procs > 1 && c.waitPerTimed > c.plan.Precision:
		c.Lower(stats.Suspect, "its threads waited for a CPU for %.3g %% of their time, some perhaps in vain while it slept: %s", 100*c.WaitShare.Value(), c.remedy(c.narrower()))
	case c.Basis == CPUTime && c.untimed > untimedShare:
		c.Lower(stats.Suspect, "for %.3g %% of the time its timer stands still, and others had the CPU: the timed part's share of the CPU time is taken for its share of the time", 100*c.untimed)
	}
}
