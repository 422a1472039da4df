package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A continuousFamily has two parameters, relative to the starting point of the fit. shift moves
// the distribution by multiples of its width, and stretch is the logarithm of a factor of its
// width. For both, 1 is a large step.
type continuousFamily struct {
	name string
	at   func(s start, shift, stretch float64) distribution
}

type distribution struct {
	cdf        func(x float64) float64
	parameters map[string]float64
}

var continuousFamilies = []continuousFamily{
	{FamilyNormal, normalAt},
	{FamilyLogNormal, logNormalAt},
	{FamilyGamma, gammaAt},
}

func normalAt(s start, shift, stretch float64) distribution {
	width := (s.high - s.low) / 2
	d := distuv.Normal{Mu: s.median + shift*width, Sigma: width * math.Exp(stretch)}
	return distribution{d.CDF, map[string]float64{"mean": d.Mu, "sd": d.Sigma}}
}

func logNormalAt(s start, shift, stretch float64) distribution {
	width := math.Log(s.high/s.low) / 2
	d := distuv.LogNormal{Mu: math.Log(s.median) + shift*width, Sigma: width * math.Exp(stretch)}
	cdf := func(x float64) float64 {
		if x <= 0 {
			return 0
		}
		return d.CDF(x)
	}
	return distribution{cdf, map[string]float64{"mu": d.Mu, "sigma": d.Sigma}}
}

// gammaAt varies the mean and the shape, since their estimates are independent. The estimates of scale and
// shape are not.
func gammaAt(s start, shift, stretch float64) distribution {
	cv := (s.high - s.low) / 2 / s.median
	mean := s.median * math.Exp(shift*cv)
	shape := math.Exp(-2*stretch) / (cv * cv)
	d := distuv.Gamma{Alpha: shape, Beta: shape / mean}
	return distribution{d.CDF, map[string]float64{"shape": shape, "scale": mean / shape}}
}

// fit returns the fit with the parameters of greatest likelihood.
func (f continuousFamily) fit(h histogram) Fit {
	at := f.from(h)
	d := at(h.maximise(at))
	return newFit(f.name, d.parameters, h.logLikelihood(d.cdf), 2, h.n)
}

// from returns the family's distributions as a function of the two parameters.
func (f continuousFamily) from(h histogram) func(p [2]float64) distribution {
	s := h.start.spreadOut(h.grain)
	if f.name != FamilyNormal {
		s = s.positive(h.grain)
	}
	return func(p [2]float64) distribution { return f.at(s, p[0], p[1]) }
}

// spreadOut widens a start that has no width, which happens if most samples are equal.
func (s start) spreadOut(grain float64) start {
	s.low = math.Min(s.low, s.median-grain/4)
	s.high = math.Max(s.high, s.median+grain/4)
	return s
}

// positive returns a start whose values are all above zero, as the distributions of positive
// quantities require.
func (s start) positive(grain float64) start {
	return start{
		low:    math.Max(s.low, grain/8),
		median: math.Max(s.median, grain/4),
		high:   math.Max(s.high, grain/2),
	}
}
