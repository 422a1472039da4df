package timermeter

import (
	"cmp"
	"math"

	"chronoscope/clock"
	"chronoscope/clock/check"
	"chronoscope/stats"
)

// rating computes the rating from what was gathered about a clock.
func (s *subject) rating(coreHz float64) Rating {
	a := s.accuracy
	if s.slow {
		a = s.sampler.Accuracy()
	}
	r := described(s.Clock)
	r.Judgement, r.Accuracy = a.Judgement, a.Units.Scaled(s.Subject.UnitNs, "ns")
	r.Cost, r.Spread = s.cost.Cost(), stats.FloatOf(s.cost.Spread())
	r.Accuracy.Lo *= 1 - s.Subject.UnitError
	r.Accuracy.Hi *= 1 + s.Subject.UnitError
	if s.Clock.UnitNs == 0 {
		r.UnitNs = stats.FloatOf(s.Subject.UnitNs)
	}
	cyclesPerNs := coreHz / 1e9
	r.Cycles.Accuracy = stats.FloatOf(math.Max(1, r.Accuracy.Value*cyclesPerNs))
	r.Cycles.Cost = stats.FloatOf(math.Max(1, r.Cost.MedianNs.Value()*cyclesPerNs))
	r.judgeCost(s.cost)
	r.judgeOrder(s)
	r.judgeThreads(s)
	r.judgeRate(s)
	r.judgeWitness(s)
	r.Quality, r.notHanded = stats.FloatOf(r.quality()), s.notHanded
	r.LeastDisturbed = r.leastDisturbed(s.cost.rounds(), cyclesPerNs)
	return r
}

// quality returns the quality for the median cost and the spread.
func (r *Rating) quality() float64 { return r.qualityOf(r.Cycles.Cost.Value(), r.Spread.Value()) }

// worth returns the quality; or, if it is not known since the core's rate is not, the quality on a
// core of assumedGHz. The order of clocks hardly depends on the rate, which is a factor of all their
// qualities, except where a value is less than a cycle. It is NaN if a part of the quality is not
// known.
func (r *Rating) worth() float64 {
	if r.Quality.Known() || r.Cycles.Cost.Known() {
		return r.Quality.Value()
	}
	assumed := *r
	assumed.Cycles.Accuracy = stats.FloatOf(assumedGHz * r.Accuracy.Value)
	return assumed.qualityOf(assumedGHz*r.Cost.MedianNs.Value(), r.Spread.Value())
}

// assumedGHz is the rate of a usual core.
const assumedGHz = 3

// qualityOf returns the quality by Formula (1), or the 0 that section 4.4 reserves.
func (r *Rating) qualityOf(costCycles, spread float64) float64 {
	for _, property := range []*bool{r.Monotonic, r.ThreadSafe, r.Stable} {
		if property != nil && !*property {
			return 0
		}
	}
	return Quality(r.Cycles.Accuracy.Value(), costCycles, spread)
}

// judgeCost adds a reason if calls could only be timed roughly.
func (r *Rating) judgeCost(c *CostSampler) {
	if steps := c.stepsOfBatch(r.Cost.MedianNs.Value()); !(steps >= fewBatchSteps) {
		r.Lower(stats.Suspect, "its calls could only be timed in batches of %d, which take %.2g steps of the clock that times them", c.meter.batch, steps)
	}
}

// judgeOrder judges whether the readings of one thread ever stepped back. It adds no reason if the
// judgement of the accuracy already has it.
func (r *Rating) judgeOrder(s *subject) {
	r.Monotonic = answer(s.order.Count == 0)
	if s.order.Count > 0 && check.Order(s.sampler.taken).Count == 0 {
		r.Lower(stats.Unusable, "%d of %d readings step back, by up to %s",
			s.order.Count, s.order.Readings, stats.Duration(float64(s.order.Worst)*s.Subject.UnitNs, 4))
	}
}

// judgeThreads judges whether readings stepped back from thread to thread.
func (r *Rating) judgeThreads(s *subject) {
	if s.threads.Count == 0 && s.threads.Readings < fewestHandovers {
		return
	}
	r.ThreadSafe = answer(s.threads.Count == 0)
	if s.threads.Count > 0 {
		between := "from one thread to the next"
		if s.Clock.Scope == clock.ScopeThread {
			between = "within a thread, while others read"
		}
		r.Lower(stats.Unusable, "%d of %d readings step back %s, by up to %s",
			s.threads.Count, s.threads.Readings, between, stats.Duration(float64(s.threads.Worst)*s.Subject.UnitNs, 4))
	}
}

// judgeRate judges whether the clock kept its rate and did not step. It does not judge a clock that
// is too coarse for its rate to be known as well as the limits require: on a busy machine the kernel
// updates such a clock late.
func (r *Rating) judgeRate(s *subject) {
	pairs := check.Pairs(s.pairs, s.ReferenceTickNs, s.Subject.UnitNs, r.Accuracy.Value)
	rate := check.KeepsRate(pairs)
	if math.IsNaN(rate.Ratio) || !(rate.Resolution < clock.SlewLimit) {
		return
	}
	tolerance := clock.SlewLimit + rate.Resolution
	if s.Clock.Kind == clock.KindCPU {
		r.judgeCPURate(rate, tolerance)
		return
	}
	steps, worst := check.Steps(pairs, clock.SlewLimit+math.Abs(rate.Ratio-1))
	r.Stable = answer(rate.WorstDeviation <= tolerance && steps == 0)
	switch {
	case steps > 0 && steps <= fewSteps:
		r.Lower(stats.Unusable, "it stepped by %s or more while it was watched", stats.Duration(worst, 4))
	case !*r.Stable:
		r.Lower(stats.Unusable, "its rate changed by %.3g %% while it was watched", 100*rate.WorstDeviation)
	}
	if off := math.Abs(rate.Ratio - 1); off > tolerance {
		r.Lower(stats.Suspect, "it runs at %.6g times the rate of the reference", rate.Ratio)
	}
}

// judgeCPURate only judges whether CPU time passes faster than real time. How much slower it passes
// depends on the scheduler.
func (r *Rating) judgeCPURate(rate check.Rate, tolerance float64) {
	if r.Scope != clock.ScopeThread {
		return
	}
	r.Stable = answer(rate.Ratio*(1+rate.WorstDeviation) <= 1+2*tolerance || rate.Ratio <= 1+tolerance)
	if !*r.Stable {
		r.Lower(stats.Unusable, "a thread's CPU time passed %.4g times as fast as time", rate.Ratio)
	}
}

func answer(yes bool) *bool { return &yes }

// ByQuality orders ratings from best to worst quality; ratings without one come last. If the
// core's rate is not known, it orders them by the quality on a usual core.
func ByQuality(a, b Rating) int {
	return cmp.Compare(stats.FloatOf(b.worth()).Or(-1), stats.FloatOf(a.worth()).Or(-1))
}
