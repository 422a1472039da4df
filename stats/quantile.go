package stats

import (
	"math"
	"slices"
)

// Quantile returns the p-quantile of samples in ascending order, in their unit, by linear interpolation
// between the order statistics around rank (n-1)p (counted from 0). It is NaN if there are no samples,
// or if p is not between 0 and 1.
//
// Hyndman and Fan ("Sample Quantiles in Statistical Packages", The American Statistician 50, 1996) list
// nine definitions; this is their number 7, the default of R and NumPy. By number 4, gonum's LinInterp,
// the median of an even number of samples would be the lower one of the middle two.
func Quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 || !(p >= 0 && p <= 1) {
		return math.NaN()
	}
	rank := p * float64(len(sorted)-1)
	below := int(rank)
	share := rank - float64(below)
	if share == 0 { // the next one may be infinite, or missing
		return sorted[below]
	}
	return sorted[below] + share*(sorted[below+1]-sorted[below])
}

// Median returns the middle one of samples in any order, in their unit, or the mean of the middle two if
// their number is even. It is NaN if there are no samples.
func Median(samples []float64) float64 { return QuantileOf(samples, 0.5) }

// QuantileOf returns the p-quantile of samples in any order, as [Quantile] defines it.
func QuantileOf(samples []float64, p float64) float64 {
	return Quantile(slices.Sorted(slices.Values(samples)), p)
}

// Each returns a number of each element, in their order.
func Each[T any](all []T, of func(T) float64) []float64 {
	numbers := make([]float64, len(all))
	for i, one := range all {
		numbers[i] = of(one)
	}
	return numbers
}

// DeviationOfMAD is the ratio of the standard deviation of a normal distribution to its [MAD].
const DeviationOfMAD = 1.4826

// MAD returns the median absolute deviation from the median, in the unit of the samples, which may be in
// any order. It is not scaled by [DeviationOfMAD]; R's mad is. It is NaN if there are no samples.
func MAD(samples []float64) float64 {
	median := Median(samples)
	return Median(Each(samples, func(x float64) float64 { return math.Abs(x - median) }))
}

// Thinned returns at most limit of the values, but at least one, evenly spaced; all values if there are no more.
func Thinned[T any](values []T, limit int) []T {
	stride := 1 + (len(values)-1)/max(1, limit)
	if stride == 1 {
		return values
	}
	var kept []T
	for i := 0; i < len(values); i += stride {
		kept = append(kept, values[i])
	}
	return kept
}
