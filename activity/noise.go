package activity

import (
	"math"

	"chronoscope/machine"
)

// Noise returns what the trace's CPU takes away from a thread while the thread runs there, for
// methods that correct for it. Preemptions, stops and steal that the kernel counts are not noise.
// Their time is subtracted from the length of the trace before shares are computed. a is the result
// of [Analyse] for the trace. The noise is unknown if the kernel did not count run-queue wait.
func (t *Trace) Noise(a *Analysis) machine.Noise {
	if t.Unwatched {
		return machine.Noise{}
	}
	n := machine.Noise{WatchedNs: t.Ns(t.seen()), SliceNs: a.SliceNs.Value(), SwitchNs: a.SwitchNs.Value()}
	regular, unseen := make([]bool, len(t.Gaps)), make([]bool, len(t.Gaps))
	stolen := t.stolen()
	for i := range a.Combs {
		c := &a.Combs[i]
		var total float64
		kept := 0
		for _, g := range c.Gaps {
			if t.Gaps[g].Cause == c.Source && t.Ns(t.Gaps[g].Ticks) >= c.Period.Value {
				// No interrupt takes a whole period: on a busy CPU this is a preemption that no
				// look has seen.
				unseen[g] = true
			} else if t.Gaps[g].Cause == c.Source {
				regular[g] = true
				total += t.Ns(t.Gaps[g].Ticks)
				kept++
			}
		}
		if kept == 0 || !c.MinNs.Known() {
			continue
		}
		n.Regular = append(n.Regular, machine.Interruption{
			PeriodNs: c.Period.Value, LeastNs: c.MinNs.Value(), MedianNs: c.MedianNs.Value(), MeanNs: total / float64(kept),
			Missing: 1 - float64(len(c.Gaps))/float64(c.Expected), Kernel: c.Source == TimerTick,
		})
	}
	var lost, count float64
	for i, g := range t.Gaps {
		ns := t.Ns(g.Ticks)
		switch {
		case g.Cause == Preempted, g.Cause == Throttled, g.Cause == Stopped, g.Cause == Migrated, g.Cause == Runtime, stolen[i], unseen[i]:
			n.WatchedNs -= ns
		case !regular[i]:
			lost += ns
			count++
			n.IrregularWorstNs = math.Max(n.IrregularWorstNs, ns)
		}
	}
	if n.WatchedNs > 0 {
		n.IrregularShare, n.IrregularPerSecond = lost/n.WatchedNs, 1e9*count/n.WatchedNs
	}
	return n
}

// stolen tells for each gap whether the kernel itself saw that the host had the CPU. The kernel
// leaves such time out of CPU time, as it does run-queue wait.
func (t *Trace) stolen() []bool {
	stolen := make([]bool, len(t.Gaps))
	cpu := t.CPU
	for _, j := range t.Joins {
		var ticks int64
		for _, g := range t.Gaps[j.From : j.Gap+1] {
			ticks += g.Ticks
		}
		if j.cause(t.Ns(ticks), t.Ns(j.Ticks), cpu) == Hypervisor {
			for i := j.From; i <= j.Gap; i++ {
				stolen[i] = t.Gaps[i].Cause == Hypervisor
			}
		}
		cpu = j.Use.CPU
	}
	return stolen
}
