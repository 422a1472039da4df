package stats

import (
	"cmp"
	"math"
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
type Pairs struct{ low, middle, high, disturbed []float64 } // the ratios, and how much each pair was disturbed

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
}

// LogBounds bounds the centre of the logarithms of the ratios at a single look. Each bound is wrong
// with a probability of at most chance. They are NaN if there are too few pairs.
func (p *Pairs) LogBounds(chance float64) (lo, hi float64) {
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
	return Pairs{p.low[:n], p.middle[:n], p.high[:n], p.disturbed[:n]}
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
	if p.Len() < 4*fewestOfMany || stat.Mean(widths, nil) <= apartShare {
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
	}
	return q
}

// Compare compares the second subject with the first, by the median of the ratios ([MedianInterval]) and
// [PairedPermutationTest]. The interval goes from the lower bound of the median of the pairs' lower ends
// to the upper bound of the median of their upper ends, so that it includes the uncertainty of single
// times. If there are too few pairs for an interval, it is the range of their ratios, which holds the
// truth less often.
func (p *Pairs) Compare(tolerance float64, seed uint64) Comparison {
	p = p.leastDisturbed()
	c := Comparison{Ratio: MedianOrRange(p.middle, "ratio"), P: math.NaN()}
	c.Ratio.Lo, c.Ratio.Hi = MedianOrRange(p.low, "").Lo, MedianOrRange(p.high, "").Hi
	if probability, err := PairedPermutationTest(logarithms(p.middle), seed); err == nil {
		c.P = probability
	}
	c.Outcome = OutcomeOf(c.Ratio, c.P, tolerance)
	return c
}

// Joint bounds the ratio such that the bounds of the given number of comparisons hold together
// ([JointBounds]).
func (p *Pairs) Joint(comparisons int) Joint {
	p = p.leastDisturbed()
	return JointBounds(p.low, p.high, comparisons)
}

// Beyond returns the P value, over all looks, of the hypothesis that the ratio is at most limit.
func (p *Pairs) Beyond(looks Looks, limit float64) float64 {
	return looks.Above(logarithms(p.low), math.Log(limit))
}

// Below returns the P value, over all looks, of the hypothesis that the ratio is at least limit.
func (p *Pairs) Below(looks Looks, limit float64) float64 {
	return looks.Above(negated(logarithms(p.high)), -math.Log(limit))
}

// Bounds returns bounds of the ratio. The probability that one of them is wrong at any look is at most
// chance. They are NaN if there are too few pairs.
func (p *Pairs) Bounds(looks Looks, chance float64) (lo, hi float64) {
	return math.Exp(looks.Lowest(logarithms(p.low), chance)), math.Exp(looks.Highest(logarithms(p.high), chance))
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
