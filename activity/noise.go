package activity

import (
	"math"

	"chronoscope/machine"
)

// Noise is what the trace's CPU takes away from a thread that runs on it, for
// methods that correct for it. a is what [Analyse] said of the trace.
func (t *Trace) Noise(a *Analysis) machine.Noise {
	n := machine.Noise{WatchedNs: t.Ns(t.seen()), SliceNs: a.SliceNs, SwitchNs: a.SwitchNs}
	regular := make([]bool, len(t.Gaps))
	running := n.WatchedNs
	for i := range a.Combs {
		c := &a.Combs[i]
		var total float64
		kept := 0
		for _, g := range c.Gaps {
			regular[g] = true
			if t.Gaps[g].Cause == c.Source {
				total += t.Ns(t.Gaps[g].Ticks)
				kept++
			}
		}
		if kept == 0 {
			continue
		}
		n.Regular = append(n.Regular, machine.Interruption{
			PeriodNs: c.PeriodNs.Value, LeastNs: c.LeastNs, MedianNs: c.MedianNs, MeanNs: total / float64(kept),
			Kernel: c.Source == TimerTick,
		})
	}
	var lost, count float64
	for i, g := range t.Gaps {
		ns := t.Ns(g.Ticks)
		switch {
		case g.Cause == Preempted, g.Cause == Throttled, g.Cause == Stopped, g.Cause == Migrated, g.Cause == Runtime:
			running -= ns
		case !regular[i]:
			lost += ns
			count++
			n.IrregularWorstNs = math.Max(n.IrregularWorstNs, ns)
		}
	}
	n.IrregularShare, n.IrregularPerSecond = lost/running, 1e9*count/running
	return n
}
