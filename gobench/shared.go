package gobench

import (
	"fmt"
	"math"

	"chronoscope/env"
	"chronoscope/stats"
)

// fewestApart repetitions on cores of their own tell what the others lost.
const fewestApart = 4

// slowed is by what share independent instructions typically took longer around the runs of a
// repetition; NaN where it is not known.
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

// sharingOf says what the repetitions that count show of cores that something else used too. Where it
// slows the benchmark by less than the precision that is asked for, that does not matter.
func sharingOf(k kind, plan Plan, setting Setting) env.Sharing {
	middles := timesOf(k, k.basis(), disturbanceOf(k, k.basis(), setting)).middles(k.basis())
	var probed []env.Probed
	for i, rep := range k.used {
		slowed := rep.slowed()
		probed = append(probed, env.Probed{Ns: middles[i], SlowedBefore: slowed, SlowedAfter: slowed})
	}
	return env.SharingOf(probed, fewestApart, plan.Precision)
}

// othersElsewhere is how many CPUs other programs used on average while a repetition ran, other than
// those that it waited for; NaN where that is not known.
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

// neighboursOf says what programs on other CPUs may have added to the repetitions. The zero value says
// that nothing is known of these.
func neighboursOf(k kind, middles []float64) stats.Exposure {
	var beside, times []float64
	for i, rep := range k.used {
		if x := k.othersElsewhere(rep); !math.IsNaN(x) {
			beside, times = append(beside, x), append(times, middles[i])
		}
	}
	return stats.ExposureOf(beside, times, stats.NeighboursWorst)
}

// sharedRepetitions are those around which something else ran on the cores.
func sharedRepetitions(k kind) (all []Rejection) {
	for i, rep := range k.used {
		if slowed := rep.slowed(); slowed > env.SharedFrom {
			all = append(all, Rejection{Repetition: k.at[i], Why: fmt.Sprintf("its core was shared: independent instructions took %s longer around its runs", stats.Share(slowed))})
		}
	}
	return all
}
