package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// A permutation test tells how probable the difference between two sets of samples is if there is no
// true difference. It takes the probability over all ways in which the same values could have been
// assigned to the two sets. So it holds for any distribution and any number of ties; samples from a
// coarse clock have many (Good, Permutation, Parametric and Bootstrap Tests of Hypotheses, 3rd ed.,
// chapter 3).

// drawnPermutations is the number of permutations that are drawn if counting all of them would take more than
// mostCounting steps, and the normal distribution does not serve.
const (
	drawnPermutations = 9999
	mostCounting      = 3e7
)

// leastNormal is the least number of values that both sets have if the normal distribution takes the place of drawn
// permutations, and mostUnbalanced the largest ratio of both numbers together to the smaller one: with 40 and 500 values, and
// few that differ from the others, its P values are too small by a factor of 20 and more.
const leastNormal, mostUnbalanced = 40, 3

// PermutationTest returns the two-sided P value of two independent sets of samples, in any order, for
// the hypothesis that both come from one distribution. It is the share of all ways to assign the values
// to the sets for which the sum of the ranks of a is at least as far from its mean as the observed sum.
// Ties share their mean rank. With few enough samples all ways are counted, by the recursion over
// partial sums, and the value is exact. If there are more, both sets have leastNormal values or more, and neither has more
// than twice as many as the other, the value is that of the normal approximation. Otherwise ways are drawn at random, as seed
// determines, and the value is never below 1 in 10,000 (Phipson and Smyth, "Permutation P-values should never be zero", 2010).
//
// Software that doubles the smaller tail instead gives other values if ties make the distribution of the
// sum skewed.
func PermutationTest(a, b []float64, seed uint64) (float64, error) {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN(), &TooFewError{Want: "a permutation test", Have: min(len(a), len(b)), Need: 1}
	}
	ranks, err := TwiceMidranks(slices.Concat(a, b))
	if err != nil {
		return math.NaN(), err
	}
	if len(b) < len(a) { // the sum of either set's ranks is equally far from its mean
		slices.Reverse(ranks)
	}
	n := min(len(a), len(b))
	far := deviation(ranks, n)
	if float64(n)*float64(len(ranks))*float64(sum(ranks)) > mostCounting {
		if n >= leastNormal && len(ranks) <= mostUnbalanced*n {
			return normalTails(ranks, n, far), nil
		}
		return drawn(seed, func(rng *rand.Rand) bool {
			for i := range n {
				j := i + rng.IntN(len(ranks)-i)
				ranks[i], ranks[j] = ranks[j], ranks[i]
			}
			return deviation(ranks, n) >= far
		}), nil
	}
	return countSplits(ranks, n, far), nil
}

// PairedPermutationTest returns the two-sided P value of the differences of paired samples, for the
// hypothesis that each difference is equally likely to have either sign: Wilcoxon's signed-rank test,
// with the distribution over all choices of signs for the given differences. Ties share their mean
// rank; a difference of zero has a rank but no sign (Pratt, "Remarks on Zeros and Ties in the Wilcoxon
// Signed Rank Procedures", JASA 54, 1959). The value is exact for up to about 300 pairs, and from random
// choices for more, as in [PermutationTest].
func PairedPermutationTest(differences []float64, seed uint64) (float64, error) {
	if len(differences) == 0 {
		return math.NaN(), &TooFewError{Want: "a paired permutation test", Have: 0, Need: 1}
	}
	ranks, err := TwiceMidranks(Each(differences, math.Abs))
	if err != nil {
		return math.NaN(), err
	}
	signed := 0
	for i, d := range differences {
		switch {
		case d < 0:
			signed -= ranks[i]
		case d > 0:
			signed += ranks[i]
		default:
			ranks[i] = 0
		}
	}
	far := max(signed, -signed)
	if float64(len(ranks))*float64(sum(ranks)) > mostCounting {
		return drawn(seed, func(rng *rand.Rand) bool {
			signed, signs := 0, uint64(0)
			for i, r := range ranks {
				if i%64 == 0 {
					signs = rng.Uint64()
				}
				signed += r * (1 - 2*int(signs&1))
				signs >>= 1
			}
			return max(signed, -signed) >= far
		}), nil
	}
	return countSigns(ranks, far), nil
}

