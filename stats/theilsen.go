package stats

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// maxPairs is the largest number of pairs of points that TheilSen uses: all pairs of 447 points. More
// would take time and gain little, see slopeRanks.
const maxPairs = 100_000

// TheilSen returns the line whose slope is the median slope over all pairs of points with different x,
// and whose intercept is the median of y - slope x (Sen, "Estimates of the Regression Coefficient Based
// on Kendall's Tau", JASA 63, 1968). Outliers in up to nearly 29 % of the points do not change it much.
// The slope's interval is Sen's, from the normal approximation to the variance of Kendall's S, with
// ranks rounded outwards. It requires errors that are independent and of the same distribution, which
// may be any. The intercept has no interval: its bounds and ResidualSD are NaN. The slope's bounds are
// NaN if ties in x leave too few pairs.
//
// For more than about 450 points, a fixed pseudo-random choice of pairs is used, and the interval is
// widened by the uncertainty of that choice.
func TheilSen(x, y []float64) (Line, error) {
	if err := checkPoints(x, y, "a Theil-Sen line with its interval", 6); err != nil {
		return Line{}, err
	}
	slopes, pairs := pairSlopes(x, y)
	if len(slopes) == 0 {
		return Line{}, fmt.Errorf("stats: no slope through %d points: hardly any two of them differ in x; spread the points out", len(x))
	}
	lo, hi := slopeRanks(x, len(slopes), pairs)
	place(slopes, []int{lo, (len(slopes) - 1) / 2, len(slopes) / 2, hi})
	slope := Quantile(slopes, 0.5)
	e := Estimate{Value: slope, Lo: math.NaN(), Hi: math.NaN(), Statistic: "theil-sen", N: len(x)}
	if lo >= 0 && hi < len(slopes) {
		e.Lo, e.Hi = slopes[lo], slopes[hi]
	}
	return Line{Slope: e, Intercept: medianIntercept(x, y, slope), ResidualSD: math.NaN()}, nil
}

// pairSlopes returns the slopes between points of different x, or a random choice of them, and the number
// of all such pairs.
func pairSlopes(x, y []float64) (slopes []float64, pairs int) {
	n := len(x)
	pairs = distinctPairs(x)
	add := func(i, j int) {
		if x[i] != x[j] {
			slopes = append(slopes, (y[j]-y[i])/(x[j]-x[i]))
		}
	}
	if n*(n-1)/2 <= maxPairs {
		for i := range n {
			for j := range i {
				add(i, j)
			}
		}
		return slopes, pairs
	}
	random := rand.New(rand.NewPCG(1968, uint64(n)))
	for range maxPairs {
		add(random.IntN(n), random.IntN(n))
	}
	return slopes, pairs
}

// place moves the values of the given ranks, counted from 0, to the places that they would have after sorting,
// in a fraction of the time (quickselect: Hoare, "Find", CACM 4, 1961). Ranks beyond the values are ignored.
func place(values []float64, ranks []int) {
	placeFrom(values, 0, 2*bits.Len(uint(len(values))), ranks)
}

// placeFrom does what place does, for values that are a part of all: values[0] has the rank first. Once it has
// divided the values as often as partitions says, it sorts what is left, so that no order of the values makes
// it slow.
func placeFrom(values []float64, first, partitions int, ranks []int) {
	wanted := func(rank int) bool { return rank >= first && rank < first+len(values) }
	if !slices.ContainsFunc(ranks, wanted) {
		return
	}
	if len(values) <= 16 || partitions == 0 {
		slices.Sort(values)
		return
	}
	ends := []float64{values[0], values[len(values)/2], values[len(values)-1]}
	slices.Sort(ends)
	pivot, i, j := ends[1], 0, len(values)-1
	for i <= j {
		for values[i] < pivot {
			i++
		}
		for values[j] > pivot {
			j--
		}
		if i <= j {
			values[i], values[j] = values[j], values[i]
			i, j = i+1, j-1
		}
	}
	placeFrom(values[:j+1], first, partitions-1, ranks)
	placeFrom(values[i:], first+i, partitions-1, ranks)
}

// slopeRanks returns the ranks, counted from 0, of the sorted slopes that bound the interval. A rank lies
// outside the slopes if there are too few points. Kendall's S of the points against the true slope is the
// number of greater slopes minus the number of smaller ones. Choosing m of the pairs at random adds 1/m
// to the variance of S divided by the number of pairs, which is about 4/9n: with 100,000 pairs the
// interval grows by 2 % at 2,000 points and by 10 % at 9,000.
func slopeRanks(x []float64, slopes, pairs int) (lo, hi int) {
	share := kendallVariance(x) / (float64(pairs) * float64(pairs))
	if slopes < pairs {
		share += 1 / float64(slopes)
	}
	z := distuv.UnitNormal.Quantile(1 - tail)
	m := float64(slopes)
	lo = int(math.Floor(m*(1-z*math.Sqrt(share))/2)) - 1
	return lo, slopes - 1 - lo
}

// kendallVariance returns the variance of Kendall's S for independent y, corrected for ties in x (Sen
// 1968, formula 2.6).
func kendallVariance(x []float64) float64 {
	term := func(n int) int { return n * (n - 1) * (2*n + 5) }
	sum := term(len(x))
	for _, ties := range tieCounts(x) {
		sum -= term(ties)
	}
	return float64(sum) / 18
}

// distinctPairs returns the number of pairs of points whose x differ.
func distinctPairs(x []float64) int {
	pairs := len(x) * (len(x) - 1) / 2
	for _, ties := range tieCounts(x) {
		pairs -= ties * (ties - 1) / 2
	}
	return pairs
}

func tieCounts(x []float64) map[float64]int {
	counts := map[float64]int{}
	for _, xi := range x {
		counts[xi]++
	}
	return counts
}

func medianIntercept(x, y []float64, slope float64) Estimate {
	rests := make([]float64, len(x))
	for i := range x {
		rests[i] = y[i] - slope*x[i]
	}
	return Estimate{Value: Median(rests), Lo: math.NaN(), Hi: math.NaN(), Statistic: "intercept", N: len(x)}
}
