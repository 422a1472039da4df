package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Outcome says how the second of two subjects compares with the first.
type Outcome string

// The outcomes.
const (
	Faster    Outcome = "faster"
	Slower    Outcome = "slower"
	Same      Outcome = "same" // within the tolerance
	Undecided Outcome = "undecided"
)

// Comparison says how the time of a second subject relates to that of a first one.
type Comparison struct {
	// Ratio is the second time divided by the first: below 1, the second subject is faster.
	Ratio Estimate
	// P is the probability that equal subjects differ at least as much; NaN if it is not known.
	P       float64
	Outcome Outcome
	// Zeros is the number of pairs in which a value of a metric is 0.
	Zeros int
}

// significant is the value below which a P value is significant.
const significant = 1 - Confidence

// OutcomeOf says how the second of two subjects compares with the first. They are the same if the
// interval of the ratio lies within 1 ± tolerance. The second is faster or slower if the interval
// excludes 1 and p is below 0.05.
func OutcomeOf(ratio Estimate, p, tolerance float64) Outcome {
	switch {
	case ratio.Lo >= 1-tolerance && ratio.Hi <= 1+tolerance:
		return Same
	case ratio.Hi < 1 && p < significant:
		return Faster
	case ratio.Lo > 1 && p < significant:
		return Slower
	}
	return Undecided
}

// Bounded is a time that lies between Lo and Hi; Mid is the best guess. All three may be off by Rounding.
// Disturbed is the amount of disturbance, in any unit.
type Bounded struct{ Lo, Mid, Hi, Rounding, Disturbed float64 }

// Pairs compares two subjects that are measured one right after the other, in random order, many times.
// Anything that slows the machine for longer than both take cancels in the ratio of each pair. If the
// subjects are equal, either is equally likely to be the slower one of a pair.
//
// The pairs of a metric ([RatiosOfMetric]) may hold a 0. Then the ratio of two sums of two pairs each takes the place of the mean of
// two logarithms, so that a 0 needs no ratio of its own: see [Pairs.Beyond] and [Pairs.Bounds].
type Pairs struct {
	low, middle, high, disturbed []float64 // the ratios, and how much each pair was disturbed
	first, second                []float64 // the values of a metric; nil for times
}

// Add adds a pair of times, and reports whether the pair counts. It does not count if one of the times may be
// 0.
func (p *Pairs) Add(first, second Bounded) bool {
	if !(first.Lo > first.Rounding && second.Lo > second.Rounding) {
		return false
	}
	p.low = append(p.low, (second.Lo-second.Rounding)/(first.Hi+first.Rounding))
	p.middle = append(p.middle, second.Mid/first.Mid)
	p.high = append(p.high, (second.Hi+second.Rounding)/(first.Lo-first.Rounding))
	p.disturbed = append(p.disturbed, first.Disturbed+second.Disturbed)
	return true
}

// addValues adds a pair of values of a metric, which are not below 0.
func (p *Pairs) addValues(first, second float64) {
	p.first, p.second = append(p.first, first), append(p.second, second)
	ratio := ratioOf(first, second)
	p.low, p.middle, p.high, p.disturbed = append(p.low, ratio), append(p.middle, ratio), append(p.high, ratio), append(p.disturbed, 0)
}

// ratioOf returns the ratio of two values that are not below 0. It is 1 if both are 0, and infinite if only the first is.
func ratioOf(first, second float64) float64 {
	if first == second {
		return 1
	}
	return second / first
}

// zeros returns the number of pairs in which a value of a metric is 0.
func (p *Pairs) zeros() (n int) {
	for i := range p.first {
		if p.first[i] == 0 || p.second[i] == 0 {
			n++
		}
	}
	return n
}

// mostForAllSums is the largest number of pairs of which all sums of two are used: no more than [maxPairs] sums.
const mostForAllSums = 446

// areEqual reports whether the two values of each pair are the same, so that the ratio is 1 also if they are 0.
func (p *Pairs) areEqual() bool { return slices.Equal(p.first, p.second) }

