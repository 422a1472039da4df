package gobench

import (
	"math"
	"slices"
	"time"

	"chronoscope/stats"
)

// Limits for a cost in proportion to b.N.
const (
	// An iteration takes at least leastCycles on any core. If the core's rate is unknown, it takes at least
	// leastNs.
	leastCycles, leastNs = 0.2, 0.05
	// changeShare is how much slower or faster later iterations may be than the first ones, as a share.
	// fixedShare is what a call may take beyond its iterations, as a share of the shorter run.
	changeShare, fixedShare = 0.1, 0.1
	// runtimeNs is what a Go process spends once, as its heap grows and the collector's threads start. No
	// benchmark can avoid it.
	runtimeNs = 10e6
	// leastGrowth is the least growth of the time divided by the growth of the iterations. Below it nearly all
	// of the timed part is setup. Where page faults are expensive, as on a virtual machine with software page tables, the
	// growth of the heap alone leaves 0.33 of it.
	leastGrowth = 0.2
)

// judgeProportion lowers the verdict for a cost that is not in proportion to b.N. It compares runs of three numbers
// of iterations: the runs Least, Few and Many of a repetition. Two runs would not do, since a large setup can hide
// that the cost grows. A line through the runs Least and Few shows what a call takes beyond its iterations
// (fixedPart). If the cost grows or falls, the iterations that Many has beyond Few take longer or shorter than those
// that Few has beyond Least, whatever the setup takes (change). The late runs show the iterations beyond Many.
func (c *conclusion) judgeProportion() {
	if c.Basis == Bounds && !c.narrow() { // it is unknown how much of the time is waiting
		return
	}
	few, change := c.used[0].Few.N, beyondChance(each(c.used, c.change))
	off := c.sharedFactor()
	switch fixed := beyondChance(each(c.used, c.fixedPart)); {
	case fixed.Lo > fixedShare+off-1:
		ns := beyondChance(each(c.used, func(rep Repetition) float64 { return c.fixedPart(rep) * c.ranNs(rep.Few) })).Value
		c.Lower(stats.Suspect, "each call of it takes %v beyond its b.N iterations, in the timed part: call b.ResetTimer after the setup, or loop with b.Loop", time.Duration(ns).Round(10*time.Microsecond))
	case change.Hi*off < 1-changeShare && beyondChance(each(c.used, c.onceNs)).Lo > runtimeNs:
		c.Lower(stats.Suspect, "the first %d iterations take %.3g times as long as as many later ones: call b.ResetTimer after what is set up or warmed once, or loop with b.Loop", few, 1/change.Value)
	}
	if change.Lo/off > 1+changeShare {
		c.Lower(stats.Suspect, "an iteration after the first %d takes %.3g times as long as one of them: its cost grows with b.N, and no figure holds for all: let no slice, map or file grow from iteration to iteration", few, change.Value)
	}
	if len(c.series.late) == 0 {
		return
	}
	late := c.series.late[len(c.series.late)-1]
	if c.late = c.lateCost(late); changes(c.late) {
		c.Lower(stats.Suspect, "in a run of %d iterations those after the first %d take %.3g times as long as the ones that were timed, so that no figure holds for all b.N: fill caches before b.ResetTimer, and let nothing grow from iteration to iteration", late.N, c.Iterations, c.late.Value)
	}
}

// hardlyShared is a share of the runs. If something else used the core around no more of them, the others did not share it
// unseen.
const hardlyShared = 0.05

// sharedFactor returns the factor by which the ratio of the times of two runs may be off because something else used the
// core in one of them only, also between the looks before and after it. Both differences of the ratio may be off by it, so
// it is squared.
func (c *conclusion) sharedFactor() float64 {
	runs := slices.Clone(c.series.late)
	for _, rep := range c.used {
		runs = append(runs, rep.Many)
	}
	var slowed []float64
	for _, o := range runs {
		if p := (Repetition{Many: o}).probed(0); p.Shared() {
			slowed = append(slowed, math.Max(p.SlowedBefore, p.SlowedAfter))
		}
	}
	if float64(len(slowed)) <= hardlyShared*float64(len(runs)) {
		return 1
	}
	typical := stats.Median(slowed)
	return (1 + typical) * (1 + typical)
}

