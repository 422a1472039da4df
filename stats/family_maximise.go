package stats

import "math"

// enoughGain is the gain in log-likelihood below which a fit ends. BIC is then right to about a
// hundredth; differences in BIC below 2 are meaningless.
const enoughGain = 1e-3

// maximise returns the two parameters under which the bins are most likely. It starts at 0 and moves one
// parameter after the other to the top of the parabola through three points, which come closer together
// as the gains become small. The parameters of a continuousFamily are nearly independent, so a few
// rounds suffice. Newton's method in both parameters at once can fail: if a family does not fit, the
// strays give its likelihood a shoulder, at which the method stops.
func (h histogram) maximise(at func([2]float64) distribution) [2]float64 {
	var p [2]float64
	likelihood := func(p [2]float64) float64 { return h.logLikelihood(at(p).cdf) }
	top := likelihood(p)
	for d := 0.4; d > 0.02; d /= 8 {
		for range 30 {
			before := top
			for axis := range p {
				p, top = climb(likelihood, p, top, axis, d)
			}
			if top-before < enoughGain {
				break
			}
		}
	}
	return p
}

// climb returns the best point, and its likelihood, among p, its neighbours at distance d along an axis,
// and the top of the parabola through the three.
func climb(likelihood func([2]float64) float64, p [2]float64, top float64, axis int, d float64) ([2]float64, float64) {
	best, bestAt := top, p
	try := func(step float64) float64 {
		q := p
		q[axis] += step
		l := likelihood(q)
		if l > best {
			best, bestAt = l, q
		}
		return l
	}
	below, above := try(-d), try(d)
	if curvature := below + above - 2*top; curvature < 0 {
		try(math.Max(-4*d, math.Min(4*d, d*(below-above)/(2*curvature))))
	}
	return bestAt, best
}
