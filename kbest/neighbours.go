package kbest

import (
	"cmp"
	"math"
	"runtime"
	"slices"

	"chronoscope/stats"
)

// Neighbours is the CPU time of everything else that ran on this machine between two looks, in
// nanoseconds.
type Neighbours struct {
	// OthersNs is the CPU time of other processes and of the other threads of this one. ElsewhereNs is the part
	// of it that may have been on other CPUs than this thread's. PassedNs is the time between the looks.
	OthersNs, ElsewhereNs, PassedNs float64
	// Exact says that OthersNs is known exactly. Otherwise it is in steps of 10 ms, may be negative, and only the
	// mean from the first look to the last is used.
	Exact bool
}

// window is a stretch of trials without a pause. Its fields are readings at its begin.
type window struct{ beganTicks, waitedNs int64 }

// windowNs is the least length of a window, in nanoseconds; reading the neighbours takes 60 µs.
const windowNs = 20e6

// openWindow begins to watch the neighbours. It returns what ran since the last look.
func (s *Station) openWindow() (w window, since Neighbours) {
	if s.Neighbours != nil {
		since = s.Neighbours()
		w = window{beganTicks: s.Clock.Start(), waitedNs: s.look().WaitNs}
	}
	return w, since
}

// over reports whether the window has lasted long enough.
func (w window) over(s *Station) bool { return s.Clock.Ns(s.Clock.End()-w.beganTicks) > windowNs }

// neighboursIn returns what ran on other CPUs in a window that ends now. While this thread waited for a CPU,
// one of the other threads used this thread's CPU; that time is subtracted.
func (s *Station) neighboursIn(w window) (n Neighbours) {
	if s.Neighbours != nil {
		n = s.Neighbours()
		waitedNs := float64(s.look().WaitNs - w.waitedNs)
		n.ElsewhereNs = math.Min(n.OthersNs-waitedNs, n.ElsewhereNs)
	}
	return n
}

// closeWindow adds a window that ends now.
func (m *measurement) closeWindow(w window) {
	m.neighbours = append(m.neighbours, m.station.neighboursIn(w))
}

// nextWindow opens the window after another one. What ran between the two counts where only a mean is known: the
// steps of 10 ms would otherwise make an error in each window.
func (m *measurement) nextWindow() window {
	w, between := m.station.openWindow()
	m.between = append(m.between, between)
	return w
}

// otherCPUs is the number of CPUs that others may use beside this thread: at least one, since there may be CPUs that this
// process may not use.
func otherCPUs() float64 { return math.Max(1, float64(runtime.NumCPU()-1)) }

// cpus returns the mean number of other CPUs in use.
func (n Neighbours) cpus() float64 {
	return math.Min(math.Max(0, n.ElsewhereNs)/n.PassedNs, otherCPUs())
}

// beside returns the samples for which the use of other CPUs is known, and for each the mean number of other
// CPUs that were in use meanwhile.
func (m *measurement) beside(samples []*Sample) (known []*Sample, cpus []float64) {
	var coarse Neighbours
	for _, n := range slices.Concat(m.neighbours, m.between) {
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
			known, cpus = append(known, x), append(cpus, n.cpus())
		}
	}
	return known, cpus
}

// neighboursOf returns how much programs on other CPUs may have added to the samples.
func (c *conclusion) neighboursOf() stats.Exposure {
	known, beside := c.m.beside(c.full)
	var times []float64
	for _, x := range known {
		times = append(times, c.perCall(x))
	}
	return stats.ExposureOf(beside, times, math.Min(stats.NeighboursWorst, c.contended()))
}

// contentionNs is the least time, in nanoseconds, for which an access to a shared cache or to memory waits for
// one of another core: a shared cache serves an access in some 10 ns, a bank of memory in some 50 ns.
const contentionNs = 10

// contended returns the largest share by which contention for caches and memory can have slowed the samples.
// Waits for other cores' accesses are random: with n waits in a sample, its time varies by about 1/sqrt(n) of
// what they add. So if samples take equal times, as those of a chain of multiplications do, little can have
// slowed them. The spread of the shorter samples decides, since interruptions lengthen the others.
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

// fewestSteady is the smallest number of samples that shows their spread.
const fewestSteady = 32

// judgeNeighbours lowers the verdict if it is unknown what programs on other CPUs may have added.
func (c *conclusion) judgeNeighbours() {
	if c.m.station.Neighbours == nil && c.contended() > stats.WideShare && !c.blocks {
		c.Lower(stats.Suspect, "how much other programs use other CPUs is not known here, and its times vary like those of work that shared caches and memory slow%s", cmp.Or(c.m.station.whyUncounted(), ": measure on Linux, outside of containers with a /proc/stat of their own"))
	}
	if e := c.neighboursOf(); e.Guessed() && !c.blocks {
		c.Lower(stats.Suspect, "%s", e.AddedByOthers())
	}
}
