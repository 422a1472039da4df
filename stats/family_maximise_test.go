package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// No neighbour of a fit is more likely than the fit, whatever the family of the samples. The samples are
// powers of an exponential variable, plus an offset: from nearly even to very long-tailed, close to
// zero and far from it.
func TestMaximiseEndsOnTop(t *testing.T) {
	random := rand.New(rand.NewPCG(1974, 1))
	for range 100 {
		power, offset := 0.3+3*random.Float64(), 100*random.Float64()*random.Float64()
		samples := make([]float64, 500)
		for i := range samples {
			samples[i] = math.Round(offset + 20*math.Pow(random.ExpFloat64(), power))
		}
		slices.Sort(samples)
		h := newHistogram(withinFences(samples, 1), 1)
		for _, f := range continuousFamilies {
			checkTop(t, f.name, h, f.from(h))
		}
	}
}

// checkTop compares the fit with its neighbours, at a fifth of the distribution's width.
func checkTop(t *testing.T, name string, h histogram, at func([2]float64) distribution) {
	t.Helper()
	const d = 0.2
	p := h.maximise(at)
	top := h.logLikelihood(at(p).cdf)
	for _, shift := range []float64{-d, 0, d} {
		for _, stretch := range []float64{-d, 0, d} {
			beside := [2]float64{p[0] + shift, p[1] + stretch}
			if l := h.logLikelihood(at(beside).cdf); l > top+0.01 {
				t.Errorf("%s: log-likelihood %v at %v, but %v at %v", name, top, p, l, beside)
			}
		}
	}
}
