package program

import (
	"fmt"
	"math"
	"runtime"

	"chronoscope/stats"
)

// neighbours is the CPU time that others used, of all CPUs, in some time.
type neighbours struct{ passedNs, othersNs float64 }

// othersElsewhere is how many CPUs others used on average, other than those that the program had: NaN
// where their processes were not all seen. cpus is how many the program may use. It is what others had
// less what they had of the program's CPU while that waited, less what they used to work for it, as far as that is
// known, and where the program is bound to a CPU, no more than what those had that are not.
func (r *Run) othersElsewhere(cpus int) float64 {
	if !r.Others.Known || r.Others.PassedNs <= 0 {
		return math.NaN()
	}
	ns := float64(r.Others.CPUNs) - r.haltedNs() - r.traced.workedForNs
	if cpus == 1 {
		ns = math.Min(ns, float64(r.Others.ElsewhereNs))
	}
	return math.Max(0, ns) / float64(r.Others.PassedNs)
}

// haltedNs is the time for which others had the CPU that the program would have run on, at least.
func (r *Run) haltedNs() float64 {
	if !r.noted {
		return known(r.RunqueueWaitNs)
	}
	return r.traced.haltedNs + r.traced.leaderWake.lowNs
}

// byCPUTime is what the runs would take if they differed in their CPU time only. That is what programs on
// other CPUs add to, and it does not depend on waits, which are only bounded.
func (c *conclusion) byCPUTime() []float64 {
	usualNs, times := stats.Median(c.each((*Run).ranNs)), c.each((*Run).TimeNs)
	typicalNs := stats.Median(times)
	for i, r := range c.used {
		if usualNs > 0 {
			times[i] = typicalNs * (1 + r.ranShare()*(r.ranNs()/usualNs-1))
		}
	}
	return times
}

// ranNs is the CPU time of all threads, by the kernel's notes where there are some.
func (r *Run) ranNs() float64 {
	if r.noted {
		return r.traced.ranNs
	}
	return float64(r.CPUNs())
}

// ranShare is for which share of its time the program ran, at most: others don't slow its sleeps.
func (r *Run) ranShare() float64 {
	return math.Min(1, r.ranNs()/math.Max(1, r.TimeNs()))
}

// besideNeighbours is how many other CPUs others used on average in each run that counts, weighted by
// the share of its time for which the program ran. Where it is not known of a run, such as beside a
// build, whose processes come and go, it is the mean over all runs, by /proc/stat, which holds what came between them, too.
func (c *conclusion) besideNeighbours() []float64 {
	all := c.each(func(r *Run) float64 { return r.elsewhere })
	var around neighbours
	for _, r := range c.used {
		around.passedNs += r.around.passedNs
		around.othersNs += known(r.around.othersNs) - r.haltedNs()
	}
	usual := math.Max(0, around.othersNs) / math.Max(1, around.passedNs)
	most := math.Inf(1)
	if cpus := runtime.NumCPU(); cpus > 1 { // else this process is bound to one of them
		most = float64(cpus - 1)
	}
	for i, x := range all {
		if math.IsNaN(x) {
			x = usual
		}
		all[i] = math.Min(x, most) * c.used[i].ranShare()
	}
	return all
}

// passableAdded is what programs on other CPUs may have added without mattering.
const passableAdded = 0.01

// allowForNeighbours lowers the lower bounds by what programs on other CPUs added to the runs, where runs beside
// fewer of them show what that is. Where none do, it keeps what is possible for the verdict. The upper bounds stay: the
// program may have given those others their work, and do more itself where it does.
func (c *conclusion) allowForNeighbours() {
	beside := c.besideNeighbours()
	c.neighbours = stats.ExposureOf(beside, c.byCPUTime(), stats.NeighboursWorst)
	lost := c.neighbours.Lost
	if lost.Hi <= passableAdded && !c.neighbours.Adds || c.neighbours.Guessed() {
		return
	}
	for i, x := range beside {
		c.low[i], _ = c.neighbours.Alone(x, c.low[i])
		c.used[i].surelyNs, _ = c.neighbours.Alone(x, c.used[i].surelyNs)
	}
	if lost.Hi > passableAdded {
		c.Explanation += fmt.Sprintf("; beside programs on other CPUs it took up to %.2g %% longer; the interval holds both", 100*lost.Hi/(1-lost.Hi))
	}
}

// judgeNeighbours lowers the verdict where what programs on other CPUs may have added is not known.
func (c *conclusion) judgeNeighbours() {
	if c.neighbours.Guessed() {
		c.Lower(stats.Suspect, "%s", c.neighbours.AddedByOthers())
	}
}
