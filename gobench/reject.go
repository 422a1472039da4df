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

// Limits of what is left out.
const (
	// A run stood still if standstillShare of its time is missing, and more than is usual by
	// standstillDeviations standard deviations.
	standstillShare, standstillDeviations = 0.05, 10
	// rejectedShare of the repetitions is worth a word.
	rejectedShare = 0.25
)

// standstills are the repetitions of which a run stood still while its timer ran: time passed in
// which it neither ran nor waited for a CPU, far beyond that of its peers. It was stopped by a
// signal, waited for memory from a disk, or a hypervisor took its CPU in a way that the kernel
// does not count as waiting.
//
// Only a benchmark that never blocks by itself shows that, on a machine on which it hardly waits
// for a CPU. Medians have to do for the others, as they do where the machine is slower for a
// while, which no counter tells. Where most repetitions are so, it is how the benchmark is.
func standstills(k kind, repetitions []Repetition) (all []Rejection) {
	if k.apart || k.blocks || !calm(repetitions) {
		return nil
	}
	few, many := limitOf(k, Repetition.few), limitOf(k, Repetition.many)
	for i, rep := range k.used {
		if why := cmp.Or(few.breach(rep.Few), many.breach(rep.Many)); why != "" {
			all = append(all, Rejection{Repetition: k.at[i], Why: why})
		}
	}
	if 2*len(all) >= len(k.used) {
		return nil
	}
	return all
}

// calm reports whether the runs hardly waited for a CPU, beside their CPU time: time on the clock
// passes in a standstill, too.
func calm(repetitions []Repetition) bool {
	var wait, cpu float64
	for _, rep := range repetitions {
		if rep.Traced {
			wait += rep.Few.WaitNs + rep.Many.WaitNs
			cpu += rep.Few.CPUNs + rep.Many.CPUNs
		}
	}
	return wait <= calmShare*cpu
}

// limit says how much time is usually missing of a run, and how often it waits for a disk.
type limit struct {
	typicalNs, deviationNs, typicalFaults float64
}

// limitOf is how much time may be missing of the runs of one kind.
func limitOf(k kind, of func(Repetition) Observation) limit {
	missing := each(k.used, func(rep Repetition) float64 { return missingNs(of(rep)) })
	return limit{
		typicalNs: stats.Median(missing), deviationNs: stats.DeviationOfMAD * stats.MAD(missing),
		typicalFaults: k.typical(func(rep Repetition) float64 { return of(rep).MajorFaults }),
	}
}

// breach says how a run exceeds the limit; it is empty for one that does not.
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

// missingNs is the time for which the timer ran while the process neither ran nor waited for a CPU, as
// far as is known. It is too little by what the process did while the timer stood still, which is
// the same in all runs, and below 0 where several threads ran.
func missingNs(o Observation) float64 {
	ns := o.TimedNs - o.CPUNs - o.StoppedNs
	if o.WaitNs > 0 {
		ns -= o.WaitNs
	}
	return ns
}
