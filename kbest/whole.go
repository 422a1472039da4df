package kbest

import (
	"fmt"
	"math"
	"slices"

	"chronoscope/env"
	"chronoscope/stats"
)

// Mean is the statistic of a subject whose own time varies: the mean of all calls, less what disturbances took
// on average. The K least samples would give the time of its fast calls only.
const Mean = "mean"

const (
	// unexplainedShare is a share of the time of a fast call. A mean that exceeds this time by less is not
	// taken for different, even without a known cause.
	unexplainedShare = 0.005
	// fewerScenarios is the number of scenarios drawn to see what disturbances explain at most.
	fewerScenarios = 64
	// collectorNs is what the garbage collector takes at most for each allocated byte, in nanoseconds: some 0.1
	// to 0.5 with a small live heap, and about 1 if each collection has to mark as much as was allocated since
	// the last. It matters if it exceeds collectorShare of a call.
	collectorNs, collectorShare = 1, 0.01
	// slowRank is the rank of the sample that tells how slow calls are: longer ones may have been interrupted.
	slowRank = 0.95
	// leftOutShare is the largest share by which the mean may change if samples that were left out are
	// included, or if samples have fewer calls.
	leftOutShare = 0.02
	// rareShare is the share that a few long samples may add to the mean beyond what disturbances usually take:
	// one call in a thousand that takes two hundred times as long adds 20 %.
	rareShare = 0.03
	// leastSeen is the lower limit of the estimated number of slow calls in a mean (meanError). It may be below 1,
	// since the estimate is the square of a ratio and not a count.
	leastSeen = 0.25
	// blockOf is the number of consecutive samples that are taken together to find the error of a mean, since
	// neighbouring samples may be alike. This needs at least blocksFrom samples.
	blockOf, blocksFrom = 8, 64
	// fewestBursts is the smallest number of bursts that tells the error of a mean if the cost changes from
	// burst to burst.
	fewestBursts = 4
)

// whole is the sum over the calls of some samples.
type whole struct {
	calls float64
	// totalNs is the calls' time at the reference rate, without the clock's cost. It is the sum of byClockNs
	// (of the samples that kept their CPU) and byCPUNs (of the others).
	totalNs, byClockNs, byCPUNs float64
	switches                    float64
}

// wholeOf adds the samples up.
func wholeOf(samples []*Sample, v inference) whole {
	var w whole
	for _, x := range samples {
		run := v.callsNs(x)
		w.calls += float64(x.N)
		w.totalNs += run
		w.switches += float64(x.switches())
		if x.Corrected == "" {
			w.byClockNs += run
		} else {
			w.byCPUNs += run
		}
	}
	return w
}

// callsNs returns the time of a sample's calls, in nanoseconds at the reference rate. If the core had another
// rate, the time is taken to be inversely proportional to it.
func (v inference) callsNs(x *Sample) float64 {
	run := v.speed.atReference(x, v.scaling)
	if x.Rejected == CoreSpeed {
		run = x.RunNs * math.Exp(v.speed.departure(x))
	}
	return run - v.overhead.clockNs
}

// rescaledNs returns by how much the mean of samples would differ if time did not depend on the core's rate, or
// if the chains that showed another rate were disturbed.
func (v inference) rescaledNs(samples []*Sample) float64 {
	var ns, calls float64
	for _, x := range samples {
		calls += float64(x.N)
		if x.Rejected == CoreSpeed {
			ns += x.RunNs * (1 - math.Exp(v.speed.departure(x)))
		}
	}
	return math.Abs(ns) / calls
}

// disturbed draws what disturbances add to the whole, sorted.
func (w whole) disturbed(v inference, model disturbances) []float64 {
	var drawn []float64
	var one scenario
	for range scenarios {
		model.draw(v.rng, &one)
		drawn = append(drawn, (one.switchNs+one.hiddenNs)*w.switches+one.lost(v.rng, w.byClockNs, false)+one.held*one.lost(v.rng, w.byCPUNs, false))
	}
	slices.Sort(drawn)
	return drawn
}

// parts are the shares of the samples, from the least on, whose means are compared with what disturbances
// explain. Rare long interruptions are in the last parts only. What is in many samples shows best in parts
// without such interruptions.
var parts = [8]float64{0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 1}

