package kbest

import (
	"math"
	"slices"

	"chronoscope/env"
	"chronoscope/stats"
)

// Mean is the statistic of a subject whose own time varies: the mean of all calls,
// less what disturbances took on average. The K least samples would be the time of
// its fast calls only.
const Mean = "mean"

const (
	// unexplainedShare of the least is how much more the mean may be without a cause
	// that is known: a mean that is closer changes nothing.
	unexplainedShare = 0.005
	// fewerScenarios are drawn to see what disturbances explain at most.
	fewerScenarios = 64
	// collectorNs is what the garbage collector takes at most for each byte that is
	// allocated: some 0.1 to 0.5 ns beside a small live heap, and about 1 ns where each
	// collection has to mark as much as was allocated since the last. From collectorShare of
	// a call on it matters.
	collectorNs, collectorShare = 1, 0.01
	// slowRank of the samples tells how slow calls are: longer ones may have been interrupted.
	slowRank = 0.95
	// leftOutShare is how far the samples that were left out may move the mean.
	leftOutShare = 0.02
	// rareShare is how much a few long samples may add to the mean beyond what disturbances
	// usually take: one call in a thousand that takes two hundred times as long adds 20 %.
	rareShare = 0.03
	// leastSeen is the fewest slow calls that a mean is taken to rest on.
	leastSeen = 0.25
	// blockOf consecutive samples are taken together to see how uncertain a mean is of
	// which neighbours resemble each other, where there are at least blocksFrom samples.
	blockOf, blocksFrom = 8, 64
	// fewestBursts tell how uncertain a mean is where the cost changes from burst to burst.
	fewestBursts = 4
)

