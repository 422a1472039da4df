package kbest

import (
	"math"
	"math/rand/v2"
	"slices"

	"chronoscope/stats"
)

// switchCost is the distribution of the time that each context switch adds to the running time, in nanoseconds. A
// switch costs the kernel's work, and the refilling of caches that other threads have used. The refilling depends on
// the subject, so that it can't be measured without the subject. The prior is uniform in the logarithm of the cost up
// to usualSwitchNs, which includes filling all of a core's own caches; larger costs are less likely. The samples
// narrow it down if their numbers of switches differ, which [Station.Turns] brings about.
type switchCost struct {
	ns     []float64 // possible costs
	chance []float64 // probability of a cost up to that of the same index; the last is 1
	mostNs float64   // upper bound of what is drawn
}

// bounded returns the cost with an upper bound: boundTimes what a switch typically adds to a sample, compared with
// the samples without switches. But long calls have more switches. If the subject's own time varies, its long calls
// could therefore pass for costly switches. Unless the samples rule that out, bounded discards what they tell about
// switches, and returns the cost that is assumed beforehand, up to usualSwitchNs. It returns c unchanged if only a
// few samples have no switch.
func (c switchCost) bounded(samples []*Sample) switchCost {
	var kept, added []float64
	for _, x := range samples {
		if x.switches() == 0 {
			kept = append(kept, x.RunNs)
		}
	}
	if len(kept) < fewestSamples {
		return c
	}
	calm := stats.Median(kept)
	for _, x := range samples {
		if n := x.switches(); n > 0 {
			added = append(added, (x.RunNs-calm)/float64(n))
		}
	}
	if len(added) >= fewestFitted {
		typical := stats.Median(added)
		if typical > quantileOf(kept, longCall)-calm && typical < dearTimes*usualSwitchNs {
			c.mostNs = math.Min(boundTimes*typical, mostPerSwitchNs(samples))
			return c
		}
	}
	c = newSwitchCost(nil, coreSpeed{}, 0)
	c.mostNs = math.Min(usualSwitchNs, mostPerSwitchNs(samples))
	return c
}

// mostPerSwitchNs returns an upper bound of the cost of a switch: the running time of a sample holds all of its
// switches. Of the samples' bounds the fourth least is used, since corrections of single samples may be wrong.
// It's infinite if too few samples have switches.
func mostPerSwitchNs(samples []*Sample) float64 {
	var each []float64
	for _, x := range samples {
		if n := x.switches(); n > 0 {
			each = append(each, x.RunNs/float64(n))
		}
	}
	if len(each) < fewestFitted {
		return inf
	}
	slices.Sort(each)
	return math.Max(leastSwitchNs, each[fewestFitted/2])
}

const (
	// longCall is the rank, among the samples without a switch, that long calls reach.
	longCall = 0.99
	// dearTimes: if switches seem to add more than this many times their usual cost, something else did.
	dearTimes = 2
	// boundTimes: on average, switches add at most this many times what they typically add.
	boundTimes = 3
)

func quantileOf(values []float64, p float64) float64 {
	slices.Sort(values)
	return stats.Quantile(values, p)
}

// Costs of a switch in nanoseconds of CPU time: at least a way into the kernel and out again; usually at most
// kernelSwitchNs there and the filling of a core's own caches (2 MB at 20 GB/s). While others have the CPU they displace
// data at twice that rate at most: refillPerAway is the time to refill the caches, divided by that for which others had
// the CPU.
const (
	leastSwitchNs  = 500.0
	kernelSwitchNs = 10e3
	usualSwitchNs  = 110e3
	refillPerAway  = 2
	mostSwitchNs   = 2e6
	costSteps      = 256
	fewestFitted   = 6
	// leastFitNs is the least standard error of a fitted cost.
	leastFitNs = 50.0
)

// newSwitchCost joins what is known beforehand with the growth of the samples' times with their numbers of
// switches. If time slices end at ticks, samples with more switches also have more of the interruptions that
// the looks see, which take lostShare of the running time. Then the looks' model already holds a part of the
// growth: between nothing and what is lost in a slice. None, half and all of that are taken as equally likely.
func newSwitchCost(samples []*Sample, speed coreSpeed, lostShare float64) switchCost {
	slope, errorNs := growth(samples, speed)
	inSliceNs := 0.0
	if switches := totalSwitches(samples); switches > 0 {
		for _, x := range samples {
			inSliceNs += x.RunNs * lostShare / switches
		}
	}
	c := switchCost{mostNs: mostPerSwitchNs(samples)}
	usual, total := usualNs(samples), 0.0
	for i := range costSteps {
		ns := leastSwitchNs * math.Pow(mostSwitchNs/leastSwitchNs, float64(i)/(costSteps-1))
		beforehand := math.Pow(math.Min(1, usual/ns), 1.5)
		for _, part := range []float64{0, 0.5, 1} {
			total += beforehand * likelihood((slope-part*inSliceNs-ns)/errorNs)
		}
		c.ns, c.chance = append(c.ns, ns), append(c.chance, total)
	}
	for i := range c.chance {
		c.chance[i] /= total
	}
	return c
}

// usualNs returns up to which cost all costs are equally likely beforehand: usualSwitchNs, or less if others had the CPU
// for too short a time to displace the data of a core's caches. That time is not known of a subject that blocks.
func usualNs(samples []*Sample) float64 {
	var awayNs, preemptions float64
	for _, x := range samples {
		awayNs, preemptions = awayNs+float64(x.Use.WaitNs), preemptions+float64(x.Use.InvoluntarySwitches)
	}
	if awayNs == 0 || preemptions < totalSwitches(samples) {
		return usualSwitchNs
	}
	return math.Min(usualSwitchNs, kernelSwitchNs+refillPerAway*awayNs/preemptions)
}

// totalSwitches returns the number of switches of all samples.
func totalSwitches(samples []*Sample) float64 {
	var switches float64
	for _, x := range samples {
		switches += float64(x.switches())
	}
	return switches
}

// likelihood returns the likelihood of an error of the given number of standard deviations. It is never quite
// 0, as the fit may be worse than it says.
func likelihood(deviations float64) float64 { return math.Exp(-deviations*deviations/2) + 1e-6 }

// growth returns by how many nanoseconds the running time grows with each switch, and the standard error of
// that, which is infinite if the samples don't say.
func growth(samples []*Sample, speed coreSpeed) (slope, standardError float64) {
	if len(samples) < fewestFitted {
		return 0, inf
	}
	var x, y []float64
	scaling := speed.scalingOf(samples)
	for _, s := range samples {
		x, y = append(x, float64(s.switches())), append(y, speed.atReference(s, scaling))
	}
	line, err := stats.TheilSen(x, y)
	if err != nil || !(line.Slope.HalfWidth() > 0) {
		return 0, inf
	}
	return line.Slope.Value, math.Max(leastFitNs, line.Slope.HalfWidth()/1.96)
}

// draw returns a random cost of a switch, a Monte Carlo draw. It returns 0 for the zero switchCost, which means that
// switches are not corrected for.
func (c switchCost) draw(rng *rand.Rand) float64 {
	if len(c.ns) == 0 {
		return 0
	}
	i, _ := slices.BinarySearch(c.chance, rng.Float64())
	return math.Min(c.ns[min(i, len(c.ns)-1)], c.mostNs)
}