// ratiosOfSums returns the ratio of the sums of any two pairs, including a pair with itself, in any order; a fixed pseudo-random choice
// of maxPairs of them if there are more than mostForAllSums pairs. Two sums of 0 have no ratio, and are only counted.
func (p *Pairs) ratiosOfSums() (all []float64, without int) {
	n := p.Len()
	add := func(i, j int) {
		if x, y := p.first[i]+p.first[j], p.second[i]+p.second[j]; x > 0 || y > 0 {
			all = append(all, ratioOf(x, y))
		} else {
			without++
		}
	}
	if n > mostForAllSums {
		random := rand.New(rand.NewPCG(1963, uint64(n)))
		for range maxPairs {
			add(random.IntN(n), random.IntN(n))
		}
		return all, without
	}
	for i := range n {
		for j := i; j < n; j++ {
			add(i, j)
		}
	}
	return all, without
}

// lowestSum returns what [lowestSignedRank] does, among the sums of two of n pairs that ratiosOfSums uses. A random choice of them
// adds to the variance of the rank.
func lowestSum(n int, chance float64) int {
	if n <= mostForAllSums {
		return lowestSignedRank(n, chance)
	}
	variance := float64(2*n+1)/6/float64(n)/float64(n+1) + 1/(4.*maxPairs) // of the share of the sums
	return max(0, int(maxPairs*(0.5+distuv.UnitNormal.Quantile(chance)*math.Sqrt(variance))))
}

// LogCentre returns the median of the logarithms of the ratios of the pairs with these indices. If a metric has a 0, it is that of
// the ratios of two sums of two pairs each, and not finite if too many values are 0. It is NaN without pairs.
func (p *Pairs) LogCentre(these []int) float64 {
	q := p.Only(these)
	if q.zeros() > 0 {
		ratios, _ := q.ratiosOfSums()
		return Median(logarithms(ratios))
	}
	return Median(q.Logs())
}

// differences returns the second value of each pair minus limit times the first. For two values of 0 it is bothZero.
func (p *Pairs) differences(limit, bothZero float64) []float64 {
	all := make([]float64, p.Len())
	for i, x := range p.first {
		switch y := p.second[i]; {
		case x == 0 && y == 0:
			all[i] = bothZero
		case x == 0:
			all[i] = y
		case y/x == limit:
			all[i] = 0
		default:
			all[i] = y - limit*x // at a limit of 1, swapping the two changes the sign only
		}
	}
	return all
}

// AddAlike adds pairs of two subjects that are disturbed alike, and returns the indices of those that count. How far
// a disturbance delayed a subject is not known, but it delayed both as far: where one time lies between its bounds,
// the other lies, too. So the bounds of a ratio are those of [Pairs.Add] only as far as the subjects' disturbances
// differ, in the median of all pairs.
func (p *Pairs) AddAlike(first, second []Bounded) (counted []int) {
	var bounded Pairs
	var early, late []float64 // the logarithms by which the ratios at both ends differ from those in the middle
	for i, a := range first {
		b := second[i]
		if !bounded.Add(a, b) {
			continue
		}
		counted = append(counted, i)
		middle := math.Log(b.Mid / a.Mid)
		early, late = append(early, math.Log(b.Lo/a.Lo)-middle), append(late, math.Log(b.Hi/a.Hi)-middle)
	}
	if len(counted) == 0 {
		return nil
	}
	atLo, atHi := Median(early), Median(late)
	for i, ratio := range bounded.middle {
		a, b := first[counted[i]], second[counted[i]]
		rounding := math.Exp(a.Rounding/a.Mid + b.Rounding/b.Mid)
		bounded.low[i], bounded.high[i] = ratio*math.Exp(min(0, atLo, atHi))/rounding, ratio*math.Exp(max(0, atLo, atHi))*rounding
	}
	p.Append(bounded)
	return counted
}

// Append adds the pairs of more to p.
func (p *Pairs) Append(more Pairs) {
	p.low, p.middle, p.high = append(p.low, more.low...), append(p.middle, more.middle...), append(p.high, more.high...)
	p.disturbed = append(p.disturbed, more.disturbed...)
	p.first, p.second = append(p.first, more.first...), append(p.second, more.second...)
}

// LogBounds bounds the centre of the logarithms of the ratios at a single look. Each bound is wrong
// with a probability of at most chance. They are NaN if there are too few pairs, and infinite if too many values of a metric are 0:
// two sums of 0 may have any ratio, so that they lie beyond either bound.
func (p *Pairs) LogBounds(chance float64) (lo, hi float64) { return p.logBounds(chance, p.areEqual()) }

