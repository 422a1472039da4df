package stats

import "math"

// priorParts is the weight of the expected dispersion, in parts of a series, if the data agree
// with it. The scatter of a few parts tells little by itself.
const priorParts = 8

// Observe updates the expected scatter, Dispersion and Extra, by an observed one. A series was
// cut into parts. squares is the sum of the squared distances of the parts from their expected
// values, in units of a part's variance if the chances to see a tick were independent. freedom is
// the number of parts minus one. variance is the variance of a single chance. The expectation
// keeps its weight if the data agree with it, and loses weight the more they disagree.
//
// Observe changes nothing if freedom or variance is not positive.
func (s *Scatter) Observe(squares, freedom, variance float64) {
	if !(freedom > 0 && variance > 0) {
		return
	}
	contrast := squares / freedom
	prior := priorParts * math.Pow(math.Min(contrast, 1/contrast), 2)
	factor := (squares + prior*s.Dispersion) / (freedom + prior)
	if factor > 1 { // varying durations add variance even at means at which rounding adds none
		s.Extra += (factor - 1) * variance
	} else {
		s.Dispersion, s.Extra = factor, factor*s.Extra
	}
	s.Freedom = freedom + prior
}
