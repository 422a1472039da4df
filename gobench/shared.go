package gobench

import (
	"fmt"
	"math"

	"chronoscope/env"
	"chronoscope/stats"
)

// fewestApart is the smallest number of repetitions on unshared cores that count without the others.
const fewestApart = 4

// probed returns the time of a repetition with what the probes around its longest run said.
func (r Repetition) probed(ns float64) env.Probed {
	return env.Probed{Ns: ns, SlowedBefore: r.Many.SlowedBefore, SlowedAfter: r.Many.SlowedAfter}
}

// sharingOf returns what the used repetitions show of cores that something else used too. They all count if it slows the
// benchmark by less than the requested precision.
func sharingOf(k kind, plan Plan, setting Setting) env.Sharing {
	middles := timesOf(k, k.basis(), disturbanceOf(k, k.basis(), setting)).middles(k.basis())
	var probed []env.Probed
	for i, rep := range k.used {
		probed = append(probed, rep.probed(middles[i]))
	}
	return env.SharingOf(probed, nil, plan.Precision)
}

// othersElsewhere returns how many CPUs other programs used on average during a repetition, apart from the benchmark:
// their CPU time less the benchmark's run-queue wait, in which they had the benchmark's own CPU. It is NaN if unknown.
func (k kind) othersElsewhere(rep Repetition) float64 {
	var othersNs, wallNs float64
	for _, o := range []Observation{rep.Few, rep.Many} {
		waitNs := o.WaitNs
		if math.IsNaN(waitNs) {
			waitNs = k.waitShare * o.WallNs
		}
		othersNs, wallNs = othersNs+math.Max(0, o.OthersNs-waitNs), wallNs+o.WallNs
	}
	return othersNs / wallNs
}

// neighboursOf returns what programs on other CPUs may have added to the repetitions. The zero value means that
// nothing is known about them.
func neighboursOf(k kind, middles []float64) stats.Exposure {
	var beside, times []float64
	for i, rep := range k.used {
		if x := k.othersElsewhere(rep); !math.IsNaN(x) {
			beside, times = append(beside, x), append(times, middles[i])
		}
	}
	return stats.ExposureOf(beside, times, stats.NeighboursWorst)
}

// sharedRepetitions returns the repetitions around which something else ran on the cores.
func sharedRepetitions(k kind) (all []Rejection) {
	for i, rep := range k.used {
		if p := rep.probed(0); p.Shared() {
			all = append(all, Rejection{Repetition: k.at[i], Why: fmt.Sprintf("its core was shared: independent instructions took %s longer around its runs", stats.Share(math.Max(p.SlowedBefore, p.SlowedAfter)))})
		}
	}
	return all
}
