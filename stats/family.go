package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// The families of distributions that [BestFamily] tells apart.
const (
	FamilyNormal    = "normal"
	FamilyLogNormal = "log-normal"
	FamilyGamma     = "gamma"
	FamilySteps     = "steps" // a mixture of up to four atoms, each blurred by a grain
)

// minFamilySamples lets a step that takes one sample in twenty show up at all
// with a chance of over 99 % (1 - 0.95^100).
const minFamilySamples = 100

// Fit is one family with the parameters that make the samples most likely.
type Fit struct {
	Family string
	// Parameters by name. normal: mean, sd. log-normal: mu, sigma (of the
	// logarithm of the sample in its unit). gamma: shape, scale. steps: atom1,
	// weight1, atom2 ... in ascending order of the atoms; the weights add up
	// to 1. Mean, sd, scale and atoms are in the unit of the samples.
	Parameters map[string]float64
	// LogLikelihood is the natural logarithm of the probability of the
	// samples' bins. It means something beside another fit of the same
	// samples only.
	LogLikelihood float64
	// BIC is Schwarz's criterion, k ln n - 2 LogLikelihood for k parameters and
	// n samples: the less the better. A lead of 10 over the next is very strong
	// evidence (Kass and Raftery, "Bayes Factors", JASA 90, 1995, section 3.2).
	BIC float64
	// N samples were fitted, Discarded were beyond the fences.
	N, Discarded int
}

// BestFamily tells which family of distributions fits samples of an invocation
// cost best, and with which parameters: the future work of Kuperberg 2011a,
// section 6. The samples may be in any order and unit; they were read in steps
// of grain, in the same unit, the clock's accuracy; 0 says that they are
// continuous. all holds every family that could be fitted, best first.
//
// The rules, in turn:
//   - Samples further than three times the distance from the 5 % to the 95 %
//     quantile (at least one grain) beyond either of the two are interrupts or
//     faults, and are left out. So outliers are harmless up to 5 % to a side,
//     and whatever takes more than 5 % is part of the distribution.
//   - A sample stands for a bin one grain wide. A family's likelihood is that of
//     the bins, so that continuous families and steps can be compared. One
//     hundredth of every family is spread evenly over the bins' range: a stray
//     sample within the fences then weighs little.
//   - The family with the least BIC is the best. Steps are a candidate only
//     where they explain 95 % of the samples, with at least 1 % on each.
//
// It can't tell families apart where they hardly differ: a gamma of large shape
// and a log-normal of small sigma from a normal, or anything narrower than the
// grain from one step.
//
// Fewer than 100 samples give a [TooFewError]; samples or a grain that are not
// finite, or a negative grain, are refused.
func BestFamily(samples []float64, grain float64) (best Fit, all []Fit, err error) {
	if len(samples) < minFamilySamples {
		return Fit{}, nil, &TooFewError{Want: "a family of distributions", Have: len(samples), Need: minFamilySamples}
	}
	if err := checkFinite("samples", samples); err != nil {
		return Fit{}, nil, err
	}
	if !(grain >= 0) || math.IsInf(grain, 1) {
		return Fit{}, nil, fmt.Errorf("stats: a grain of %v: give the step of the samples, or 0 for continuous ones", grain)
	}
	kept := withinFences(slices.Sorted(slices.Values(samples)), grain)
	h := newHistogram(kept, grain)
	all = fitAll(h)
	for i := range all {
		all[i].Discarded = len(samples) - len(kept)
	}
	return all[0], all, nil
}

// fitAll fits every family that has a chance, best first. Samples that are all
// the same are one step, and no other family has a finite fit.
func fitAll(h histogram) []Fit {
	var fits []Fit
	if steps, ok := fitSteps(h); ok {
		fits = append(fits, steps)
	}
	if len(h.cells) > 1 {
		for _, family := range continuousFamilies {
			fits = append(fits, family.fit(h))
		}
	}
	slices.SortStableFunc(fits, func(a, b Fit) int { return cmp.Compare(a.BIC, b.BIC) })
	return fits
}

// newFit puts a fit together; free parameters were chosen to suit the samples.
func newFit(family string, parameters map[string]float64, logLikelihood float64, free, n int) Fit {
	return Fit{
		Family: family, Parameters: parameters, LogLikelihood: logLikelihood,
		BIC: float64(free)*math.Log(float64(n)) - 2*logLikelihood, N: n,
	}
}
