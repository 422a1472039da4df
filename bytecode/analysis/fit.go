package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"chronoscope/stats"
)

// Pair is an instruction that was timed in two ways.
type Pair struct {
	Name            string
	Ns, ReferenceNs float64
}

// error returns the relative difference of the time from the reference; NaN if the reference is not
// positive.
func (p Pair) error() float64 {
	if !(p.ReferenceNs > 0) {
		return math.NaN()
	}
	return math.Abs(p.Ns-p.ReferenceNs) / p.ReferenceNs
}

// Fit says how well two ways of timing agree.
type Fit struct {
	// PearsonR is the coefficient of linear correlation, equation (5) of Lambert 2008; NaN if either
	// way gives the same time for all instructions.
	PearsonR float64
	// Line is the least squares line of the reference's times over the other way's times, equation
	// (6) of Lambert 2008: a slope above 1 means that the other way's times are too short.
	Line stats.Line
	// ResidualsNs is how far the reference's time of each pair lies above the line.
	ResidualsNs []float64
	// MedianError and MaxError are the median and the largest relative difference of the times from
	// the reference, without the line; NaN if no reference is positive.
	MedianError, MaxError float64
}

// Compare fits a line to the pairs. It needs at least three different ones.
func Compare(pairs []Pair) (Fit, error) {
	x, y := make([]float64, len(pairs)), make([]float64, len(pairs))
	var errors []float64
	for i, p := range pairs {
		x[i], y[i] = p.Ns, p.ReferenceNs
		if e := p.error(); !math.IsNaN(e) {
			errors = append(errors, e)
		}
	}
	line, err := stats.LeastSquares(x, y)
	if err != nil {
		return Fit{}, fmt.Errorf("comparing two ways of timing: %w", err)
	}
	slices.Sort(errors)
	f := Fit{
		PearsonR: stat.Correlation(x, y, nil), Line: line,
		MedianError: stats.Quantile(errors, 0.5), MaxError: stats.Quantile(errors, 1),
	}
	for i := range pairs {
		f.ResidualsNs = append(f.ResidualsNs, y[i]-line.At(x[i]))
	}
	return f, nil
}

// Strays returns the pairs whose reference is above aboveNs and whose relative error exceeds share.
func Strays(pairs []Pair, aboveNs, share float64) []Pair {
	strays := slices.DeleteFunc(slices.Clone(pairs), func(p Pair) bool { return p.ReferenceNs <= aboveNs || !(p.error() > share) })
	slices.SortStableFunc(strays, func(a, b Pair) int { return cmp.Compare(b.error(), a.error()) })
	return strays
}