// partMeans returns the means of the parts of sorted values.
func partMeans(sorted []float64) (means [len(parts)]float64) {
	var sum float64
	taken := 0
	for i, part := range parts {
		for to := max(1, int(part*float64(len(sorted)))); taken < to; taken++ {
			sum += sorted[taken]
		}
		means[i] = sum / float64(taken)
	}
	return means
}

// varies reports whether some part of the samples took longer than an undisturbed call and the disturbances
// explain. Then the subject's own time varies, or it is slowed by something that neither the kernel's counts
// nor the looks show.
func (v inference) varies(least stats.Estimate) bool {
	var w scenario
	var most [len(parts)][]float64
	drawn := make([]float64, len(v.used))
	for range fewerScenarios {
		v.model.draw(v.rng, &w)
		v.excessOf(&w, drawn)
		for i, mean := range partMeans(drawn) {
			most[i] = append(most[i], mean)
		}
	}
	known := float64(v.n)*math.Max(least.Hi, (1+unexplainedShare)*least.Value) + v.overhead.clockNs
	for i, mean := range partMeans(v.runNs) {
		if mean-known > slices.Max(most[i]) {
			return true
		}
	}
	return false
}

// of returns the inference from other samples, all with the same number of calls.
func (v inference) of(samples []*Sample) inference {
	v.n, v.used, v.runNs = samples[0].N, slices.Clone(samples), nil
	for _, x := range samples {
		v.runNs = append(v.runNs, v.speed.atReference(x, v.scaling))
	}
	slices.Sort(v.runNs)
	v.from, v.to = 0, len(samples)
	return v
}

// lessSharing subtracts what sharing the core may have added: a long sample may have been shared in its middle
// only, which the probes at its ends don't see.
func (v inference) lessSharing(s env.Sharing, least stats.Estimate) inference {
	if s.Told() {
		most := s.Cost.AtMost(s.Slowed).Hi
		for i, run := range v.runNs {
			v.runNs[i] = math.Max(math.Min(run, float64(v.n)*least.Value), run/(1+most))
		}
	}
	return v
}

// onTheWhole returns the mean cost of a call. varies says that this is more than the time of an undisturbed
// call.
func (c *conclusion) onTheWhole(v inference, least stats.Estimate) (mean stats.Estimate, varies bool) {
	v.model.switches = v.model.switches.bounded(c.full)
	all := c.calls()
	w := wholeOf(all, v)
	taken := w.disturbed(v, v.model)
	mean = stats.Estimate{Unit: "ns", Statistic: Mean, N: len(all)}
	of := func(p float64) float64 { return (w.totalNs - stats.Quantile(taken, p)) / w.calls }
	mean.Value = math.Max(least.Value, of(0.5))
	below, above := v.meanError(all, mean.Value, mean.Value-least.Value)
	rescaled := v.rescaledNs(all)
	mean.Lo, mean.Hi = math.Max(least.Lo, of(0.99)-below-rescaled), of(0.01)+above+rescaled
	mean.Lo, mean.Hi = math.Min(mean.Lo, mean.Value), math.Max(mean.Hi, mean.Value)
	varies = v.varies(least) || len(v.used) < len(c.full) && v.of(c.full).varies(least) ||
		len(c.surveys) >= fewestSamples && v.of(c.surveys).lessSharing(c.sharing, least).varies(least)
	return mean, varies
}

// withRareCalls returns the time of a fast call. If a few long samples make the mean greater by more than
// disturbances usually do, the interval reaches beyond the mean: calls that are slow now and then, or rare
// disturbances, may have made these samples long.
func (c *conclusion) withRareCalls(least, mean stats.Estimate) stats.Estimate {
	above := mean.Value - least.Value
	if above <= unexplainedShare*least.Value || above <= 2*least.HalfWidth() {
		return least
	}
	c.above = above / least.Value
	least.Hi = math.Max(least.Hi, least.Value+2*above) // by chance, only half of the expected number of long samples may have occurred
	return least
}

