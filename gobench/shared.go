package gobench

import (
	"fmt"
	"math"

	"chronoscope/env"
	"chronoscope/stats"
)

// fewestApart is the smallest number of repetitions on unshared cores that tells what the others lost.
const fewestApart = 4

// slowed returns by what share independent instructions typically took longer around the runs of a repetition;
// NaN if unknown.
func (r Repetition) slowed() float64 {
	var all []float64
	for _, o := range []Observation{r.Least, r.Few, r.Many} {
		for _, slowed := range []float64{o.SlowedBefore, o.SlowedAfter} {
			if o.N > 0 && !math.IsNaN(slowed) {
				all = append(all, slowed)
			}
		}
	}
	return stats.Median(all)
}

// sharingOf returns what the used repetitions show of cores that something else used too. If it slows the
// benchmark by less than the requested precision, it does not matter.
func sharingOf(k kind, plan Plan, setting Setting) env.Sharing {
	middles := timesOf(k, k.basis(), disturbanceOf(k, k.basis(), setting)).middles(k.basis())
	var probed []env.Probed
	for i, rep := range k.used {
		slowed := rep.slowed()
		probed = append(probed, env.Probed{Ns: middles[i], SlowedBefore: slowed, SlowedAfter: slowed})
	}
	return env.SharingOf(probed, fewestApart, plan.Precision)
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
		if slowed := rep.slowed(); slowed > env.SharedFrom {
			all = append(all, Rejection{Repetition: k.at[i], Why: fmt.Sprintf("its core was shared: independent instructions took %s longer around its runs", stats.Share(slowed))})
		}
	}
	return all
}
