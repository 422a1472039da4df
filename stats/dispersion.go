package stats

import "math"

// priorParts is how many parts of a series the expected dispersion weighs, as long as the
// data don't contradict it. Of few parts the scatter alone tells little.
const priorParts = 8

// Observe holds what was seen against what is expected, which Dispersion and Extra say so
// far. A series was cut into parts; squares is the sum of the squares of their distances
// from what each should have seen, in units of the variance that independent chances would
// give the part, and freedom is how many parts there are but one. variance is that of one
// chance. The expectation keeps its weight where the data agree with it, and loses it the
// more they don't.
//
// Nothing changes where there is no freedom or no variance.
func (s *Scatter) Observe(squares, freedom, variance float64) {
	if !(freedom > 0 && variance > 0) {
		return
	}
	contrast := squares / freedom
	prior := priorParts * math.Pow(math.Min(contrast, 1/contrast), 2)
	factor := (squares + prior*s.Dispersion) / (freedom + prior)
	if factor > 1 { // durations that vary go on doing so where the rounding vanishes
		s.Extra += (factor - 1) * variance
	} else {
		s.Dispersion, s.Extra = factor, factor*s.Extra
	}
	s.Freedom = freedom + prior
}