// meanError returns how far the mean of the samples may be off, below and above, given how much the samples
// differ. slowNs is the part of the mean that slow calls add. If few slow calls cause it, their number is taken
// for Poisson distributed: if k were seen, up to k + 2 + 1.96 sqrt(k+1) may be expected.
func (v inference) meanError(samples []*Sample, meanNs, slowNs float64) (below, above float64) {
	departure := func(x *Sample) float64 { return v.callsNs(x) - float64(x.N)*meanNs }
	standardError := standardErrorOf(samples, departure)
	few := 1 + 1.5/float64(len(samples)-1) // approximates Student's t divided by the normal quantile
	below = math.Max(1.96*few*standardError, errorOfBursts(samples, departure))
	k := math.Max(leastSeen, math.Pow(slowNs/math.Max(standardError, 1e-9), 2))
	return below, below*math.Sqrt(1+1/k) + 2*standardError/math.Sqrt(k)
}

// standardErrorOf returns the standard error of the mean per call. departure returns how far a sample departs
// from the mean. The greater of two errors counts, by single samples and by blocks of them; the samples are in
// the order in which they were taken.
func standardErrorOf(ordered []*Sample, departure func(*Sample) float64) float64 {
	blocked := func(size int) float64 {
		var squares, calls float64
		for block := range slices.Chunk(ordered, size) {
			var sum float64
			for _, x := range block {
				sum += departure(x)
				calls += float64(x.N)
			}
			squares += sum * sum
		}
		n := float64(len(ordered)) / float64(size)
		return math.Sqrt(squares*n/(n-1)) / calls
	}
	if len(ordered) < blocksFrom {
		return blocked(1)
	}
	return math.Max(blocked(1), blocked(blockOf))
}

// errorOfBursts returns the half-width of the mean's interval that follows from the bursts' departures from the
// mean; 0 if there are fewer than fewestBursts.
func errorOfBursts(ordered []*Sample, departure func(*Sample) float64) float64 {
	sums := map[int]float64{}
	var calls, squares float64
	for _, x := range ordered {
		sums[x.burst] += departure(x)
		calls += float64(x.N)
	}
	n := float64(len(sums))
	if n < fewestBursts {
		return 0
	}
	for _, sum := range sums {
		squares += sum * sum
	}
	return stats.StudentT(n-1) * math.Sqrt(squares*n/(n-1)) / calls
}

// calls returns the samples from which the mean is computed, in their order: those that were not rejected, and those
// that were rejected because the core ran at another rate. A slow call is more likely than a fast one to see the rate
// change, so that the mean would be too low without the latter.
func (c *conclusion) calls() []*Sample {
	var calls []*Sample
	for i := range c.Samples {
		if x := &c.Samples[i]; x.Rejected == "" || x.Rejected == CoreSpeed {
			calls = append(calls, x)
		}
	}
	return calls
}

// judgeWhole lowers the verdict if the value is not, or may not be, the mean cost of a call.
func (c *conclusion) judgeWhole() {
	if c.blocks {
		return
	}
	if m := c.Mean; m.Value > 0 && c.Estimate.Statistic != Mean {
		c.Lower(stats.Suspect, "calls differ by more than what disturbs them explains: this is the time of a fast one, and on the whole a call takes %.4g ns (%.4g to %.4g), or something slows some of them: more time narrows it", m.Value, m.Lo, m.Hi)
	}
	if c.above > rareShare {
		c.Lower(stats.Suspect, "a few samples are long, and disturbances explain them only if they were rare: with them a call takes %+.2g %% more on the whole", 100*c.above)
	}
	if slow := c.slowTimes(); c.Estimate.Statistic == Mean && slow < env.SharedTimes {
		c.Lower(stats.Suspect, "samples take up to %.2g times as long as the fastest, and nothing tells whether the work itself varies or what shares its core, caches or memory slows it: the figure is the mean of all", slow)
	}
	if by := c.shortTake(); math.Abs(by) > leftOutShare && c.Estimate.Statistic == Mean {
		c.Lower(stats.Suspect, "a call takes %s in samples of %d calls than in those of %d: its cost depends on the time that passes between calls, or on what runs between samples, and nothing tells how it is called elsewhere", moreOrLess(by), c.Calls, c.surveys[0].N)
	}
	if bytes := allocatedBytes(c.Samples); bytes*collectorNs > collectorShare*c.Estimate.Value {
		c.Lower(stats.Suspect, allocates, bytes, "samples")
	}
	if by := c.leftOutMoves(); math.Abs(by) > leftOutShare {
		which := "slow"
		if by < 0 {
			which = "usual"
		}
		c.Lower(stats.Suspect, "with the samples that were left out a call takes %s on the whole: they may be the %s ones", moreOrLess(by), which)
	}
}

