package gobench

import (
	"math"

	"chronoscope/machine"
)

// disturbance is what interrupts and preemptions take of a benchmark's iterations.
type disturbance struct {
	interrupts float64 // share of the time
	switchNs   float64 // of a preemption; 0 where nobody else had the CPUs
	switches   float64 // of an iteration, usually
	coldest    float64 // how long caches may take to fill again after a preemption
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
		d.switches, d.coldest = math.Max(0, k.typical(func(rep Repetition) float64 { return rep.perIteration(switches) })), machine.ColdNs
		if d.switchNs = setting.Noise.SwitchNs; !(d.switchNs > 0) {
			d.switchNs = machine.UsualSwitchNs
		}
	}
	return d
}

// usualNs is what a repetition's time has too much.
func (d disturbance) usualNs(ns float64, rep Repetition) float64 {
	taken := ns * d.interrupts
	if d.switchNs > 0 {
		taken += math.Max(0, rep.perIteration(switches)) * (d.switchNs + machine.UsualColdNs)
	}
	return taken
}

// leastNs and mostNs bound what a time of an iteration has too much.
func (d disturbance) leastNs(ns float64) float64 {
	return (1 - machine.NoiseError) * (ns*d.interrupts + d.switches*d.switchNs)
}

func (d disturbance) mostNs(ns float64) float64 {
	return (1+machine.NoiseError)*(ns*d.interrupts+d.switches*d.switchNs) + d.switches*d.coldest
}
