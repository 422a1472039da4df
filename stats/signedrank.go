package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// mostRanked is the largest number of signed ranks that are counted exactly, if that takes at most mostCounting steps.
// For more, the normal distribution is used, whose tails are heavier.
const mostRanked = 200

// SignedRankTail returns the one-sided P value of Wilcoxon's signed-rank test: if the samples are
// distributed symmetrically about centre, the probability that the ranks of those above it have a sum of
// at least the observed one. It counts all choices of signs for the given distances, as [PairedPermutationTest]
// does; for more than mostRanked ranks it uses the normal approximation. It is also valid if the true centre is lower.
func SignedRankTail(samples []float64, centre float64) float64 {
	ranks, err := TwiceMidranks(Each(samples, func(x float64) float64 { return math.Abs(x - centre) }))
	if err != nil || len(samples) == 0 {
		return 1
	}
	above, variance := 0, 0.
	for i, x := range samples {
		switch {
		case x == centre:
			ranks[i] = 0
		case x > centre:
			above += ranks[i]
		}
		variance += float64(ranks[i]) * float64(ranks[i]) / 4
	}
	ranks = slices.DeleteFunc(ranks, func(rank int) bool { return rank == 0 })
	if total := float64(sum(ranks)); len(ranks) > mostRanked || float64(len(ranks))*total > mostCounting {
		least := float64(above) - float64(leastStep(ranks))/2 // the normal distribution has no steps
		return distuv.UnitNormal.Survival((least - total/2) / math.Sqrt(variance))
	}
	tail := 0.
	for _, share := range signShares(ranks)[above:] {
		tail += share
	}
	return math.Min(1, tail)
}

// leastStep returns the least difference between two different ranks, or between a rank and 0: sums of ranks mostly lie
// that far apart or further.
func leastStep(ranks []int) int {
	step, last := math.MaxInt, 0
	for _, rank := range slices.Sorted(slices.Values(ranks)) {
		if rank > last {
			step, last = min(step, rank-last), rank
		}
	}
	return step
}

// SignedRankBounds bounds the centre about which the samples are distributed symmetrically. Each bound is wrong
// with a probability of at most chance. lo and hi are two of the averages of all pairs of samples, including
// pairs of a sample with itself (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd ed.,
// section 3.3). They are NaN if there are too few samples.
func SignedRankBounds(samples []float64, chance float64) (lo, hi float64) {
	n := len(samples)
	rank := lowestSignedRank(n, chance)
	if rank < 1 {
		return math.NaN(), math.NaN()
	}
	averages := make([]float64, 0, n*(n+1)/2)
	for i, x := range samples {
		for _, y := range samples[i:] {
			averages = append(averages, (x+y)/2)
		}
	}
	place(averages, []int{rank - 1, len(averages) - rank})
	return averages[rank-1], averages[len(averages)-rank]
}

// lowestSignedRank returns the rank, counted from 1, of the greatest average of two of n samples that
// lies above their centre with a probability of at most chance; 0 if there is none.
func lowestSignedRank(n int, chance float64) int {
	if n > mostRanked {
		mean, deviation := float64(n)*float64(n+1)/4, math.Sqrt(float64(n)*float64(n+1)*float64(2*n+1)/24)
		return max(0, int(mean+distuv.UnitNormal.Quantile(chance)*deviation))
	}
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	below := 0.
	for rank, share := range signShares(ranks) {
		if below += share; below > chance {
			return rank
		}
	}
	return 0
}
