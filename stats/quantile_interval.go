package stats

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"
)

// QuantileInterval is the p-quantile of samples in ascending order, with an
// interval that holds whatever the distribution is: its bounds are two of the
// samples, chosen by the binomial distribution of the number of samples below
// the true quantile (David and Nagaraja, Order Statistics, 3rd ed., section
// 7.1). Each tail is at most half of 1 - [Confidence]; achieved is the
// confidence that results for a continuous distribution, always a little more
// than asked. Ties only make it greater still. The samples have to be
// independent.
//
// Where there are too few samples for both bounds the value stands, the bounds
// and achieved are NaN, and the error is a [TooFewError].
func QuantileInterval(sorted []float64, p float64, unit string) (e Estimate, achieved float64, err error) {
	if !(p > 0 && p < 1) {
		return Estimate{}, math.NaN(), fmt.Errorf("stats: no interval for quantile %v: choose one between 0 and 1, both excluded", p)
	}
	if err := checkFinite("sorted", sorted); err != nil {
		return Estimate{}, math.NaN(), err
	}
	n := len(sorted)
	e = Estimate{
		Value: Quantile(sorted, p), Lo: math.NaN(), Hi: math.NaN(),
		Unit: unit, Statistic: QuantileName(p), N: n,
	}
	lo, hi, achieved := boundingRanks(n, p)
	if lo < 1 || hi > n {
		need := max(n+1, samplesForQuantile(p))
		return e, math.NaN(), &TooFewError{Want: "a 95 % interval of the " + e.Statistic, Have: n, Need: need}
	}
	e.Lo, e.Hi = sorted[lo-1], sorted[hi-1]
	return e, achieved, nil
}

// MedianInterval is the median of samples in any order, with the interval of
// [QuantileInterval]. Its bounds are NaN where the samples are too few for one, or not
// all finite.
func MedianInterval(samples []float64, unit string) Estimate {
	e, _, err := QuantileInterval(slices.Sorted(slices.Values(samples)), 0.5, unit)
	if err != nil {
		e = Estimate{Value: Median(samples), Lo: math.NaN(), Hi: math.NaN(), Unit: unit, Statistic: QuantileName(0.5), N: len(samples)}
	}
	return e
}

// MedianOrRange is [MedianInterval]; samples that are too few for an interval have their range
// instead, which holds less often. A single one has none.
func MedianOrRange(samples []float64, unit string) Estimate {
	e := MedianInterval(samples, unit)
	if math.IsNaN(e.Lo) && len(samples) > 1 {
		e.Lo, e.Hi = slices.Min(samples), slices.Max(samples)
	}
	return e
}

// MedianBounds bounds the median by two of the samples, which may be in any order. The chance that
// the median is below lo is at most `chance`, and so is the chance that it is above hi, for any
// distribution (David and Nagaraja, as [QuantileInterval]). They are NaN if the samples are too few:
// [SamplesForMedian] says how many are needed.
func MedianBounds(samples []float64, chance float64) (lo, hi float64) {
	rank := lowestRank(len(samples), chance)
	if rank < 1 {
		return math.NaN(), math.NaN()
	}
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[rank-1], sorted[len(sorted)-rank]
}

// SamplesForMedian is how many samples [MedianBounds] takes at that chance, so that its
// bounds leave strays samples to either side.
func SamplesForMedian(chance float64, strays int) int {
	n := 1
	for lowestRank(n, chance) <= strays {
		n++
	}
	return n
}

// lowestRank is the rank, counted from 1, of the greatest of n samples that lies above the
// median with at most that chance; 0 where there is none.
func lowestRank(n int, chance float64) int {
	below := distuv.Binomial{N: float64(n), P: 0.5}
	return sort.Search(n, func(k int) bool { return below.CDF(float64(k)) > chance })
}

// QuantileName is "median", or "p" with the percentage: "p99", "p99.9".
func QuantileName(p float64) string {
	if p == 0.5 {
		return "median"
	}
	return "p" + strconv.FormatFloat(100*p, 'g', 6, 64)
}

// tail is the chance left to either side of an interval.
const tail = (1 - Confidence) / 2

// samplesForQuantile is the least n whose smallest and largest sample bound the
// p-quantile: all n samples fall on one side of it with a chance of p^n or
// (1-p)^n.
func samplesForQuantile(p float64) int {
	return int(math.Ceil(math.Log(tail) / math.Log(math.Max(p, 1-p))))
}

// boundingRanks are the ranks, counted from 1, of the two samples among n that
// bound the p-quantile, and the confidence they do it with. Sample lo lies
// above the quantile when fewer than lo samples lie below it; sample hi lies
// below it when hi or more do. Where the samples are too few, lo is 0 or hi is
// n+1.
func boundingRanks(n int, p float64) (lo, hi int, achieved float64) {
	below := distuv.Binomial{N: float64(n), P: p}
	atMost := func(k int) float64 { return below.CDF(float64(k)) }
	lo = sort.Search(n, func(k int) bool { return atMost(k) > tail })
	hi = 1 + sort.Search(n, func(k int) bool { return atMost(k) >= 1-tail })
	return lo, hi, atMost(hi-1) - atMost(lo-1)
}

// QuantileShares are the shares of n samples up to the two that bound the p-quantile as
// [QuantileInterval] says; ok is false where the samples are too few.
func QuantileShares(n, p float64) (lo, hi float64, ok bool) {
	n = math.Min(math.Floor(n), 1<<40)
	first, last, _ := boundingRanks(int(n), p)
	return float64(first) / n, float64(last) / n, first >= 1 && float64(last) <= n
}
