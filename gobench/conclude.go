package gobench

import (
	"math"

	"chronoscope/env"
	"chronoscope/stats"
)

// Limits of what is worth a word.
const (
	// untimedShare of the time that passes outside of the benchmark's timer is worth a word;
	// mostlyUntimed is such a share that little is left to be timed.
	untimedShare, mostlyUntimed = 0.02, 0.5
)

// Conclude says what the repetitions of a benchmark show.
func Conclude(s *Series, plan Plan, setting Setting) *Result {
	unknown := stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), Unit: "ns", Statistic: "median"}
	r := &Result{
		Benchmark: s.Benchmark, Repetitions: s.Repetitions, Judgement: stats.NewJudgement(),
		Summary: Summary{Estimate: unknown, Wall: unknown, CPU: unknown, Cycles: unknown, Iterations: s.many, Calls: s.calls},
	}
	r.Cycles.Unit = "cycles"
	if s.Failure != nil {
		r.Lower(stats.Unusable, "%s", s.Failure.reason())
	}
	if len(s.Repetitions) == 0 {
		if s.Failure == nil {
			r.Lower(stats.Unusable, "it was not measured: the measurement ended before its first repetition")
		}
		return r
	}
	k := kindOf(s, setting.CPUs, nil)
	if r.Rejections = standstills(k, s.Repetitions); len(r.Rejections) > 0 {
		k = kindOf(s, setting.CPUs, r.Rejections)
	}
	stoodStill, sharing := len(r.Rejections), sharingOf(k, plan, setting)
	if shared := sharedRepetitions(k); sharing.Told() && len(k.used)-len(shared) >= fewestApart {
		r.Rejections = append(r.Rejections, shared...)
		k = kindOf(s, setting.CPUs, r.Rejections)
	}
	r.Rejected, r.Procs = len(r.Rejections), s.Repetitions[0].Many.Procs
	r.WaitShare, r.Runnable, r.Basis, r.Metrics = stats.FloatOf(k.waitShare), stats.FloatOf(k.runnable), k.basis(), metricsOf(k.used)
	r.Wall = notNegative(stats.MedianOrRange(each(k.used, func(rep Repetition) float64 { return rep.perIteration(timedNs) }), "ns"))
	r.CPU = notNegative(stats.MedianOrRange(each(k.used, func(rep Repetition) float64 { return rep.perIteration(cpuNs) }), "ns"))
	r.timed = timesOf(k, r.Basis, disturbanceOf(k, r.Basis, setting))
	r.Estimate, r.Times, r.Corrected = r.timed.estimate, r.timed.middles(r.Basis), correctedOf(k, r.Basis)
	r.Estimate.Discarded = len(s.Repetitions) - len(k.used)
	if k.alone {
		r.Cycles = cyclesOf(r.Estimate, setting.CoreHz)
	}
	c := conclusion{Result: r, kind: k, series: s, plan: plan, setting: setting, sharing: sharing, stoodStill: stoodStill, neighbours: neighboursOf(k, r.Times)}
	c.judge()
	if math.IsNaN(r.Estimate.Value) {
		r.Basis = "" // of a time that is not known
	}
	return r
}

// conclusion is a result that is being judged.
type conclusion struct {
	*Result
	kind
	series  *Series
	plan    Plan
	setting Setting
	sharing env.Sharing
	// neighbours are programs on other CPUs.
	neighbours stats.Exposure
	// stoodStill is how many repetitions were left out because a run stood still.
	stoodStill int
}

// times are those of the repetitions, without what disturbed them.
type times struct {
	kind       kind
	on         map[Basis][]bounds // of each repetition that counts, by what its time may rest on
	raw        map[Basis][]bounds // with what interrupted them: pairs of repetitions are compared by these
	roundingNs float64            // by which all may be off as they were printed rounded
	apart      float64            // by which share the bounds usually lie apart
	estimate   stats.Estimate
}

// timesOf bounds the time of each repetition from below and above, and takes the medians. Each repetition
// is corrected by what it was interrupted itself: then the value, the median of the usual corrections, lies
// between the medians of the largest and of the smallest ones.
func timesOf(k kind, basis Basis, d disturbance) times {
	t := times{kind: k, on: map[Basis][]bounds{}, raw: map[Basis][]bounds{}}
	for _, basis := range []Basis{Timer, CPUTime, Bounds} {
		for _, rep := range k.used {
			b := k.boundsOn(basis, rep)
			t.raw[basis] = append(t.raw[basis], b)
			t.on[basis] = append(t.on[basis], bounds{b.lo - d.usualNs(b.lo, rep), b.hi - d.usualNs(b.hi, rep)})
		}
	}
	var low, high, least, most []float64
	for i, b := range t.raw[basis] {
		low, high = append(low, b.lo), append(high, b.hi)
		least, most = append(least, b.lo-d.mostNs(b.lo, k.used[i])), append(most, b.hi-d.leastNs(b.hi, k.used[i]))
	}
	if basis != CPUTime {
		t.roundingNs = k.typical(Repetition.roundingNs)
	}
	t.apart = (stats.Median(high) - stats.Median(low)) / ((stats.Median(high) + stats.Median(low)) / 2)
	t.estimate = notNegative(stats.Estimate{
		Value: stats.Median(t.middles(basis)), Lo: stats.MedianOrRange(least, "").Lo - t.roundingNs, Hi: stats.MedianOrRange(most, "").Hi + t.roundingNs,
		Unit: "ns", Statistic: "median", N: len(k.used),
	})
	return t
}

// middles are the times of the repetitions.
func (t times) middles(basis Basis) (all []float64) {
	for _, b := range t.on[basis] {
		all = append(all, (b.lo+b.hi)/2)
	}
	return all
}

// correctedOf counts the repetitions that were corrected for waiting.
func correctedOf(k kind, basis Basis) (n int) {
	for _, rep := range k.used {
		if basis == Bounds || !k.undelayed && k.waitedNs(rep) > 0 {
			n++
		}
	}
	return n
}

// notNegative is an estimate of a time. A difference of two runs may be below 0 where chance
// is larger than what they differ by: then the value is not known.
func notNegative(e stats.Estimate) stats.Estimate {
	if e.Value <= 0 {
		e.Value = math.NaN()
	}
	if e.Hi <= 0 {
		e.Lo, e.Hi = math.NaN(), math.NaN()
	}
	if e.Lo < 0 {
		e.Lo = 0
	}
	return e
}

// cyclesOf are those that a core makes in a time; NaN where its rate is not known.
func cyclesOf(e, hz stats.Estimate) stats.Estimate {
	if !(hz.Value > 0) {
		hz.Value, hz.Lo, hz.Hi = math.NaN(), math.NaN(), math.NaN()
	}
	e.Value, e.Lo, e.Hi, e.Unit = e.Value*hz.Value/1e9, e.Lo*hz.Lo/1e9, e.Hi*hz.Hi/1e9, "cycles"
	return e
}
