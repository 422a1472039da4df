package meter

import (
	"fmt"
	"math"
	"sort"

	"chronoscope/stats"
)

// sampled are the calls of a part: with one clock, and one share of them timed.
type sampled struct {
	histogram    Histogram
	calls, timed float64
	// belowNs and aboveNs are how much less and more than was taken off the clocks may have taken.
	belowNs, aboveNs float64
}

// population are calls of which some were timed, chosen at random: a stratified sample (Cochran,
// Sampling Techniques, 3rd ed., chapter 5).
type population []sampled

// tails are the percentiles of the calls that were made, nil where none was timed.
//
// They are those of all calls, whether or not they were timed. Which were timed was decided at random
// for each call, so that the intervals hold however calls depend on one another. The larger the share that was
// timed, the narrower they are; where all calls were, only the width of a bucket is left, and what is not
// known of the clocks. With calls like these that are still to come it has nothing to do.
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
		of := float64(p.Tails.Calls.Count()) // calls may be timed from Start alone
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

// quantile is the p-quantile with its interval, or the reason why there is none.
//
// Bounds are the quantiles at two other shares (Woodruff, "Confidence intervals for medians and other
// position measures", JASA 47, 1952): those of the order statistics that bound the p-quantile of as
// many independent calls as tell as much as these.
func (all population) quantile(p float64) (e stats.Estimate, reason string) {
	e = stats.NoEstimate("ns", stats.QuantileName(p))
	lo, hi, ok := p, p, true
	if n := all.effective(p); !math.IsInf(n, 1) {
		lo, hi, ok = stats.QuantileShares(n, p)
	}
	if !ok {
		return e, fmt.Sprintf("%s takes more calls that are timed", stats.PercentileName(e.Statistic))
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

// share is which share of the calls is in buckets up to that one.
func (all population) share(key int) float64 {
	var below, calls float64
	for _, s := range all {
		below += s.calls * s.histogram.below(key) / s.timed
		calls += s.calls
	}
	return below / calls
}

// bucket is the first one, from its lower bound to its upper, up to which that share of the calls
// lies.
func (all population) bucket(share float64) (fromNs, toNs float64) {
	const rounding = 1e-12
	key := firstBucketKey + sort.Search(sketchBuckets-1, func(i int) bool { return all.share(firstBucketKey+i) >= share-rounding })
	if key == firstBucketKey {
		return 0, boundNs(key)
	}
	return boundNs(key - 1), boundNs(key)
}

// effective is how many independent calls would tell as much of the p-quantile: without limit where
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
		each := p * (1 - p) // at least, since few calls of a part may all lie below by chance
		if len(all) > 1 {
			each = math.Max(each, below*(1-below))
		}
		variance += weight * weight * each / s.timed * math.Max(0, 1-s.timed/s.calls)
	}
	return p * (1 - p) / variance
}
