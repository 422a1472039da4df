package gobench

import (
	"math"
	"slices"

	"chronoscope/env"
	"chronoscope/stats"
)

// Limits of the time outside of the benchmark's timer, as shares of the whole time, above which the verdict may
// be lowered.
const (
	// Above untimedShare, how the CPU time divides between the timed part and the rest matters. Above
	// mostlyUntimed, the timed part is too short to be timed reliably.
	untimedShare, mostlyUntimed = 0.02, 0.5
)

// Conclude returns what the repetitions of a benchmark show.
func Conclude(s *Series, plan Plan, setting Setting) *Result {
	r := conclude(s, plan, setting)
	if k := r.timed.kind; k.mayBlock && !math.IsNaN(k.othersAround) {
		apart := *s
		apart.Repetitions = slices.Clone(s.Repetitions)
		for i := range apart.Repetitions {
			apart.Repetitions[i].Few.Around, apart.Repetitions[i].Many.Around = Around{}, Around{}
		}
		r.paired = conclude(&apart, plan, setting)
	}
	return r
}

func conclude(s *Series, plan Plan, setting Setting) *Result {
	unknown := stats.NoEstimate("ns", "median")
	r := &Result{
		Benchmark: s.Benchmark, Repetitions: s.Repetitions, Duets: s.Duets, NoDuets: s.NoDuets, Judgement: stats.NewJudgement(),
		Summary: Summary{Estimate: unknown, Wall: unknown, CPU: unknown, Cycles: unknown, Iterations: s.many, Calls: s.calls},
	}
	r.Cycles.Unit = "cycles"
	if r.Failed = s.Failure != nil; r.Failed {
		r.Lower(stats.Unusable, "%s", s.Failure.reason())
	}
	if len(s.Repetitions) == 0 {
		if s.Failure == nil {
			r.Lower(stats.Unusable, "it was not measured: the measurement ended before its first repetition")
		}
		return r
	}
	k := kindOf(s, setting.CPUs, nil)
	r.whole = k
	if r.Rejections, r.standstillsTold = standstills(k, s.Repetitions); len(r.Rejections) > 0 {
		k = kindOf(s, setting.CPUs, r.Rejections)
	}
	stoodStill, sharing := len(r.Rejections), sharingOf(k, plan, setting)
	shared := sharedRepetitions(k)
	leftOut := sharing.Told() && len(k.used)-len(shared) >= fewestApart
	if r.moving = k; leftOut {
		r.leftShared = true
		r.Rejections = append(r.Rejections, shared...)
		k = kindOf(s, setting.CPUs, r.Rejections)
	}
	r.Rejected, r.Procs = len(r.Rejections), s.Repetitions[0].Many.Procs
	r.WaitShare, r.Runnable, r.Basis, r.Metrics = stats.FloatOf(k.waitShare), stats.FloatOf(k.runnable), k.basis(), metricsOf(k.used)
	r.Wall = notNegative(stats.MedianOrRange(each(k.used, func(rep Repetition) float64 { return rep.perIteration(timedNs) }), "ns"))
	r.CPU = notNegative(stats.MedianOrRange(each(k.used, func(rep Repetition) float64 { return rep.perIteration(cpuNs) }), "ns"))
	r.timed = timesOf(k, r.Basis, disturbanceOf(k, r.Basis, setting))
	r.Estimate, r.Times, r.Corrected = r.timed.estimate, r.timed.middles(r.Basis), correctedOf(k, r.Basis)
	r.Estimate.Lo /= 1 + sharing.Most(leftOut)
	r.Estimate.Discarded = len(s.Repetitions) - len(k.used)
	if k.alone {
		r.Cycles = cyclesOf(r.Estimate, setting.CoreHz)
	}
	c := conclusion{Result: r, kind: k, series: s, plan: plan, setting: setting, sharing: sharing, stoodStill: stoodStill, neighbours: neighboursOf(k, r.Times)}
	r.lateRuns, r.lateCostBy = s.late, c.lateCost
	c.judge()
	if math.IsNaN(r.Estimate.Value) {
		r.Basis = "" // no time is known
	}
	return r
}

// conclusion is a result while it is being judged.
type conclusion struct {
	*Result
	kind
	series  *Series
	plan    Plan
	setting Setting
	sharing env.Sharing
	// neighbours is what programs on other CPUs may have added.
	neighbours stats.Exposure
	// stoodStill is how many repetitions were left out because a run stood still.
	stoodStill int
}

// times are the times of the repetitions, with what disturbed them removed.
type times struct {
	kind       kind
	on         map[Basis][]bounds // of each used repetition, by basis
	roundingNs float64            // the error of all times from the rounding of printed figures
	estimate   stats.Estimate
}

// timesOf bounds the time of each repetition from below and above, and takes the medians. Each repetition is
// corrected for its own interruptions. The value is the median with usual corrections. It lies between the
// medians with the largest and with the smallest corrections.
func timesOf(k kind, basis Basis, d disturbance) times {
	t := times{kind: k, on: map[Basis][]bounds{}}
	for _, basis := range []Basis{Timer, CPUTime, Bounds} {
		for _, rep := range k.used {
			b := k.boundsOn(basis, rep)
			t.on[basis] = append(t.on[basis], bounds{b.lo - d.usualNs(b.lo, rep), b.hi - d.usualNs(b.hi, rep)})
		}
	}
	var least, most []float64
	for _, rep := range k.used {
		b := k.boundsOn(basis, rep)
		least, most = append(least, b.lo-d.mostNs(b.lo, rep)), append(most, b.hi-d.leastNs(b.hi, rep))
	}
	if basis != CPUTime {
		t.roundingNs = k.typical(Repetition.roundingNs)
	}
	t.estimate = notNegative(stats.Estimate{
		Value: stats.Median(t.middles(basis)), Lo: stats.MedianOrRange(least, "").Lo - t.roundingNs, Hi: stats.MedianOrRange(most, "").Hi + t.roundingNs,
		Unit: "ns", Statistic: "median", N: len(k.used),
	})
	return t
}

// middles returns the middle of each repetition's bounds.
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

// notNegative returns the estimate of a time without values below 0. A difference of two runs may be below 0 if
// chance is larger than their true difference: then the value is unknown.
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

// cyclesOf returns the cycles that a core makes in a time; NaN if its rate is unknown.
func cyclesOf(e, hz stats.Estimate) stats.Estimate {
	if !(hz.Value > 0) {
		hz.Value, hz.Lo, hz.Hi = math.NaN(), math.NaN(), math.NaN()
	}
	e.Value, e.Lo, e.Hi, e.Unit = e.Value*hz.Value/1e9, e.Lo*hz.Lo/1e9, e.Hi*hz.Hi/1e9, "cycles"
	return e
}