// logBounds is LogBounds of the first pairs. areEqual says whether all pairs are equal.
func (p *Pairs) logBounds(chance float64, areEqual bool) (lo, hi float64) {
	if p.zeros() > 0 && !areEqual {
		rank := lowestSum(p.Len(), chance)
		if rank < 1 {
			return math.NaN(), math.NaN()
		}
		all, without := p.ratiosOfSums()
		rank -= without
		if rank < 1 {
			return math.Inf(-1), math.Inf(1)
		}
		place(all, []int{rank - 1, len(all) - rank})
		return math.Log(all[rank-1]), math.Log(all[len(all)-rank])
	}
	lo, _ = SignedRankBounds(logarithms(p.low), chance)
	_, hi = SignedRankBounds(logarithms(p.high), chance)
	return lo, hi
}

// Logs returns the logarithms of the ratios.
func (p *Pairs) Logs() []float64 { return logarithms(p.middle) }

// Len returns the number of pairs.
func (p *Pairs) Len() int { return len(p.middle) }

// Least returns the least ratio, by the pairs' lower bounds; NaN without pairs.
func (p *Pairs) Least() float64 {
	if p.Len() == 0 {
		return math.NaN()
	}
	return slices.Min(p.low)
}

// First returns the first n pairs.
func (p *Pairs) First(n int) Pairs {
	q := Pairs{low: p.low[:n], middle: p.middle[:n], high: p.high[:n], disturbed: p.disturbed[:n]}
	if p.first != nil {
		q.first, q.second = p.first[:n], p.second[:n]
	}
	return q
}

// fewestOfMany is the least number of pairs that remain if only the least disturbed are used, and
// apartShare is the least mean relative distance of the pairs' bounds for which that is worthwhile.
const fewestOfMany, apartShare = 30, 0.005

// leastDisturbed returns the quarter of the pairs that was disturbed least, if there are many pairs and
// their bounds lie far apart. A program may have several modes, and a pair may be disturbed more in one
// of them. So if the ratios of this quarter differ from those of the other pairs, leastDisturbed returns
// all pairs.
func (p *Pairs) leastDisturbed() *Pairs {
	order := make([]int, p.Len())
	widths := make([]float64, p.Len())
	for i := range order {
		order[i], widths[i] = i, p.high[i]/p.low[i]-1
	}
	if p.first != nil || p.Len() < 4*fewestOfMany || stat.Mean(widths, nil) <= apartShare {
		return p
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p.disturbed[i], p.disturbed[j]) })
	chosen, others := p.Only(order[:p.Len()/4]), p.Only(order[p.Len()/4:])
	a, b := MedianInterval(chosen.middle, ""), MedianInterval(others.middle, "")
	if a.Lo > b.Hi || b.Lo > a.Hi {
		return p
	}
	return chosen
}

// Only returns the pairs with these indices.
func (p *Pairs) Only(these []int) *Pairs {
	q := &Pairs{}
	for _, i := range these {
		q.low, q.middle, q.high = append(q.low, p.low[i]), append(q.middle, p.middle[i]), append(q.high, p.high[i])
		q.disturbed = append(q.disturbed, p.disturbed[i])
		if p.first != nil {
			q.first, q.second = append(q.first, p.first[i]), append(q.second, p.second[i])
		}
	}
	return q
}

