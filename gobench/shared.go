package gobench

import (
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"chronoscope/env"
	"chronoscope/machine"
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

// Around is a look at the CPU time of all processes (proc_stat(5)). That includes processes that are hidden, as in a
// container, and those that came and went. It is in steps of 10 ms, and charged by ticks, so that only looks that are
// seconds apart can be compared. The zero value knows nothing.
type Around struct {
	At time.Time
	// RanNs is the CPU time of all programs and interrupts so far, and OwnNs that of this process and its children.
	RanNs, OwnNs float64
}

// lookAround looks now.
func lookAround() Around {
	root := os.DirFS("/")
	all, err := machine.ReadCPUTimes(root, machine.AllCPUs)
	if err != nil || !machine.StatIsWhole(root) {
		return Around{}
	}
	return Around{At: time.Now(), RanNs: all.RanNs(), OwnNs: machine.OwnCPUNs()}
}

// aroundErrorNs is about the most by which the rounding of a few figures can be off in the difference of two looks.
const aroundErrorNs = 20e6

// othersSince returns how many CPUs others used on average since an earlier look, less what may be an error of the looks;
// NaN if that is unknown, also where the kernel's file does not count this process.
func (a Around) othersSince(before Around) float64 {
	ranNs, ownNs, passedNs := a.RanNs-before.RanNs, a.OwnNs-before.OwnNs, float64(a.At.Sub(before.At))
	if before.At.IsZero() || !(passedNs > 0) || !(ranNs >= ownNs/2) {
		return math.NaN()
	}
	return math.Max(0, ranNs-ownNs-aroundErrorNs) / passedNs
}

// mostOthersNs returns the CPU time that others used at most since an earlier look; NaN if unknown.
func (a Around) mostOthersNs(before Around) float64 {
	return a.othersSince(before)*float64(a.At.Sub(before.At)) + 2*aroundErrorNs
}

// othersAround returns how many CPUs others used on average from the first of the repetitions to the last; NaN if unknown.
func othersAround(repetitions []Repetition) float64 {
	var first, last Around
	for _, rep := range repetitions {
		for _, a := range []Around{rep.Few.Around, rep.Many.Around} {
			if first.At.IsZero() || a.At.Before(first.At) {
				first = a
			}
			if a.At.After(last.At) {
				last = a
			}
		}
	}
	return last.othersSince(first)
}

// othersElsewhere returns how many CPUs other programs used on average during a repetition, apart from the benchmark:
// their CPU time less the benchmark's run-queue wait, in which they had the benchmark's own CPU. If their CPU time
// during a run is unknown, their average from the first repetition to the last stands for it, less the usual wait. The usual wait
// also stands for an unknown wait, and 0 if both are unknown. The result is NaN if neither CPU time is known.
func (k kind) othersElsewhere(rep Repetition) float64 {
	var othersNs, wallNs float64
	for _, o := range []Observation{rep.Few, rep.Many} {
		usualNs := stats.FloatOf(k.waitShare).Or(0) * o.WallNs
		waitNs := o.WaitNs
		if math.IsNaN(waitNs) {
			waitNs = usualNs
		}
		ns := o.OthersNs - waitNs
		if math.IsNaN(o.OthersNs) {
			ns = k.othersAround*o.WallNs - usualNs
		}
		othersNs, wallNs = othersNs+math.Max(0, ns), wallNs+o.WallNs
	}
	return othersNs / wallNs
}

// othersUnknown reports whether it is not known for some repetition what other programs used of the CPUs.
func (k kind) othersUnknown() bool {
	return math.IsNaN(k.othersAround) && slices.ContainsFunc(k.used, func(rep Repetition) bool { return math.IsNaN(rep.Few.OthersNs + rep.Many.OthersNs) })
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
