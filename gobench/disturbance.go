package gobench

import (
	"math"

	"chronoscope/machine"
)

// disturbance is what interrupts and preemptions take of a benchmark's iterations.
type disturbance struct {
	interrupts float64 // share of the time
	switchNs   float64 // of a preemption; 0 where nobody else had the CPUs
}

// disturbanceOf is that of a benchmark of that kind: interrupts are only those of the time in which
// it keeps a CPU busy.
func disturbanceOf(k kind, basis Basis, setting Setting) disturbance {
	busy := 1.
	if perTimed := k.typical(func(rep Repetition) float64 { return rep.perIteration(cpuNs) / rep.perIteration(timedNs) }); basis != CPUTime && perTimed < 1 {
		busy = math.Max(0, perTimed)
	}
	d := disturbance{interrupts: busy * setting.Noise.ShareLost()}
	if k.waitPerTimed > calmShare {
		if d.switchNs = setting.Noise.SwitchNs; !(d.switchNs > 0) {
			d.switchNs = machine.UsualSwitchNs
		}
	}
	return d
}

// usualNs is what a repetition's time of ns has too much; leastNs and mostNs bound that.
func (d disturbance) usualNs(ns float64, rep Repetition) float64 {
	return d.interruptedNs(ns) + d.preempted(rep)*(d.switchNs+machine.UsualColdNs)
}

func (d disturbance) leastNs(ns float64, rep Repetition) float64 {
	return (1 - machine.NoiseError) * (d.interruptedNs(ns) + d.preempted(rep)*d.switchNs)
}

// mostNs assumes that caches take as long as they may to fill again after each preemption.
func (d disturbance) mostNs(ns float64, rep Repetition) float64 {
	return (1+machine.NoiseError)*(d.interruptedNs(ns)+d.preempted(rep)*d.switchNs) + d.preempted(rep)*machine.ColdNs
}

// interruptedNs is what interrupts take of a time. A difference of two runs may be below 0.
func (d disturbance) interruptedNs(ns float64) float64 { return math.Max(0, ns) * d.interrupts }

// preempted is how often an iteration of a repetition was preempted; 0 where nobody else had the CPUs.
func (d disturbance) preempted(rep Repetition) float64 {
	if d.switchNs == 0 {
		return 0
	}
	return math.Max(0, rep.perIteration(switches))
}
