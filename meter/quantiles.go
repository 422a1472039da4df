package meter

import (
	"fmt"
	"math"
	"sort"

	"chronoscope/stats"
)

// sampled holds the counts of one part of a snapshot: calls of one clock with one probability of being
// timed.
type sampled struct {
	histogram    Histogram
	calls, timed float64
	// Because of the cost and the step of the clocks, a call may have been shorter by belowNs or longer
	// by aboveNs.
	belowNs, aboveNs float64
}

// population is a stratified sample of calls: in each part some calls, chosen at random, were timed
// (Cochran, Sampling Techniques, 3rd ed., chapter 5).
type population []sampled

// tails returns the percentiles of the calls that were made; nil if none was timed.
//
// They are the percentiles of all calls, timed or not. For each call it was decided at random whether to time
// it, so that the intervals hold however calls depend on one another. The larger the share of timed calls, the
// narrower the intervals; if all were timed, only the width of a bucket and the uncertainty of the clocks are
// left. They say nothing about future calls.
func (s Snapshot) tails(of func(*TailCounts) Histogram) *stats.Tails {
	var all population
	timed, worst := 0.0, 0.0
	for _, p := range s.Parts {
		if p.Tails == nil {
			continue
		}
		one := sampled{histogram: of(p.Tails), calls: float64(p.Calls)}
		one.timed = float64(one.histogram.Count())
		if one.timed == 0 {
			continue
		}
		of := float64(p.Tails.Calls.Count()) // all timed calls; fewer may have an intended time
		one.calls *= one.timed / of
		one.belowNs, one.aboveNs = p.Tails.CostAboveNs/of+p.Tails.StepNs, p.Tails.CostBelowNs/of+p.Tails.StepNs
		timed, worst = timed+one.timed, math.Max(worst, one.histogram.WorstNs)
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil
	}
	t := &stats.Tails{N: saturatedInt(uint64(timed)), WorstNs: stats.FloatOf(worst), Reasons: []string{}}
	for _, p := range stats.TailPercentiles {
		e, reason := all.quantile(p)
		if reason != "" {
			t.Reasons = append(t.Reasons, reason)
		}
		e.N, e.Discarded = t.N, 0
		t.Percentiles = append(t.Percentiles, e)
	}
	return t
}

// quantile returns the p-quantile with its interval, or the reason why it has none.
//
// The bounds are quantiles at two other shares (Woodruff, "Confidence intervals for medians and other
// position measures", JASA 47, 1952): those of the order statistics that bound the p-quantile of
// [population.effective] independent calls.
func (all population) quantile(p float64) (e stats.Estimate, reason string) {
	e = stats.NoEstimate("ns", stats.QuantileName(p))
	lo, hi, ok := p, p, true
	if n := all.effective(p); !math.IsInf(n, 1) {
		lo, hi, ok = stats.QuantileShares(n, p)
	}
	if !ok {
		return e, fmt.Sprintf("%s needs more timed calls", stats.PercentileName(e.Statistic))
	}
	below, _ := all.bucket(lo)
	_, above := all.bucket(hi)
	var belowNs, aboveNs float64
	for _, s := range all {
		belowNs, aboveNs = math.Max(belowNs, s.belowNs), math.Max(aboveNs, s.aboveNs)
	}
	e.Lo, e.Hi = math.Max(0, below-belowNs), above+aboveNs
	from, to := all.bucket(p)
	e.Value = (from + to) / 2
	return e, ""
}

// share returns the share of the calls in the buckets up to key, included.
func (all population) share(key int) float64 {
	var below, calls float64
	for _, s := range all {
		below += s.calls * s.histogram.below(key) / s.timed
		calls += s.calls
	}
	return below / calls
}

// bucket returns the bounds of the first bucket up to which at least this share of the calls lies.
func (all population) bucket(share float64) (fromNs, toNs float64) {
	const rounding = 1e-12
	key := firstBucketKey + sort.Search(sketchBuckets-1, func(i int) bool { return all.share(firstBucketKey+i) >= share-rounding })
	if key == firstBucketKey {
		return 0, boundNs(key)
	}
	return boundNs(key - 1), boundNs(key)
}

// effective returns the number of independent calls that would tell as much about the p-quantile; infinite if
// all calls were timed.
func (all population) effective(p float64) float64 {
	var calls float64
	for _, s := range all {
		calls += s.calls
	}
	_, to := all.bucket(p)
	key := int(math.Round(perPowerOfTwo * math.Log2(to*1e-9)))
	var variance float64
	for _, s := range all {
		weight, below := s.calls/calls, s.histogram.below(key)/s.timed
		each := p * (1 - p) // at least, since the few timed calls of a part may all lie below by chance
		if len(all) > 1 {
			each = math.Max(each, below*(1-below))
		}
		variance += weight * weight * each / s.timed * math.Max(0, 1-s.timed/s.calls)
	}
	return p * (1 - p) / variance
}