// TwiceMidranks returns the ranks of the values, from 1 on, doubled so that they are whole numbers. Ties share their mean
// rank. It refuses NaN.
func TwiceMidranks(values []float64) ([]int, error) {
	if slices.ContainsFunc(values, math.IsNaN) {
		return nil, errors.New("a permutation test of NaN: leave out what could not be measured")
	}
	sorted, ranks := slices.Sorted(slices.Values(values)), make([]int, len(values))
	for i, v := range values {
		less, _ := slices.BinarySearch(sorted, v)
		upTo := sort.Search(len(sorted), func(k int) bool { return sorted[k] > v })
		ranks[i] = less + upTo + 1
	}
	return ranks, nil
}

func sum(values []int) (total int) {
	for _, v := range values {
		total += v
	}
	return total
}

// deviation returns how far the sum of the first n ranks is from its mean over all choices of n ranks,
// multiplied by the number of ranks so that it is a whole number.
func deviation(ranks []int, n int) int {
	d := sum(ranks[:n])*len(ranks) - n*sum(ranks)
	return max(d, -d)
}

// countSplits returns the share of the choices of n of the ranks whose sum is at least `far` away
// from the mean. ways[k][s] counts the choices of k of the ranks so far that add up to s.
func countSplits(ranks []int, n, far int) float64 {
	total := sum(ranks)
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	seen := 0
	for i, r := range ranks {
		seen += r
		for k := min(n, i+1); k >= 1; k-- {
			for s := r; s <= seen; s++ {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	var all, extreme float64
	for s, w := range ways[n] {
		all += w
		if d := s*len(ranks) - n*total; max(d, -d) >= far {
			extreme += w
		}
	}
	return extreme / all
}

// normalTails returns about what [countSplits] does, by the normal distribution that has the variance of the sum, ties included.
// The continuity correction is half of the distance between two sums: half a rank, or more if all differences between the ranks
// have a larger common divisor, as with two different values.
func normalTails(ranks []int, n, far int) float64 {
	mean, variance, step := float64(sum(ranks))/float64(len(ranks)), 0., 0
	for _, r := range ranks {
		variance += (float64(r) - mean) * (float64(r) - mean)
		for divisor := max(r, ranks[0]) - min(r, ranks[0]); divisor > 0; { // Euclid's algorithm
			step, divisor = divisor, step%divisor
		}
	}
	const rank = 2 // as the ranks are doubled
	variance *= float64(n) * float64(len(ranks)-n) / float64(len(ranks)) / float64(len(ranks)-1)
	if variance == 0 {
		return 1
	}
	z := (float64(far)/float64(len(ranks)) - float64(max(step, rank))/2) / math.Sqrt(variance)
	return math.Min(1, math.Erfc(z/math.Sqrt2))
}

// countSigns returns the share of the choices of signs for which the sum is at least `far` away
// from zero.
func countSigns(ranks []int, far int) float64 {
	total := sum(ranks)
	var extreme float64
	for s, p := range signShares(ranks) {
		if d := 2*s - total; max(d, -d) >= far {
			extreme += p
		}
	}
	return math.Min(1, extreme)
}

// signShares returns, at index s, the share of the choices of signs whose positive ranks add up to s. With
// mostCounting there are fewer than 1,024 ranks, so that the number of choices, 2^n, fits a float64. A choice and its
// opposite have sums that add up to that of all ranks, so that only the lower half is counted.
func signShares(ranks []int) []float64 {
	total := sum(ranks)
	share := make([]float64, total+1)
	share[0] = 1
	seen, signs := 0, 0
	for _, r := range ranks {
		if r == 0 {
			continue
		}
		signs++
		seen += r
		if seen = min(seen, total/2); seen >= r {
			with, without := share[r:seen+1], share[:seen+1-r]
			for i := len(with) - 1; i >= 0; i-- {
				with[i] += without[i]
			}
		}
	}
	all := math.Ldexp(1, -signs)
	for s := range total/2 + 1 {
		share[s] *= all
		share[total-s] = share[s]
	}
	return share
}

// drawn returns the share of permutations that are at least as extreme as the observed one, among
// those drawn and the observed one.
func drawn(seed uint64, extreme func(*rand.Rand) bool) float64 {
	rng := rand.New(rand.NewPCG(seed, 0x9e37))
	n := 1
	for range drawnPermutations {
		if extreme(rng) {
			n++
		}
	}
	return float64(n) / (drawnPermutations + 1)
}
