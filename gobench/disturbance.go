package gobench

import (
	"math"

	"chronoscope/machine"
)

// disturbance is what interrupts and preemptions add to a benchmark's iterations.
type disturbance struct {
	// What interrupts take, as shares of the time: usually, at least and at most.
	interrupts, leastInterrupts, mostInterrupts float64
	switchNs                                    float64 // of a preemption; 0 if nobody else had the CPUs
	mostColdNs                                  float64 // the longest time of refilling the caches after a preemption
	byOthers                                    float64 // the part of the preemptions that other programs may have caused
}

// disturbanceOf returns the disturbance of a benchmark of that kind. Interrupts count only for the time in
// which it keeps a CPU busy.
func disturbanceOf(k kind, basis Basis, setting Setting) disturbance {
	busy := 1.
	if perTimed := k.typical(func(rep Repetition) float64 { return rep.perIteration(cpuNs) / rep.perIteration(timedNs) }); basis != CPUTime && perTimed < 1 {
		busy = math.Max(0, perTimed)
	}
	noise := setting.Checks.Typical(k.typical(func(rep Repetition) float64 { return rep.Many.TimedNs }))
	share := noise.LostShare
	d := disturbance{
		interrupts: busy * share, leastInterrupts: busy * math.Max(0, share-noise.LessShare), mostInterrupts: busy * (share + noise.MoreShare),
		mostColdNs: noise.MostColdNs(cachedBytes), byOthers: k.byOthers,
	}
	if k.waitPerTimed > calmShare {
		if d.switchNs = noise.SwitchNs; !(d.switchNs > 0) {
			d.switchNs = machine.UsualSwitchNs
		}
	}
	return d
}

// cachedBytes is the assumed size of the data that a benchmark keeps in the caches: the usual size of a core's own
// cache.
const cachedBytes = 2 << 20

// usualNs returns how much of a repetition's time of ns is due to disturbances; leastNs and mostNs bound that. The
// difference of two runs may be below 0, and contains no interrupts then.
func (d disturbance) usualNs(ns float64, rep Repetition) float64 {
	return d.interrupts*math.Max(0, ns) + d.preempted(rep)*(d.switchNs+machine.UsualColdNs)
}

func (d disturbance) leastNs(ns float64, rep Repetition) float64 {
	preempted := d.preempted(rep)
	if d.byOthers < 1 { // its own threads may have preempted one another
		preempted = 0
	}
	return d.leastInterrupts*math.Max(0, ns) + (1-machine.NoiseError)*preempted*d.switchNs
}

// mostNs assumes that after each preemption refilling the caches takes the longest possible time.
func (d disturbance) mostNs(ns float64, rep Repetition) float64 {
	return d.mostInterrupts*math.Max(0, ns) + d.preempted(rep)*((1+machine.NoiseError)*d.switchNs+d.mostColdNs)
}

// preempted returns how many times other programs preempted an iteration of a repetition; 0 if nobody else had the
// CPUs. It assumes that they cause the same share of the preemptions as of the waits.
func (d disturbance) preempted(rep Repetition) float64 {
	if d.switchNs == 0 {
		return 0
	}
	return d.byOthers * math.Max(0, rep.perIteration(switches))
}
