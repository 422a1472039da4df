package kbest

import (
	"math"
	"math/rand/v2"
	"slices"

	"chronoscope/stats"
)

// switchCost is what each switch adds to the running time, in
// nanoseconds: the kernel's work, and caches that the others have used. The latter
// depends on the subject, so that no look at the machine can show it; beforehand
// every order of magnitude is as likely, up to filling a core's own caches again.
// The samples themselves tell more, where their numbers of switches differ: what
// [Station.Turns] is for.
type switchCost struct {
	ns     []float64 // possible costs
	chance []float64 // that it is one of those up to here, 1 for the last
	mostNs float64   // bounds what is drawn
}

// bounded is the cost where it is no more than a few times what switches add to the samples
// that had some, beside those that had none. Long calls have more switches, so that a
// subject whose own time varies would pass for switches that take long: where that is
// possible only what is known beforehand counts.
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

// mostPerSwitchNs is what a switch can cost at most: the running time of a sample holds all of its switches.
// The fourth least bounds it, since corrections of single samples may be wrong; it's infinite where too few have any.
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
	// longCall is the rank of the samples without a switch that long calls reach.
	longCall = 0.99
	// dearTimes: where switches seem to add more than this many times their usual cost, something
	// else did.
	dearTimes = 2
	// boundTimes: on average, switches add at most this many times what they typically add.
	boundTimes = 3
)

func quantileOf(values []float64, p float64) float64 {
	slices.Sort(values)
	return stats.Quantile(values, p)
}

// Costs of a switch in nanoseconds of CPU time: at least a way into the kernel and out again, at
// most 10 µs there and the filling of a core's own caches (2 MB at 20 GB/s).
const (
	leastSwitchNs = 500.0
	usualSwitchNs = 110e3
	mostSwitchNs  = 2e6
	costSteps     = 256
	fewestFitted  = 6
	// leastFitNs is how well a cost can be known at best.
	leastFitNs = 50.0
)

// newSwitchCost joins what is known beforehand with what the samples say. Where time slices end
// at ticks, samples with more switches have more of the interruptions too that the looks
// see, lostShare of the running time: then a part of the growth, up to what is lost in a
// slice, is in these already. Nobody tells which part.
func newSwitchCost(samples []*Sample, speed coreSpeed, lostShare float64) switchCost {
	slope, errorNs := growth(samples, speed)
	inSliceNs := 0.0
	if switches := totalSwitches(samples); switches > 0 {
		for _, x := range samples {
			inSliceNs += x.RunNs * lostShare / switches
		}
	}
	c := switchCost{mostNs: mostPerSwitchNs(samples)}
	total := 0.0
	for i := range costSteps {
		ns := leastSwitchNs * math.Pow(mostSwitchNs/leastSwitchNs, float64(i)/(costSteps-1))
		beforehand := math.Pow(math.Min(1, usualSwitchNs/ns), 1.5)
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

// totalSwitches are those of all samples.
func totalSwitches(samples []*Sample) float64 {
	var switches float64
	for _, x := range samples {
		switches += float64(x.switches())
	}
	return switches
}

// likelihood of an error of so many standard deviations; never quite nothing, as
// the fit may be worse than it says.
func likelihood(deviations float64) float64 { return math.Exp(-deviations*deviations/2) + 1e-6 }

// growth is by how much the running time grows with each switch, and the standard
// error of that: infinite where the samples don't say.
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

// draw is a possible cost; 0 where no samples were looked at.
func (c switchCost) draw(rng *rand.Rand) float64 {
	if len(c.ns) == 0 {
		return 0
	}
	i, _ := slices.BinarySearch(c.chance, rng.Float64())
	return math.Min(c.ns[min(i, len(c.ns)-1)], c.mostNs)
}
