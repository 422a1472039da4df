package changepoint

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"chronoscope/stats"
)

// Tip compares the newest points of a series with the regime before them.
type Tip struct {
	// Newest is the number of newest points.
	Newest int
	// Shift is the level of the newest points minus that of the regime. Its interval includes the
	// variation from one measurement to the next.
	Shift stats.Estimate
	// PValue is the probability of such a shift, up or down, if nothing changed.
	PValue float64
	Regime Regime
}

// FalseTips is the P value below which the newest points of a series count as different: with one
// commit a day, that happens in 1 % of unchanged series per month.
const FalseTips = 0.01 / 30

// FewestBefore is the least number of points that a regime needs so that other points can be compared
// with it.
const FewestBefore = 4

// TipOf compares the newest points with the regime in which the points before them end. It returns false
// if there are fewer than [FewestBefore] points before them.
func TipOf(points []Point, newest int) (Tip, bool) {
	n := len(points) - newest
	if newest < 1 || n < FewestBefore {
		return Tip{}, false
	}
	before := Find(points[:n], FalseChanges)
	t := Tip{Newest: newest, Regime: before.Regimes[len(before.Regimes)-1]}
	if t.Regime.End-t.Regime.Start < FewestBefore {
		return Tip{}, false
	}
	mean, error2 := before.Noise.meanOf(points[n:])
	error2 += t.Regime.StandardError * t.Regime.StandardError
	freedom := math.Max(1, before.Noise.EquivalentPoints-float64(len(before.Regimes)))
	student := distuv.StudentsT{Sigma: 1, Nu: freedom}
	shift := mean - t.Regime.Level
	deviation := math.Sqrt(error2)
	t.PValue = 2 * student.Survival(math.Abs(shift)/deviation)
	// The noise does not include outliers, but the newest points are as likely to be outliers as the
	// others were.
	if often := before.outliersAsFar(points, newest, shift); often > t.PValue {
		t.PValue = often
		deviation = math.Max(deviation, math.Abs(shift)/student.Quantile(1-often/2))
	}
	half := student.Quantile(0.5+stats.Confidence/2) * deviation
	t.Shift = stats.Estimate{Value: shift, Lo: shift - half, Hi: shift + half, Statistic: "difference of levels", N: int(freedom) + 1}
	return t, true
}

// meanOf returns the weighted mean of a few successive points, and its variance. The lasting part of the noise is about
// the same in all of them and does not average out. The other part does, as does the error of the measurements.
func (n Noise) meanOf(points []Point) (mean, variance float64) {
	all := n.StandardDeviation * n.StandardDeviation
	sum, weight, independent := 0.0, 0.0, 0.0
	for _, p := range points {
		measured := p.StandardError * p.StandardError
		w := 1 / (all + measured)
		sum += w * p.Value
		weight += w
		independent += w * w * ((1-n.LastingShare)*all + measured)
	}
	return sum / weight, independent/(weight*weight) + n.LastingShare*all
}

// outliersAsFar returns the share of places in the last regime at which the mean of row successive
// points lies at least half of the shift off the level. Points that are no outliers count as lying on
// the level.
func (r Result) outliersAsFar(points []Point, row int, shift float64) float64 {
	last := r.Regimes[len(r.Regimes)-1]
	off := make([]float64, last.End-last.Start)
	for _, i := range r.Outliers {
		if i >= last.Start {
			off[i-last.Start] = points[i].Value - last.Level
		}
	}
	places, far, sum := max(1, len(off)-row+1), 0, 0.0
	for i, o := range off {
		sum += o
		if i >= row {
			sum -= off[i-row]
		}
		if i >= row-1 && sum != 0 && math.Abs(sum) >= float64(row)*math.Abs(shift)/2 {
			far++
		}
	}
	return float64(far) / float64(places)
}
