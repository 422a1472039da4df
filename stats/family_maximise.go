package stats

import "math"

// enoughGain ends a fit, in units of log-likelihood: BIC then is right to about
// a hundredth, where differences below 2 mean nothing.
const enoughGain = 1e-3

// maximise finds the two parameters, from 0 on, under which the bins are most
// likely: one parameter after the other to the top of the parabola through
// three points, which come closer together as the gains end. The parameters of
// a continuousFamily are nearly independent, so a few rounds do; Newton's method
// in both at once is caught on the shoulders that strays give to the likelihood
// of a family that does not fit.
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

// climb is the best point, and its likelihood, among p, its neighbours along an
// axis at distance d, and the top of the parabola through the three.
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
