package gobench

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"chronoscope/stats"
)

// Rejection is a repetition that was left out.
type Rejection struct {
	Repetition int // counted from 0
	Why        string
}

// Limits for leaving out repetitions.
const (
	// A run stood still if its missing time (missingNs) exceeds the median of such runs by more than standstillShare
	// of its timed part, and by more than standstillDeviations standard deviations.
	standstillShare, standstillDeviations = 0.05, 10
	// rejectedShare is the share of the repetitions that may stand still before the verdict mentions them.
	rejectedShare = 0.25
)

// standstills returns the repetitions with a run that stood still while its timer ran: it neither ran nor
// waited for a CPU for much longer than the other runs. It was stopped by a signal, waited for memory from a
// disk, or a hypervisor took its CPU in a way that the kernel does not count as waiting.
//
// This shows only if the benchmark never blocks by itself and hardly waits for a CPU: told is false otherwise. Other disturbed
// repetitions remain, and the median has to cope with them. The median also has to cope with repetitions made
// while the machine is slower for a while, which no counter tells. If most repetitions stand still, standing
// still is a part of the benchmark.
func standstills(k kind, repetitions []Repetition) (all []Rejection, told bool) {
	if k.apart || k.blocks || !calm(repetitions) {
		return nil, false
	}
	few, many := limitOf(k, Repetition.few), limitOf(k, Repetition.many)
	for i, rep := range k.used {
		if why := cmp.Or(few.breach(rep.Few), many.breach(rep.Many)); why != "" {
			all = append(all, Rejection{Repetition: k.at[i], Why: why})
		}
	}
	if 2*len(all) >= len(k.used) {
		return nil, false
	}
	return all, true
}

// calm reports whether the runs hardly waited for other programs. It compares their waits with their CPU time, since
// their time by the clock also includes standstills.
func calm(repetitions []Repetition) bool {
	var wait, cpu float64
	for _, rep := range repetitions {
		if rep.Traced {
			wait += delayNs(rep.Few) + delayNs(rep.Many)
			cpu += rep.Few.CPUNs + rep.Many.CPUNs
		}
	}
	return wait <= calmShare*cpu
}

// limit is how much time is usually missing in a run, and how many times the run waits for a disk.
type limit struct {
	typicalNs, deviationNs, typicalFaults float64
}

// limitOf returns the limit for the runs of one kind.
func limitOf(k kind, of func(Repetition) Observation) limit {
	missing := each(k.used, func(rep Repetition) float64 { return missingNs(of(rep)) })
	return limit{
		typicalNs: stats.Median(missing), deviationNs: stats.DeviationOfMAD * stats.MAD(missing),
		typicalFaults: k.typical(func(rep Repetition) float64 { return of(rep).MajorFaults }),
	}
}

// breach says how a run exceeds the limit; "" if it does not.
func (l limit) breach(o Observation) string {
	excess := missingNs(o) - l.typicalNs
	if !(excess > math.Max(standstillShare*o.TimedNs, standstillDeviations*l.deviationNs)) {
		return ""
	}
	why := fmt.Sprintf("a run stood still for %v", time.Duration(excess).Round(100*time.Microsecond))
	if faults := o.MajorFaults - l.typicalFaults; faults > 0 {
		why += fmt.Sprintf(" and waited %.0f times for memory from a disk", faults)
	}
	return why
}

// missingNs returns the time for which the timer ran while the process neither ran nor waited for a CPU, as far
// as known. It lacks what the process did while the timer stood still, which is the same in all runs. It is
// below 0 if several threads ran.
func missingNs(o Observation) float64 {
	ns := o.TimedNs - o.CPUNs - o.StoppedNs
	if o.WaitNs > 0 {
		ns -= o.WaitNs
	}
	return ns
}
