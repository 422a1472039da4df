package kbest

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// Neighbours is what else ran on this machine between two looks, in nanoseconds of CPU time.
type Neighbours struct {
	// OthersNs is the time of other processes and of the other threads of this one, ElsewhereNs the part
	// of it that may use other CPUs than this thread, PassedNs the time between the looks.
	OthersNs, ElsewhereNs, PassedNs float64
	// Exact says that OthersNs is not in steps of 10 ms: else only the mean of many looks tells.
	Exact bool
}

// window is a stretch of trials without a pause.
type window struct{ beganTicks, waitedNs int64 }

// windowNs is long enough for a look of 60 µs to cost little.
const windowNs = 20e6

// openWindow begins to watch the neighbours.
func (s *Station) openWindow() (w window) {
	if s.Neighbours != nil {
		s.Neighbours()
		w = window{beganTicks: s.Clock.Start(), waitedNs: s.look().WaitNs}
	}
	return w
}

// over reports that a window is long enough.
func (w window) over(s *Station) bool { return s.Clock.Ns(s.Clock.End()-w.beganTicks) > windowNs }

// neighboursIn is what ran on other CPUs in a window, that ends now. While this thread waited for a
// CPU, others had one that is not beside it.
func (s *Station) neighboursIn(w window) (n Neighbours) {
	if s.Neighbours != nil {
		n = s.Neighbours()
		waitedNs := float64(s.look().WaitNs - w.waitedNs)
		n.ElsewhereNs = math.Max(0, math.Min(n.OthersNs-waitedNs, n.ElsewhereNs))
	}
	return n
}

// beside is how many other CPUs others used on average, beside each of the samples for which it is known.
func (m *measurement) beside(samples []*Sample) (known []*Sample, cpus []float64) {
	var coarse Neighbours
	for _, n := range m.neighbours {
		if !n.Exact {
			coarse.ElsewhereNs, coarse.PassedNs = coarse.ElsewhereNs+n.ElsewhereNs, coarse.PassedNs+n.PassedNs
		}
	}
	for _, x := range samples {
		if x.window >= len(m.neighbours) {
			continue
		}
		n := m.neighbours[x.window]
		if !n.Exact {
			n = coarse
		}
		if n.PassedNs > 0 {
			known, cpus = append(known, x), append(cpus, n.ElsewhereNs/n.PassedNs)
		}
	}
	return known, cpus
}

// neighboursOf says what programs on other CPUs may have added to the samples.
func (c *conclusion) neighboursOf() stats.Exposure {
	known, beside := c.m.beside(c.full)
	var times []float64
	for _, x := range known {
		times = append(times, c.perCall(x))
	}
	return stats.ExposureOf(beside, times, math.Min(stats.NeighboursWorst, c.contended()))
}

// contentionNs is how long an access to a shared cache or to memory waits for that of another core, at
// the least: a shared cache serves one in some 10 ns, a bank of memory in some 50.
const contentionNs = 10

// contended is by what share contention for caches and memory can have slowed the samples. Who waits
// for another's access waits at random, sometimes not at all and sometimes for long. So the time of a
// sample with n waits differs from that of the next by about 1/sqrt(n) of what they add. A chain of
// multiplications takes the same time each time, so that nothing can have slowed it. The lower samples
// tell: interruptions lengthen the others.
func (c *conclusion) contended() float64 {
	const from, to, deviations = 0.02, 0.25, 1.38 // these quantiles of a normal distribution lie 1.38 standard deviations apart
	var runs []float64
	for _, x := range c.full {
		if x.Corrected == "" {
			runs = append(runs, x.RunNs)
		}
	}
	if len(runs) < fewestSteady {
		return inf
	}
	slices.Sort(runs)
	ns := stats.Quantile(runs, from)
	return (stats.Quantile(runs, to) - ns) / deviations / ns * math.Sqrt(ns/contentionNs)
}

// fewestSteady samples show how much samples differ.
const fewestSteady = 32

// judgeNeighbours lowers the verdict where what programs on other CPUs may have added is not known.
func (c *conclusion) judgeNeighbours() {
	if e := c.neighboursOf(); e.Guessed() && !c.blocks {
		c.Lower(stats.Suspect, "%s", e.AddedByOthers())
	}
}
