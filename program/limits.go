package program

import (
	"math"

	"chronoscope/stats"
)

// undisturbed reports whether others can hardly have delayed this run: no thread of the program waited for a CPU for long,
// or others hardly had one. Alone it takes no longer than it took then.
func (r *Run) undisturbed() bool {
	t := r.traced
	passable := math.Max(passableNs, passableShare*float64(r.WallNs))
	known := r.noted && t.leaderWake.known() && (t.othersKnown || t.threads == 1)
	return known && t.deficientNs+t.wake().highNs <= passable || r.othersAtMostNs() <= passable
}

// mostNs returns an upper bound of the time alone by the wall times. No run takes longer alone than it took, and
// undisturbed runs show what a typical run takes.
func (c *conclusion) mostNs() float64 {
	most := c.Wall.Hi
	var walls []float64
	for _, r := range c.used {
		if r.undisturbed() {
			walls = append(walls, float64(r.WallNs))
		}
	}
	if len(walls) >= fewestChosen { // fewer runs may all be fast ones
		most = math.Min(most, median(walls).Hi)
	}
	return most
}

// leastNs returns the least time that the program takes alone: its CPU time divided by the number of its CPUs, minus
// the CPU time of the work that it did because it was late.
func (c *conclusion) leastNs() float64 {
	return median(c.each(func(r *Run) float64 { return r.surelyNs })).Lo - c.addedNs()
}

// hold limits an estimate from the chosen runs to the bounds that all runs give. If the runs that were chosen for their
// narrow bounds waited for something, the estimate may lie above the wall time of the others. Then all runs count, and
// the verdict says so.
func (c *conclusion) hold(e stats.Estimate) stats.Estimate {
	most := c.mostNs()
	if c.aboveClock = e.Lo > most; c.aboveClock {
		e = c.join(c.allUsed())
		e.Lo = math.Min(e.Lo, most)
	}
	e.Lo = math.Min(e.Lo, c.Wall.Value) // the median of the runs is no greater than the median wall time
	e.Hi = math.Max(e.Lo, math.Min(e.Hi, c.Wall.Hi))
	e.Lo = math.Min(e.Hi, math.Max(e.Lo, c.leastNs()))
	e.Value = math.Max(e.Lo, min(e.Value, e.Hi, c.Wall.Value))
	return e
}

// allUsed returns the indices of all runs that count.
func (c *conclusion) allUsed() []int { return indices(len(c.used)) }

// indices returns the numbers from 0 to n-1.
func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
