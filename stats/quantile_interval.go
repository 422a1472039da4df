package stats

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"
)

// QuantileInterval returns the p-quantile of samples in ascending order, with an interval that holds
// for any distribution. Its bounds are two of the samples, chosen by the binomial distribution of the
// number of samples below the true quantile (David and Nagaraja, Order Statistics, 3rd ed., section
// 7.1). Each tail has a probability of at most half of 1 - [Confidence]. achieved is the resulting
// confidence for a continuous distribution, always slightly more than [Confidence]; ties only make it
// greater. The samples have to be independent.
//
// If there are too few samples for both bounds, the value is given, the bounds and achieved are NaN, and
// the error is a [TooFewError].
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

// MedianInterval returns the median of samples in any order, with the interval of [QuantileInterval]. Its
// bounds are NaN if there are too few samples for an interval, or if not all are finite.
func MedianInterval(samples []float64, unit string) Estimate {
	e, _, err := QuantileInterval(slices.Sorted(slices.Values(samples)), 0.5, unit)
	if err != nil {
		e = Estimate{Value: Median(samples), Lo: math.NaN(), Hi: math.NaN(), Unit: unit, Statistic: QuantileName(0.5), N: len(samples)}
	}
	return e
}

// MedianOrRange returns the result of [MedianInterval]. If there are too few samples for an interval, the
// bounds are the range of the samples, which holds the truth less often. A single sample has no bounds.
func MedianOrRange(samples []float64, unit string) Estimate {
	e := MedianInterval(samples, unit)
	if math.IsNaN(e.Lo) && len(samples) > 1 {
		e.Lo, e.Hi = slices.Min(samples), slices.Max(samples)
	}
	return e
}

// MedianBounds bounds the median by two of the samples, which may be in any order. The probability that
// the median is below lo is at most `chance`, and so is the probability that it is above hi, for any
// distribution (David and Nagaraja, see [QuantileInterval]). The bounds are NaN if there are too few
// samples: [SamplesForMedian] says how many are needed.
func MedianBounds(samples []float64, chance float64) (lo, hi float64) {
	rank := lowestRank(len(samples), chance)
	if rank < 1 {
		return math.NaN(), math.NaN()
	}
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[rank-1], sorted[len(sorted)-rank]
}

// SamplesForMedian returns how many samples [MedianBounds] needs at that chance, so that at least strays
// samples lie outside the bounds on either side.
func SamplesForMedian(chance float64, strays int) int {
	n := 1
	for lowestRank(n, chance) <= strays {
		n++
	}
	return n
}

// lowestRank returns the rank, counted from 1, of the greatest of n samples that lies above the median
// with a probability of at most chance; 0 if there is none.
func lowestRank(n int, chance float64) int {
	below := distuv.Binomial{N: float64(n), P: 0.5}
	return sort.Search(n, func(k int) bool { return below.CDF(float64(k)) > chance })
}

// QuantileName returns "median", or "p" with the percentage: "p99", "p99.9".
func QuantileName(p float64) string {
	if p == 0.5 {
		return "median"
	}
	return "p" + strconv.FormatFloat(100*p, 'g', 6, 64)
}

// tail is the probability on either side of an interval.
const tail = (1 - Confidence) / 2

// samplesForQuantile returns the least n for which the smallest and the largest sample bound the
// p-quantile: the probability that all n samples lie on one side of it is p^n or (1-p)^n.
func samplesForQuantile(p float64) int {
	return int(math.Ceil(math.Log(tail) / math.Log(math.Max(p, 1-p))))
}

// boundingRanks returns the ranks, counted from 1, of the two among n samples that bound the p-quantile,
// and the confidence of these bounds. Sample lo lies above the quantile if fewer than lo samples lie
// below the quantile; sample hi lies below it if hi or more do. If there are too few samples, lo is 0
// or hi is n+1.
func boundingRanks(n int, p float64) (lo, hi int, achieved float64) {
	below := distuv.Binomial{N: float64(n), P: p}
	atMost := func(k int) float64 { return below.CDF(float64(k)) }
	lo = sort.Search(n, func(k int) bool { return atMost(k) > tail })
	hi = 1 + sort.Search(n, func(k int) bool { return atMost(k) >= 1-tail })
	return lo, hi, atMost(hi-1) - atMost(lo-1)
}

// QuantileShares returns the ranks of the two samples that bound the p-quantile ([QuantileInterval]) as
// shares of n; ok is false if there are too few samples.
func QuantileShares(n, p float64) (lo, hi float64, ok bool) {
	n = math.Min(math.Floor(n), 1<<40)
	first, last, _ := boundingRanks(int(n), p)
	return float64(first) / n, float64(last) / n, first >= 1 && float64(last) <= n
}
