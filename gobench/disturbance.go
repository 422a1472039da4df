package gobench

import (
	"math"

	"chronoscope/machine"
)

// disturbance is what interrupts and preemptions add to a benchmark's iterations.
type disturbance struct {
	interrupts float64 // share of the time
	switchNs   float64 // of a preemption; 0 if nobody else had the CPUs
	mostColdNs float64 // the longest time of refilling the caches after a preemption
	byOthers   float64 // the part of the preemptions that other programs may have caused
}

// disturbanceOf returns the disturbance of a benchmark of that kind. Interrupts count only for the time in
// which it keeps a CPU busy.
func disturbanceOf(k kind, basis Basis, setting Setting) disturbance {
	busy := 1.
	if perTimed := k.typical(func(rep Repetition) float64 { return rep.perIteration(cpuNs) / rep.perIteration(timedNs) }); basis != CPUTime && perTimed < 1 {
		busy = math.Max(0, perTimed)
	}
	d := disturbance{interrupts: busy * setting.Noise.ShareLost(), mostColdNs: setting.Noise.MostColdNs(cachedBytes), byOthers: k.byOthers}
	if k.waitPerTimed > calmShare {
		if d.switchNs = setting.Noise.SwitchNs; !(d.switchNs > 0) {
			d.switchNs = machine.UsualSwitchNs
		}
	}
	return d
}

// cachedBytes is the assumed size of the data that a benchmark keeps in the caches: the usual size of a core's own
// cache.
const cachedBytes = 2 << 20

// usualNs returns how much of a repetition's time of ns is due to disturbances; leastNs and mostNs bound that.
func (d disturbance) usualNs(ns float64, rep Repetition) float64 {
	return d.interruptedNs(ns) + d.preempted(rep)*(d.switchNs+machine.UsualColdNs)
}

func (d disturbance) leastNs(ns float64, rep Repetition) float64 {
	preempted := d.preempted(rep)
	if d.byOthers < 1 { // its own threads may have preempted one another
		preempted = 0
	}
	return (1 - machine.NoiseError) * (d.interruptedNs(ns) + preempted*d.switchNs)
}

// mostNs assumes that after each preemption refilling the caches takes the longest possible time.
func (d disturbance) mostNs(ns float64, rep Repetition) float64 {
	return (1+machine.NoiseError)*(d.interruptedNs(ns)+d.preempted(rep)*d.switchNs) + d.preempted(rep)*d.mostColdNs
}

// interruptedNs returns what interrupts take of a time. A difference of two runs may be below 0.
func (d disturbance) interruptedNs(ns float64) float64 { return math.Max(0, ns) * d.interrupts }

// preempted returns how many times other programs preempted an iteration of a repetition; 0 if nobody else had the
// CPUs. Among all preemptions, theirs are taken to be as frequent as waits for them are among all waits.
func (d disturbance) preempted(rep Repetition) float64 {
	if d.switchNs == 0 {
		return 0
	}
	return d.byOthers * math.Max(0, rep.perIteration(switches))
}
