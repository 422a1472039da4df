package stats

import "math"

// Outcome is how the second of two subjects does beside the first.
type Outcome string

// The outcomes.
const (
	Faster    Outcome = "faster"
	Slower    Outcome = "slower"
	Same      Outcome = "same" // within the tolerance
	Undecided Outcome = "undecided"
)

// Comparison is how the time of a second subject relates to that of a first one.
type Comparison struct {
	// Ratio is the second time over the first: below 1, the second subject is faster.
	Ratio Estimate
	// P is how probable it is that equal subjects differ as much; NaN where it is not known.
	P       float64
	Outcome Outcome
}

// significant is a P value below this.
const significant = 1 - Confidence

// OutcomeOf says how the second of two subjects does beside the first. They are the same where
// the interval of the ratio lies within the tolerance about 1, a share; the second is faster or
// slower where the interval excludes 1 and P is below 0.05.
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

// Bounded is a time that lies between Lo and Hi; Mid is the best guess.
type Bounded struct{ Lo, Mid, Hi float64 }

// Pairs compare two subjects that were measured one after the other, in random order, again and
// again: what slows the machine for longer than both take cancels in the ratio of each pair, and
// of equal subjects either is as likely to be the slower one.
type Pairs struct{ low, middle, high []float64 } // ratios

// Add takes in one time of each subject. A pair of which a time may be 0 tells nothing.
func (p *Pairs) Add(first, second Bounded) {
	if !(first.Lo > 0 && second.Lo > 0) {
		return
	}
	p.low = append(p.low, second.Lo/first.Hi)
	p.middle = append(p.middle, second.Mid/first.Mid)
	p.high = append(p.high, second.Hi/first.Lo)
}

// Len is how many pairs there are.
func (p *Pairs) Len() int { return len(p.middle) }

// Compare says how the second subject does beside the first, by the median of the ratios
// ([MedianInterval]) and [PairedPermutationTest]. The interval goes from that of the pairs' lower
// ends to that of the upper ones, so that what is not known of single times is in it. Too few
// pairs for an interval have their range instead, which holds less often.
func (p *Pairs) Compare(tolerance float64, seed uint64) Comparison {
	c := Comparison{Ratio: MedianOrRange(p.middle, "ratio"), P: math.NaN()}
	c.Ratio.Lo, c.Ratio.Hi = MedianOrRange(p.low, "").Lo, MedianOrRange(p.high, "").Hi
	logs := make([]float64, len(p.middle))
	for i, ratio := range p.middle {
		logs[i] = math.Log(ratio)
	}
	if probability, err := PairedPermutationTest(logs, seed); err == nil {
		c.P = probability
	}
	c.Outcome = OutcomeOf(c.Ratio, c.P, tolerance)
	return c
}

// Joint bounds the ratio so that it holds together with those of so many comparisons
// ([JointBounds]).
func (p *Pairs) Joint(comparisons int) Joint {
	return JointBounds(p.low, p.high, comparisons)
}
