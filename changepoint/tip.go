package changepoint

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
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
//
// If more than half of several newest points agree, the others are strays and are left out; PValue is at least the
// probability that these are right and the points that agree are strays. If fewer agree, the interval holds the scatter of
// the newest points, from which alone its degrees of freedom come. The part of the noise that does not last counts as independent
// from point to point: newest points that were measured one after the other may share it, and the interval is too narrow then.
//
// It panics if a value is not finite, as [Find] does.
func TipOf(points []Point, newest int) (Tip, bool) {
	finite(points)
	n := len(points) - newest
	if newest < 1 || n < FewestBefore {
		return Tip{}, false
	}
	before := Find(points[:n], FalseChanges)
	t := Tip{Newest: newest, Regime: before.Regimes[len(before.Regimes)-1]}
	if t.Regime.End-t.Regime.Start < FewestBefore {
		return Tip{}, false
	}
	freedom := math.Max(1, before.Noise.EquivalentPoints-float64(len(before.Regimes)))
	apart := mostApart(newest, freedom)
	judged, agree := before.Noise.judged(points[n:], apart)
	mean, error2 := before.Noise.meanOf(judged)
	if !agree {
		error2 = math.Max(error2, before.Noise.scatterOf(judged, mean))
		freedom = math.Min(freedom, float64(newest-1))
	}
	error2 += t.Regime.StandardError * t.Regime.StandardError
	student := distuv.StudentsT{Sigma: 1, Nu: freedom}
	shift := mean - t.Regime.Level
	deviation := math.Sqrt(error2)
	t.PValue = 2 * student.Survival(math.Abs(shift)/deviation)
	// The noise does not include outliers, but the newest points are as likely to be outliers as the
	// others were.
	often := math.Max(before.outliersAsFar(points, newest, apart, agree, shift), before.straysAgree(t.Regime, newest, len(judged)))
	if often > t.PValue {
		t.PValue = often
		deviation = math.Max(deviation, math.Abs(shift)/student.Quantile(1-often/2))
	}
	half := student.Quantile(0.5+stats.Confidence/2) * deviation
	t.Shift = stats.Estimate{Value: shift, Lo: shift - half, Hi: shift + half, Statistic: "difference of levels", N: int(freedom) + 1}
	return t, true
}

// mostApart returns by how many standard deviations of their difference two of some points that agree may differ. Without
// strays, all points agree with the probability that a point is no outlier. freedom is that of the variance.
func mostApart(points int, freedom float64) float64 {
	pairs := max(1, points*(points-1)/2)
	return distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(1 - distuv.UnitNormal.Survival(outlierLimit)/float64(pairs))
}

// judged returns the largest group of points that agree, and true, if it has more than half of the points. Otherwise it
// returns all points, and false.
func (n Noise) judged(points []Point, apart float64) (group []Point, agree bool) {
	sorted := slices.Clone(points)
	slices.SortFunc(sorted, func(a, b Point) int { return cmp.Compare(a.Value, b.Value) })
	variance := func(p Point) float64 {
		return n.StandardDeviation*n.StandardDeviation + p.StandardError*p.StandardError
	}
	for i, low := range sorted {
		end := i + 1
		for end < len(sorted) && sorted[end].Value-low.Value <= apart*math.Sqrt(variance(low)+variance(sorted[end])) {
			end++
		}
		if end-i > len(group) {
			group = sorted[i:end]
		}
	}
	if 2*len(group) > len(points) {
		return group, true
	}
	return points, false
}

// scatterOf returns the variance of the weighted mean of points as it follows from how they differ (Birge, "The
// Calculation of Errors by the Method of Least Squares", 1932), and from the lasting part of the noise, in which they don't.
func (n Noise) scatterOf(points []Point, mean float64) float64 {
	squares, weight := 0.0, 0.0
	for _, p := range points {
		w := 1 / (n.StandardDeviation*n.StandardDeviation + p.StandardError*p.StandardError)
		squares += w * (p.Value - mean) * (p.Value - mean)
		weight += w
	}
	return squares/float64(len(points)-1)/weight + n.LastingShare*n.StandardDeviation*n.StandardDeviation
}

// straysAgree returns the probability that as many of the newest points as agree are strays, if any other is taken for a
// stray: points are strays as often as in the regime and among the newest points together.
func (r Result) straysAgree(regime Regime, newest, agree int) float64 {
	if agree == newest {
		return 0
	}
	strays := newest - agree
	for _, i := range r.Outliers {
		if i >= regime.Start {
			strays++
		}
	}
	share := float64(strays) / float64(regime.End-regime.Start+newest)
	return math.Min(1, combin.GeneralizedBinomial(float64(newest), float64(agree))*math.Pow(share, float64(agree)))
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

// outliersAsFar returns the share of places in the last regime at which row successive points would be judged as the newest
// ones are, which agree or not, and their mean lies at least half of the shift off the level. Points that are no outliers
// count as lying on the level.
func (r Result) outliersAsFar(points []Point, row int, apart float64, agree bool, shift float64) float64 {
	last := r.Regimes[len(r.Regimes)-1]
	off := make([]Point, last.End-last.Start)
	for i := range off {
		off[i].StandardError = points[last.Start+i].StandardError
	}
	for _, i := range r.Outliers {
		if i >= last.Start {
			off[i-last.Start].Value = points[i].Value - last.Level
		}
	}
	places, far := max(1, len(off)-row+1), 0
	for i := row; i <= len(off); i++ {
		judged, agrees := r.Noise.judged(off[i-row:i], apart)
		if mean, _ := r.Noise.meanOf(judged); agrees == agree && mean != 0 && math.Abs(mean) >= math.Abs(shift)/2 {
			far++
		}
	}
	return float64(far) / float64(places)
}
