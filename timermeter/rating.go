package timermeter

import (
	"cmp"
	"fmt"
	"math"

	"chronoscope/clock"
	"chronoscope/clock/check"
	"chronoscope/stats"
)

// rating joins what was gathered of a clock.
func (s *subject) rating(coreHz float64) Rating {
	a := s.accuracy
	if s.slow {
		a = s.sampler.Accuracy()
	}
	r := Rating{
		Clock: s.Clock, Judgement: a.Judgement,
		Accuracy: a.Units.Scaled(s.Subject.UnitNs, "ns"),
		Cost:     s.cost.Cost(),
	}
	r.Clock.UnitNs = s.Subject.UnitNs
	cyclesPerNs := coreHz / 1e9
	r.AccuracyCycles = math.Max(1, r.Accuracy.Value*cyclesPerNs)
	r.CostCycles = math.Max(1, r.Cost.MedianNs*cyclesPerNs)
	r.judgeOrder(s)
	r.judgeThreads(s)
	r.judgeRate(s)
	r.Quality = r.quality()
	return r
}

// quality is by Formula (1), with the 0 that section 4.4 reserves.
func (r *Rating) quality() float64 {
	for _, property := range []*bool{r.Monotonic, r.ThreadSafe, r.Stable} {
		if property != nil && !*property {
			return 0
		}
	}
	return Quality(r.AccuracyCycles, r.CostCycles, r.Cost.Spread)
}

// judgeOrder says whether the readings of one thread ever stepped back. The
// reason for a step back stands in the judgement of the accuracy.
func (r *Rating) judgeOrder(s *subject) {
	r.Monotonic = answer(check.Order(s.sampler.taken).Count == 0)
}

// judgeThreads says whether readings stepped back from thread to thread.
func (r *Rating) judgeThreads(s *subject) {
	if s.HandOver == nil || s.noHand != nil || len(s.handed) < 2 {
		return
	}
	look, between := check.AcrossThreads, "from one thread to the next"
	if s.Clock.Scope == clock.ScopeThread {
		look, between = check.WithinThreads, "within a thread, while others read"
	}
	b := look(s.handed)
	r.ThreadSafe = answer(b.Count == 0)
	if b.Count > 0 {
		r.Lower(stats.Unusable, "%d of %d readings step back %s, by up to %s",
			b.Count, b.Readings, between, duration(float64(b.Worst)*s.Subject.UnitNs))
	}
}

// judgeRate says whether the clock kept its rate.
func (r *Rating) judgeRate(s *subject) {
	var pairs []check.Pair
	var sandwich float64
	for _, p := range s.pairs {
		pairs = append(pairs, check.Pair{
			ReferenceNs: (p.BeforeNs + p.AfterNs) / 2,
			ClockNs:     float64(p.Ticks-s.pairs[0].Ticks) * s.Subject.UnitNs,
		})
		sandwich = math.Max(sandwich, (p.AfterNs-p.BeforeNs)/2)
	}
	rate := check.KeepsRate(pairs, r.Accuracy.Value+sandwich)
	tolerance := driftLimit + rate.Resolution
	if math.IsNaN(rate.Ratio) || !(tolerance < 0.1) {
		return // too few pairs, or the clock too coarse, to tell
	}
	if s.Clock.Kind == clock.KindCPU {
		r.judgeCPURate(rate, tolerance)
		return
	}
	r.Stable = answer(rate.WorstDeviation <= tolerance)
	if !*r.Stable {
		r.Lower(stats.Unusable, "its rate changed by %.3g %% while it was watched", 100*rate.WorstDeviation)
	}
	if off := math.Abs(rate.Ratio - 1); off > tolerance {
		r.Lower(stats.Suspect, "it runs at %.6g times the rate of the reference", rate.Ratio)
	}
}

// judgeCPURate can only say that CPU time does not pass faster than time: how
// much slower is the scheduler's business.
func (r *Rating) judgeCPURate(rate check.Rate, tolerance float64) {
	if r.Clock.Scope != clock.ScopeThread {
		return
	}
	r.Stable = answer(rate.Ratio*(1+rate.WorstDeviation) <= 1+2*tolerance || rate.Ratio <= 1+tolerance)
	if !*r.Stable {
		r.Lower(stats.Unusable, "a thread's CPU time passed %.4g times as fast as time", rate.Ratio)
	}
}

func answer(yes bool) *bool { return &yes }

// ByQuality orders ratings from best to worst quality; what has none comes
// last.
func ByQuality(a, b Rating) int { return cmp.Compare(orLeast(b.Quality), orLeast(a.Quality)) }

// orLeast puts a quality that is not known below all that are.
func orLeast(quality float64) float64 {
	if math.IsNaN(quality) {
		return -1
	}
	return quality
}

// duration writes nanoseconds with a unit that suits them.
func duration(ns float64) string {
	switch abs := math.Abs(ns); {
	case abs < 1e3:
		return fmt.Sprintf("%.4g ns", ns)
	case abs < 1e6:
		return fmt.Sprintf("%.4g µs", ns/1e3)
	case abs < 1e9:
		return fmt.Sprintf("%.4g ms", ns/1e6)
	}
	return fmt.Sprintf("%.4g s", ns/1e9)
}
