package program

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"chronoscope/stats"
)

// neighbours is the CPU time that others used while passedNs passed; NaN if it is not known. elsewhereNs is the same, but 0 on
// a machine with one CPU, where no other program runs at the same time. stretches is the number of parts without gaps, each of which
// has the error of two readings of /proc/stat.
type neighbours struct {
	passedNs, othersNs, elsewhereNs float64
	stretches                       int
}

func (n neighbours) plus(more neighbours) neighbours {
	return neighbours{n.passedNs + more.passedNs, n.othersNs + more.othersNs, n.elsewhereNs + more.elsewhereNs, n.stretches + more.stretches}
}

// othersElsewhere returns how many CPUs other than the program's others used on average; NaN if not all of their
// processes were seen. cpus is the number of CPUs that the program may use. The result rests on the CPU time of others,
// minus the time for which they had the program's CPU while the program waited, and minus the time for which they are
// known to have worked for it. If the program is bound to one CPU, the result is limited by the CPU time of processes
// that may use other CPUs.
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

// haltedNs returns the least time for which others had the CPU on which the program would have run.
func (r *Run) haltedNs() float64 {
	if !r.noted {
		return known(r.RunqueueWaitNs)
	}
	return r.traced.haltedNs + r.traced.leaderWake.lowNs
}

// byCPUTime returns the times that the runs would have if they differed in nothing but their CPU time. Programs on
// other CPUs lengthen the CPU time. The program's waits, of which only bounds are known, don't change the CPU time.
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

// ranNs returns the CPU time of all threads, by the kernel's events if there are any.
func (r *Run) ranNs() float64 {
	if r.noted {
		return r.traced.ranNs
	}
	return float64(r.CPUNs())
}

// ranShare returns the largest share of its time for which the program can have run: others don't slow its sleeps.
func (r *Run) ranShare() float64 {
	return math.Min(1, r.ranNs()/math.Max(1, r.TimeNs()))
}

// besideNeighbours returns for each run that counts how many other CPUs others used on average, weighted by the share
// of its time for which the program ran. If that is not known, for example beside a build whose processes come and go,
// it is the mean over all runs by /proc/stat, which includes the time between them; NaN if that is not known either.
func (c *conclusion) besideNeighbours() []float64 {
	all := c.each(func(r *Run) float64 { return r.elsewhere })
	var around neighbours
	unknown := false
	for _, r := range c.used {
		if math.IsNaN(r.around.elsewhereNs) {
			unknown = true
			continue
		}
		around.passedNs += r.around.passedNs
		around.elsewhereNs += r.around.elsewhereNs - r.haltedNs()
	}
	usual := math.Max(0, around.elsewhereNs) / math.Max(1, around.passedNs)
	if unknown && around.passedNs == 0 {
		usual = math.NaN()
	}
	most := math.Inf(1)
	if cpus := runtime.NumCPU(); cpus > 1 { // else this process is bound to a CPU itself
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

// seenShare is the least share of the runs for which the use of other CPUs has to be known. Only what a few runs had beside
// them may be unknown, as when a process came and went.
const seenShare = 0.9

// passableAdded is the largest share that programs on other CPUs may add to a time without consequence.
const passableAdded = 0.01

// allowForNeighbours lowers the lower bounds by what programs on other CPUs added to the runs, if runs beside fewer of
// them show how much that is. If none do, it only keeps what they may have added, for the verdict. The upper bounds
// stay: the neighbours may be working for the program, and the program may itself do more in the runs in which they do. If a
// run's neighbours are not known, it counts as one with the most neighbours that any run had.
func (c *conclusion) allowForNeighbours() {
	beside, times := c.besideNeighbours(), c.byCPUTime()
	var seen, seenTimes []float64
	for i, x := range beside {
		if !math.IsNaN(x) {
			seen, seenTimes = append(seen, x), append(seenTimes, times[i])
		}
	}
	if c.unseen = float64(len(seen)) < seenShare*float64(len(beside)); c.unseen {
		return
	}
	c.neighbours = stats.ExposureOf(seen, seenTimes, stats.NeighboursWorst)
	lost := c.neighbours.Lost
	if lost.Hi <= passableAdded && !c.neighbours.Adds || c.neighbours.Guessed() {
		return
	}
	for i, x := range beside {
		if math.IsNaN(x) {
			x = slices.Max(seen)
		}
		c.low[i], _ = c.neighbours.Alone(x, c.low[i])
		c.used[i].surelyNs, _ = c.neighbours.Alone(x, c.used[i].surelyNs)
	}
	if lost.Hi > passableAdded {
		c.Explanation += fmt.Sprintf("; beside programs on other CPUs it took up to %.2g %% longer; the interval holds both", 100*lost.Hi/(1-lost.Hi))
	}
}

// judgeNeighbours lowers the verdict if it is not known what programs on other CPUs may have added.
func (c *conclusion) judgeNeighbours() {
	others := math.Max(1, float64(runtime.NumCPU()-1))
	switch {
	case c.unseen && stats.NeighboursWorst*others*c.typical((*Run).ranShare) > stats.GuessedAdded:
		c.Lower(stats.Suspect, "how much other programs use other CPUs is not known here, and they may have slowed it through shared caches and memory: run it on Linux, outside of containers with a /proc/stat of their own")
	case c.neighbours.Guessed():
		c.Lower(stats.Suspect, "%s", c.neighbours.AddedByOthers())
	}
}
