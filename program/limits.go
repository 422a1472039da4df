package program

import (
	"math"

	"chronoscope/stats"
)

// undisturbed says that in this run, on the given number of CPUs, nothing of the program had to wait for one,
// or no thread of the whole machine had to, but for moments: alone it takes no longer than it
// took here.
func (r *Run) undisturbed(cpus int) bool {
	t := r.traced
	passable := math.Max(passableNs, passableShare*float64(r.WallNs))
	known := r.noted && t.leaderWake.known() && (t.othersKnown || t.threads == 1)
	return known && t.deficientNs+t.wake().highNs <= passable || r.othersAtMostNs() <= passable || r.Contention.WaitedAtMostNs(cpus) <= passable
}

// mostNs is what the program takes alone at most, by the clock: no run takes longer alone than
// it took, and those that were undisturbed show what a usual one takes.
func (c *conclusion) mostNs() float64 {
	most := c.Wall.Hi
	var walls []float64
	for _, r := range c.used {
		if r.undisturbed(c.setting.CPUs) {
			walls = append(walls, float64(r.WallNs))
		}
	}
	if len(walls) >= fewestChosen { // of fewer, each may be a fast one
		most = math.Min(most, median(walls).Hi)
	}
	return most
}

// leastNs is what the program takes alone at least: its CPU time over its CPUs, less what it did
// because it was late.
func (c *conclusion) leastNs() float64 {
	return median(c.each(func(r *Run) float64 { return r.surelyNs })).Lo - c.addedNs()
}

// hold keeps an estimate from the chosen runs within what is certain of all. Runs that are
// chosen for their narrow bounds may be those that waited for something, and so lie above what
// the others took by the clock: then all count, and the verdict says it.
func (c *conclusion) hold(e stats.Estimate) stats.Estimate {
	most := c.mostNs()
	if c.aboveClock = e.Lo > most; c.aboveClock {
		e = c.join(c.allUsed())
		e.Lo = math.Min(e.Lo, most)
	}
	e.Lo = math.Min(e.Lo, c.Wall.Value) // the median of the runs, as of what bounds them
	e.Hi = math.Max(e.Lo, math.Min(e.Hi, c.Wall.Hi))
	e.Lo = math.Min(e.Hi, math.Max(e.Lo, c.leastNs()))
	e.Value = math.Max(e.Lo, min(e.Value, e.Hi, c.Wall.Value))
	return e
}

// allUsed are the runs that count.
func (c *conclusion) allUsed() []int {
	all := make([]int, len(c.used))
	for i := range all {
		all[i] = i
	}
	return all
}