// judgeWork reports whether the timed part grows measurably with the iterations. If not, it lowers the verdict.
func (c *conclusion) judgeWork() bool {
	limitNs := leastNs
	if hz := c.setting.CoreHz.Value; hz > 0 {
		limitNs = leastCycles / hz * 1e9
	}
	if ns := c.typical(func(rep Repetition) float64 { return cpuNs(rep.Many) / float64(rep.Many.N) }); ns < limitNs {
		c.Lower(stats.Suspect, "%d iterations take %.2g ns each, less than a fifth of a cycle: the work seems to have been optimised away, or not to depend on b.N: loop with b.Loop, or keep its result in a variable of the package", c.used[0].Many.N, ns)
		return false
	}
	if growth := stats.MedianOrRange(each(c.used, timerGrowth), ""); growth.Hi < leastGrowth {
		many := c.used[0].Many
		c.Lower(stats.Suspect, "%d iterations take hardly longer than %d: nearly all of the timed part is setup: call b.ResetTimer after it, or loop with b.Loop", many.N, c.used[0].Few.N)
		return false
	}
	return true
}

// timerGrowth returns the relative growth of the timed part from few to many iterations, divided by the relative
// growth of the number of iterations. It is about 1 if the time is in proportion to the iterations, and about 0 if
// nearly all of the timed part is setup.
func timerGrowth(rep Repetition) float64 {
	return (rep.Many.TimedNs/rep.Few.TimedNs - 1) / (float64(rep.Many.N)/float64(rep.Few.N) - 1)
}

// change returns the time of an iteration between few and many divided by that of one between the least and
// few; NaN if a repetition can't tell.
func (c *conclusion) change(rep Repetition) float64 {
	if rep.Few.N < c.series.few { // this repetition was made for the difference only
		return math.NaN()
	}
	of := c.ranNs
	if c.Basis == CPUTime && rep.Least.N > 0 { // the start of the process cancels
		of = cpuNs
	}
	early := (of(rep.Few) - of(rep.Least)) / float64(rep.Few.N-rep.Least.N)
	if !(early > 0) {
		return math.NaN()
	}
	return rep.perIteration(of) / early
}

// onceNs returns what the first iterations take in all beyond the same number of later ones.
func (c *conclusion) onceNs(rep Repetition) float64 {
	return (1 - c.change(rep)) * c.ranNs(rep.Few)
}

// fixedPart returns what a call takes beyond its iterations, as a share of the run of few. It extrapolates the
// runs of the least and of few to no iterations.
func (c *conclusion) fixedPart(rep Repetition) float64 {
	if rep.Few.N < c.series.few {
		return math.NaN()
	}
	least, few := float64(rep.Least.N), float64(rep.Few.N)
	fewNs := c.ranNs(rep.Few)
	return (few*c.ranNs(rep.Least) - least*fewNs) / (few - least) / fewNs
}

// ranNs returns the time for which a benchmark ran, by its timer. If it had to wait, the process's share of
// waiting is subtracted; it is NaN if that is unknown.
func (c *conclusion) ranNs(o Observation) float64 {
	if c.Basis != CPUTime || o.N == 0 {
		return o.TimedNs
	}
	return o.TimedNs * o.CPUNs / (o.CPUNs + math.Max(0, o.WaitNs))
}

// beyondChance returns the median of the values that are known, with bounds of NaN if there are too few.
func beyondChance(values []float64) stats.Estimate {
	return stats.MedianInterval(slices.DeleteFunc(slices.Clone(values), math.IsNaN), "")
}
