package program

import (
	"math"

	"chronoscope/machine"
	"chronoscope/stats"
)

// stretch is what a thread that watches its CPU saw between two looks at its counters: what
// these counted, for how long it watched, how much time passed with the look at the end, and
// how long the gaps were in which it did not run.
type stretch struct {
	use             machine.ThreadUse
	ranNs, passedNs float64
	gapsNs          []float64
}

// watched adds up stretches without a wait for others. A kernel likes to preempt a thread at
// the end of its look at the counters, once these are read: the time is then in one stretch,
// and the wait is counted in the next. So a stretch counts once the next one has shown no
// wait. It did not, and beside competitors all that interrupts took seemed uncharged.
type watched struct {
	sum, last totals
	// switchesNs are what preemptions took beyond the wait, with the timer interrupts that
	// led to them.
	switchesNs []float64
}

// totals are for how long the thread ran, what it was not charged for, and the gaps in it:
// how many, how long in all, and the longest.
type totals struct{ ranNs, unchargedNs, gaps, lostNs, worstNs float64 }

func (t *totals) add(more totals) {
	t.ranNs, t.unchargedNs = t.ranNs+more.ranNs, t.unchargedNs+more.unchargedNs
	t.gaps, t.lostNs, t.worstNs = t.gaps+more.gaps, t.lostNs+more.lostNs, math.Max(t.worstNs, more.worstNs)
}

// take takes one more stretch.
func (w *watched) take(s stretch) {
	now := totals{ranNs: s.ranNs, unchargedNs: s.passedNs - float64(s.use.CPUNs), gaps: float64(len(s.gapsNs))}
	for _, ns := range s.gapsNs {
		now.lostNs, now.worstNs = now.lostNs+ns, math.Max(now.worstNs, ns)
	}
	others := s.use.VoluntarySwitches + s.use.MinorFaults
	if s.use.WaitNs == 0 && s.use.InvoluntarySwitches+others == 0 {
		w.sum.add(w.last)
		w.last = now
		return
	}
	w.last = totals{}
	if ns := now.lostNs - float64(s.use.WaitNs); s.use.InvoluntarySwitches == 1 && others == 0 && ns > 0 && ns < mostSwitchNs {
		w.switchesNs = append(w.switchesNs, ns)
	}
}

// mostSwitchNs is more than a preemption takes: that is a hypervisor's doing.
const mostSwitchNs = 1e6

// noise is what they show. What preemptions take is NaN where none was seen whole.
func (w *watched) noise() machine.Noise {
	n := machine.Noise{WatchedNs: w.sum.ranNs, IrregularWorstNs: w.sum.worstNs, SliceNs: math.NaN(), SwitchNs: stats.Median(w.switchesNs)}
	return gapsOf(n, w.sum.lostNs, w.sum.gaps, w.sum.unchargedNs)
}

// gapsOf is the noise of a thread that was watched, of so many gaps that took lostNs in all.
// Of that the kernel did not charge it for unchargedNs: steal, and on some kernels
// interrupts, which come off a run's time by its own account.
func gapsOf(n machine.Noise, lostNs, count, unchargedNs float64) machine.Noise {
	unchargedNs = math.Min(math.Max(0, unchargedNs), lostNs)
	lostNs -= unchargedNs
	n.WatchedNs -= unchargedNs
	n.IrregularWorstNs = math.Min(n.IrregularWorstNs, lostNs)
	if n.WatchedNs > 0 {
		n.IrregularShare, n.IrregularPerSecond = lostNs/n.WatchedNs, 1e9*count/n.WatchedNs
	}
	return n
}
