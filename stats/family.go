package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// The families of distributions among which [BestFamily] chooses.
const (
	FamilyNormal    = "normal"
	FamilyLogNormal = "log-normal"
	FamilyGamma     = "gamma"
	FamilySteps     = "steps" // a mixture of up to four atoms, each blurred by a grain
)

// minFamilySamples is the least number of samples for a fit. A step that takes 5 % of the samples
// then occurs at least once with a probability of over 99 % (1 - 0.95^100).
const minFamilySamples = 100

// Fit is one family with the parameters that make the samples most likely.
type Fit struct {
	Family string
	// Parameters by name. normal: mean, sd. log-normal: mu, sigma (of the
	// logarithm of the sample in its unit). gamma: shape, scale. steps: atom1,
	// weight1, atom2 ... in ascending order of the atoms; the weights add up
	// to 1. Mean, sd, scale and atoms are in the unit of the samples.
	Parameters map[string]float64
	// LogLikelihood is the natural logarithm of the probability of the samples' bins. It can only be
	// compared with that of another fit of the same samples.
	LogLikelihood float64
	// BIC is Schwarz's criterion, k ln n - 2 LogLikelihood for k parameters and n samples: less is
	// better. A lead of 10 over the next family is very strong evidence (Kass and Raftery, "Bayes
	// Factors", JASA 90, 1995, section 3.2).
	BIC float64
	// N samples were fitted, Discarded samples were left out.
	N, Discarded int
}

// BestFamily returns the family of distributions that fits samples of an invocation cost best, and its
// parameters (Kuperberg 2011a, section 6, names this as future work). The samples may be in any order
// and unit. grain is the accuracy of the clock that read them, in the same unit; 0 says that they are
// continuous. all holds every family that could be fitted, best first.
//
// The rules, in turn:
//   - Let d be the distance from the 5 % to the 95 % quantile, at least one grain. Samples more
//     than 3 d outside these two quantiles are interrupts or faults, and are left out. So up to 5 %
//     of outliers on either side do no harm, and anything that takes more than 5 % of the samples is
//     part of the distribution.
//   - A sample stands for a bin one grain wide. The likelihood of a family is that of the bins, so that
//     continuous families and steps can be compared. One hundredth of every family is spread evenly
//     over the range of the bins, so that a single stray sample weighs little.
//   - The family with the least BIC is the best. Steps are a candidate only if they explain 95 % of the
//     samples, with at least 1 % on each.
//
// Families that hardly differ can't be told apart: a gamma distribution of large shape and a log-normal
// one of small sigma both look like a normal one, and anything narrower than the grain looks like a
// single step.
//
// With fewer than 100 samples the error is a [TooFewError]. Samples or a grain that are not finite, and
// a negative grain, are errors too.
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

// fitAll fits every family that can be fitted, best first. Samples that are all the same are one step;
// no other family has a finite fit to them.
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

// newFit makes a Fit; free is the number of parameters that were fitted to the samples.
func newFit(family string, parameters map[string]float64, logLikelihood float64, free, n int) Fit {
	return Fit{
		Family: family, Parameters: parameters, LogLikelihood: logLikelihood,
		BIC: float64(free)*math.Log(float64(n)) - 2*logLikelihood, N: n,
	}
}