// whole is what all calls of some samples took together.
type whole struct {
	calls float64
	// totalNs is their time at the reference rate, without the clock's cost. It is the
	// sum of byClockNs, of samples that kept their CPU, and byCPUNs, of the others.
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

// callsNs is what the calls of a sample took, at the reference rate. Those of a core that
// had another rate are taken to have gone with it.
func (v inference) callsNs(x *Sample) float64 {
	run := v.speed.atReference(x, v.scaling)
	if x.Rejected == CoreSpeed {
		run = x.RunNs * math.Exp(v.speed.departure(x))
	}
	return run - v.overhead.clockNs
}

// rescaledNs is by how much the mean of samples would differ if time did not go with the
// core's rate, or the chains that showed another one were disturbed.
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

// disturbed draws what disturbances add to all of it, sorted.
func (w whole) disturbed(v inference, model disturbances) []float64 {
	var drawn []float64
	var one scenario
	for range scenarios {
		model.draw(v.rng, &one)
		drawn = append(drawn, one.switchNs*w.switches+one.lost(v.rng, w.byClockNs)+one.held*one.lost(v.rng, w.byCPUNs))
	}
	slices.Sort(drawn)
	return drawn
}

// parts of the samples, from the least on, whose means are held against what disturbances
// make of them. Rare long interruptions are in the last parts only, and what is in many
// samples shows best in those without them.
var parts = [8]float64{0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 1}

// partMeans are the means of the parts of sorted values.
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

// varies reports that some part of the samples took longer than the estimate of an
// undisturbed call and the disturbances explain: then the subject's own time varies, or
// something slows it that neither the kernel's counts nor the looks show.
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

// of is the inference from other samples, all of the same number of calls.
func (v inference) of(samples []*Sample) inference {
	v.n, v.used, v.runNs = samples[0].N, slices.Clone(samples), nil
	for _, x := range samples {
		v.runNs = append(v.runNs, v.speed.atReference(x, v.scaling))
	}
	slices.Sort(v.runNs)
	v.from, v.to = 0, len(samples)
	return v
}

// lessSharing takes off what sharing the core may have added: a long sample may have been
// shared in its middle only, which the probes at its ends don't see.
func (v inference) lessSharing(s env.Sharing, least stats.Estimate) inference {
	if s.Told() {
		for i, run := range v.runNs {
			v.runNs[i] = math.Max(math.Min(run, float64(v.n)*least.Value), run/(1+s.Costs))
		}
	}
	return v
}

// onTheWhole is what a call costs on the whole. varies says that this is more than the time of an
// undisturbed call.
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

// withRareCalls is the time of a fast call with an interval that reaches up to the mean, where a few
// long samples make the mean greater by more than disturbances usually do: calls that are slow now and
// then, or rare disturbances, may have made them long.
func (c *conclusion) withRareCalls(least, mean stats.Estimate) stats.Estimate {
	above := mean.Value - least.Value
	if above <= unexplainedShare*least.Value || above <= 2*least.HalfWidth() {
		return least
	}
	c.above = above / least.Value
	least.Hi = math.Max(least.Hi, least.Value+2*above) // as few long samples may be half of those to be expected
	return least
}

// meanError is how far the mean of the samples may be off, below and above, as so many
// samples differ by so much. slowNs is the mean's part that slow calls add. Where that
// rests on few of them, their number is taken for Poisson distributed: as many as k were
// seen where up to k + 2 + 1.96 sqrt(k+1) are to be expected.
func (v inference) meanError(samples []*Sample, meanNs, slowNs float64) (below, above float64) {
	departure := func(x *Sample) float64 { return v.callsNs(x) - float64(x.N)*meanNs }
	standardError := standardErrorOf(samples, departure)
	few := 1 + 1.5/float64(len(samples)-1) // Student's t beside the normal distribution
	below = math.Max(1.96*few*standardError, errorOfBursts(samples, departure))
	k := math.Max(leastSeen, math.Pow(slowNs/math.Max(standardError, 1e-9), 2))
	return below, below*math.Sqrt(1+1/k) + 2*standardError/math.Sqrt(k)
}

// standardErrorOf is that of the mean a call, by how the samples depart from it, one by one
// and in blocks. They are in the order in which they were taken.
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

// errorOfBursts is the half-width of the mean's interval by how bursts depart from it; 0 where there
// are fewer than fewestBursts.
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

// calls are the samples that a mean is taken of, in their order: the accepted ones of all the
// calls and of half of them, and those on a core of another rate. The rate changes in more
// of the slow calls than of the fast ones, so that without these the mean came out low.
func (c *conclusion) calls() []*Sample {
	var calls []*Sample
	for i := range c.Samples {
		if x := &c.Samples[i]; x.Rejected == "" || x.Rejected == CoreSpeed {
			calls = append(calls, x)
		}
	}
	return calls
}

// judgeWhole says where the value is not, or may not be, what a call costs on the whole.
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
		c.Lower(stats.Suspect, "a call takes %+.2g %% more in samples of %d calls than in those of %d: its cost depends on the time that passes between calls, or on what runs between samples, and nothing tells how it is called elsewhere", 100*by, c.Calls, c.surveys[0].N)
	}
	if bytes := c.allocatedBytes(); bytes*collectorNs > collectorShare*c.Estimate.Value {
		c.Lower(stats.Suspect, "each call allocates %.4g bytes, and what the garbage collector takes for them is not in the figure: collections are kept out of the samples; a benchmark that runs for long holds them", bytes)
	}
	if by := c.leftOutMoves(); math.Abs(by) > leftOutShare {
		c.Lower(stats.Suspect, "with the samples that were left out a call takes %+.2g %% more on the whole: they may be the slow ones", 100*by)
	}
}

// shortErrors is by how many standard errors two means have to differ.
const shortErrors = 3

// shortTake is by what share a call takes longer in samples of the usual length than in surveys, 0 where that may be
// chance. What is done anew after some time, such as a cache that expires, also becomes due between the samples.
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

// slowTimes is how many times as long as the fastest samples the slow ones take.
func (c *conclusion) slowTimes() float64 {
	var perCall []float64
	for _, x := range c.full {
		perCall = append(perCall, c.perCall(x))
	}
	slices.Sort(perCall)
	return stats.Quantile(perCall, slowRank) / perCall[0]
}

// leftOutMoves is by what share the mean is greater with the samples that were left out
// for what happened to them while they ran, by their CPU time at the reference rate: long
// calls are more often preempted and moved than short ones, and the core's rate changes in
// more of them.
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

// ownNs is the CPU time of a sample at the reference rate. The garbage is collected by other threads
// too: only a subject that asks for it has a collection in its samples ([Here]).
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

// allocatedBytes is what a call allocates.
func (c *conclusion) allocatedBytes() float64 {
	var bytes, calls float64
	for i := range c.Samples {
		bytes, calls = bytes+float64(c.Samples[i].Allocated), calls+float64(c.Samples[i].N)
	}
	return bytes / calls
}