// moreOrLess writes a share in percent: "13 % more", and "13 % less" for a negative share.
func moreOrLess(by float64) string {
	word := "more"
	if by < 0 {
		word = "less"
	}
	return fmt.Sprintf("%.2g %% %s", 100*math.Abs(by), word)
}

// shortErrors is the number of standard errors by which two means have to differ.
const shortErrors = 3

// shortTake returns by what share a call takes longer in samples of the usual length than in surveys, 0 if that
// may be chance. What is renewed after some time, such as a cache that expires, also becomes due between the
// samples.
func (c *conclusion) shortTake() float64 {
	if min(len(c.full), len(c.surveys)) < fewestApart {
		return 0
	}
	of := func(samples []*Sample) (mean, standardError float64) {
		var calls float64
		run := func(x *Sample) float64 { return x.RunNs - c.m.overhead.clockNs }
		for _, x := range samples {
			mean, calls = mean+run(x), calls+float64(x.N)
		}
		mean /= calls
		return mean, standardErrorOf(samples, func(x *Sample) float64 { return run(x) - mean*float64(x.N) })
	}
	short, shortError := of(c.full)
	long, longError := of(c.surveys)
	if math.Abs(short-long) < shortErrors*math.Hypot(shortError, longError) {
		return 0
	}
	return short/long - 1
}

// slowTimes returns the time of slow samples divided by that of the fastest.
func (c *conclusion) slowTimes() float64 {
	var perCall []float64
	for _, x := range c.full {
		perCall = append(perCall, c.perCall(x))
	}
	slices.Sort(perCall)
	return stats.Quantile(perCall, slowRank) / perCall[0]
}

// leftOutMoves returns by what share the mean grows, or shrinks if it is negative, with the samples that were left out for what happened while
// they ran. These count with their CPU time at the reference rate. Long calls are preempted and migrated more
// often than short ones, and the core's rate changes during more of them.
func (c *conclusion) leftOutMoves() float64 {
	var keptNs, keptCalls, leftNs, leftCalls float64
	isKept := func(x *Sample) bool {
		return x.Rejected == "" || x.Rejected == CoreSpeed && c.Estimate.Statistic == Mean
	}
	for i := range c.Samples {
		if x := &c.Samples[i]; isKept(x) {
			keptNs, keptCalls = keptNs+c.ownNs(x), keptCalls+float64(x.N)
		}
	}
	kept := keptNs / keptCalls
	for i := range c.Samples {
		switch x := &c.Samples[i]; {
		case isKept(x):
		case x.Rejected == Shared: // sharing the core explains a part
			leftNs, leftCalls = leftNs+math.Max(c.ownNs(x)/env.SharedTimes, kept*float64(x.N)), leftCalls+float64(x.N)
		default:
			leftNs, leftCalls = leftNs+c.ownNs(x), leftCalls+float64(x.N)
		}
	}
	if !(kept > 0) {
		return 0
	}
	return (keptNs+leftNs)/(keptCalls+leftCalls)/kept - 1
}

// ownNs returns the CPU time of a sample at the reference rate, in nanoseconds. Other threads collect garbage
// too. Only a subject that asks for a collection has one in its samples ([Here]), so that its running time
// counts too.
func (c *conclusion) ownNs(x *Sample) float64 {
	ns := float64(x.Use.CPUNs) - c.m.overhead.lookNs - c.m.overhead.clockNs
	switch x.Rejected {
	case CoreSpeed:
		return ns * math.Exp(c.speed.departure(x))
	case Collected:
		return math.Max(ns, x.RunNs)
	}
	return ns
}

// allocates is the reason where the garbage collector may take a share of a call.
const allocates = "each call allocates %.4g bytes (or other goroutines do meanwhile), and the figure does not include the work of the garbage collector: none runs during the %s; the figure of a benchmark that runs for long includes it"

// allocatedBytes returns the number of bytes that a call allocates.
func allocatedBytes(samples []Sample) float64 {
	var bytes, calls float64
	for i := range samples {
		bytes, calls = bytes+float64(samples[i].Allocated), calls+float64(samples[i].N)
	}
	return bytes / calls
}