// Compare compares the second subject with the first, by the median of the ratios ([MedianInterval]) and
// [PairedPermutationTest]. The interval goes from the lower bound of the median of the pairs' lower ends
// to the upper bound of the median of their upper ends, so that it includes the uncertainty of single
// times. If there are too few pairs for an interval, it is the range of their ratios, which holds the
// truth less often.
//
// If a metric has a 0, the ratio is the median of the ratios of two sums of two pairs each, and its bounds are those of
// [Pairs.LogBounds]; infinite where the first subject has 0 only, or nearly so. It is NaN, from 0 to infinity, if too many values of
// both are 0.
func (p *Pairs) Compare(tolerance float64, seed uint64) Comparison {
	p = p.leastDisturbed()
	c := Comparison{Ratio: MedianOrRange(p.middle, "ratio"), P: math.NaN(), Zeros: p.zeros()}
	c.Ratio.Lo, c.Ratio.Hi = MedianOrRange(p.low, "").Lo, MedianOrRange(p.high, "").Hi
	differences := logarithms(p.middle)
	if p.zeros() > 0 && !p.areEqual() {
		differences = p.differences(1, 0)
		if lo, hi := p.LogBounds(tail); !math.IsNaN(lo) {
			c.Ratio.Lo, c.Ratio.Hi = math.Exp(lo), math.Exp(hi)
		}
		c.Ratio.Value = math.NaN()
		if c.Ratio.Lo > 0 || !math.IsInf(c.Ratio.Hi, 1) {
			all, _ := p.ratiosOfSums()
			middle := (len(all) - 1) / 2
			place(all, []int{middle})
			c.Ratio.Value = all[middle]
		}
	}
	if probability, err := PairedPermutationTest(differences, seed); err == nil {
		c.P = probability
	}
	c.Outcome = OutcomeOf(c.Ratio, c.P, tolerance)
	return c
}

// Joint bounds the ratio such that the bounds of the given number of comparisons hold together
// ([JointBounds]).
func (p *Pairs) Joint(comparisons int) Joint {
	p = p.leastDisturbed()
	j := JointBounds(p.low, p.high, comparisons)
	if p.zeros() > 0 && !p.areEqual() {
		lo, hi := p.LogBounds(FalseAlarms / float64(comparisons))
		j.Lo, j.Hi = math.Exp(lo), math.Exp(hi)
	}
	return j
}

// Beyond returns the P value, over all looks, of the hypothesis that the ratio is at most limit. If a metric has a 0,
// the differences between the second value and limit times the first take the place of the logarithms: swapping two equal subjects
// changes the sign of a difference, too, at a limit of 1, and a higher limit only lowers it. A pair of two zeros never counts
// against the hypothesis.
func (p *Pairs) Beyond(looks Looks, limit float64) float64 {
	return looks.least(p.Len(), func(n int) float64 {
		if q := p.First(n); q.zeros() > 0 {
			return SignedRankTail(q.differences(limit, -math.SmallestNonzeroFloat64), 0)
		}
		return SignedRankTail(logarithms(p.low[:n]), math.Log(limit))
	})
}

// Below returns the P value, over all looks, of the hypothesis that the ratio is at least limit; see [Pairs.Beyond].
func (p *Pairs) Below(looks Looks, limit float64) float64 {
	return looks.least(p.Len(), func(n int) float64 {
		if q := p.First(n); q.zeros() > 0 {
			return SignedRankTail(negated(q.differences(limit, math.SmallestNonzeroFloat64)), 0)
		}
		return SignedRankTail(negated(logarithms(p.high[:n])), -math.Log(limit))
	})
}

// Bounds returns bounds of the ratio. The probability that one of them is wrong at any look is at most
// chance. They are NaN if there are too few pairs.
func (p *Pairs) Bounds(looks Looks, chance float64) (lo, hi float64) {
	lo, hi = math.NaN(), math.NaN()
	areEqual := p.areEqual()
	for j, n := range looks.upTo(p.Len()) {
		q := p.First(n)
		low, high := q.logBounds(chance*shareOfLook(j), areEqual)
		if math.IsNaN(low) {
			continue
		}
		if !(low <= lo) {
			lo = low
		}
		if !(high >= hi) {
			hi = high
		}
	}
	return math.Exp(lo), math.Exp(hi)
}

// Scatter returns an upper bound, with 90 % confidence, of the standard deviation of the logarithms of
// the ratios. It finds the normal distribution for which the signed-rank interval of the centre is as
// wide as the interval of these pairs. It is NaN if there are too few pairs.
func (p *Pairs) Scatter() float64 {
	const chance = 0.1
	n := float64(p.Len())
	lo, hi := SignedRankBounds(logarithms(p.middle), chance)
	deviation := (hi - lo) / 2 / distuv.UnitNormal.Quantile(1-chance) * math.Sqrt(n)
	return deviation * math.Sqrt((n-1)/distuv.ChiSquared{K: math.Max(1, n-1)}.Quantile(chance))
}

func logarithms(ratios []float64) []float64 { return Each(ratios, math.Log) }
