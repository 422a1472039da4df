package changepoint

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"chronoscope/stats"
)

// Find looks for changes in a series whose P value does not exceed a limit, usually [FalseChanges]. It
// always returns the same result for the same series. It panics if a value is not finite: leave such points out.
func Find(points []Point, most float64) Result {
	finite(points)
	n := len(points)
	if n == 0 {
		return Result{}
	}
	out := outliers(points)
	found := explanations(points, out)
	best := found[0]
	ends := slices.Clone(best.ends)
	var values []float64
	known := map[[3]int]float64{}
	for len(ends) > 1 {
		values = pValues(found, points, out, ends, most, known)
		worst := floats.MaxIdx(values)
		if values[worst] <= most {
			break
		}
		ends = slices.Delete(ends, worst, worst+1)
	}
	settle(points, out, ends)
	return result(found, points, out, ends, values)
}

// finite panics if a value is NaN or infinite, which would hide every change in the series.
func finite(points []Point) {
	for i, p := range points {
		if !stats.IsFinite(p.Value) {
			panic(fmt.Sprintf("changepoint: the value of point %d is %v: leave out what is not a finite number", i, p.Value))
		}
	}
}

// settle assigns outliers right at a change to the regime whose typical value is nearer. Next to a
// step, a point has few neighbours of its own regime, so that it may look like an outlier.
func settle(points []Point, out []bool, ends []int) {
	typical := func(start, end int) float64 {
		var values []float64
		for i := start; i < end; i++ {
			if !out[i] {
				values = append(values, points[i].Value)
			}
		}
		return stats.Median(values)
	}
	start := 0
	for i := range len(ends) - 1 {
		at, end := ends[i], ends[i+1]
		before, after := typical(start, at), typical(at, end)
		isBefore := func(i int) bool { return math.Abs(points[i].Value-before) < math.Abs(points[i].Value-after) }
		for at+1 < end && out[at] && isBefore(at) {
			at++
		}
		for at-1 > start && out[at-1] && !isBefore(at-1) {
			at--
		}
		ends[i], start = at, at
	}
}

// explanation is a shape of the noise together with the regimes that fit it best.
type explanation struct {
	whitened
	ends     []int
	variance float64 // of the innovations, as a multiple of prior
	prior    float64 // the variance that was passed to the filter
	// likelihood is the logarithm of the likelihood, minus a penalty for each change.
	likelihood float64
}

// plausible is the largest difference of the likelihood of a plausible explanation from that of the
// best one: half of the 99.8 % quantile of the chi-squared distribution with two degrees of freedom.
const plausible = 6

// explanations returns the plausible explanations, the best one first.
func explanations(points []Point, out []bool) []explanation {
	variance := varianceOf(points, out)
	all := make([]explanation, 0, len(shapes))
	for _, s := range shapes {
		all = append(all, explain(whiten(points, out, s, variance), variance))
		if len(points) < FewestPoints {
			break // too few points to tell shapes apart
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].likelihood > all[j].likelihood })
	for i, e := range all {
		if e.likelihood < all[0].likelihood-plausible {
			return all[:i]
		}
	}
	return all
}

// varianceOf returns a first estimate of the variance of the noise without that of the measurements.
// It uses the differences of neighbours, because steps affect only a few of them.
func varianceOf(points []Point, out []bool) float64 {
	var differences, known []float64
	for i := 1; i < len(points); i++ {
		if !out[i] && !out[i-1] {
			differences = append(differences, points[i].Value-points[i-1].Value)
			known = append(known, points[i].StandardError*points[i].StandardError)
		}
	}
	if len(differences) == 0 {
		return 1
	}
	scale := stats.DeviationOfMAD * stats.MAD(append(differences, 0))
	measured := stats.Median(known)
	if v := scale*scale/2 - measured; v > 0 {
		return v
	}
	if measured > 0 {
		return measured / 100
	}
	return 1e-24 // the series is constant except for a few points
}

// explain finds the regimes that fit a shape of the noise best.
func explain(w whitened, prior float64) explanation {
	e := explanation{whitened: w, prior: prior}
	var steps []float64
	for i := 1; i < len(w.innovations); i++ {
		if w.responses[i] != 0 && w.responses[i-1] != 0 {
			steps = append(steps, w.innovations[i]-w.innovations[i-1])
		}
	}
	e.variance = 1
	if len(steps) > 2 {
		scale := stats.DeviationOfMAD * stats.MAD(steps) / math.Sqrt2
		e.variance = math.Max(scale*scale, 1e-12)
	}
	penalty := 2*math.Log(float64(max(w.used, 2))) + 5
	for range 2 { // the second time with the variance that the regimes leave
		e.ends = w.partition(penalty * e.variance)
		sum := 0.0
		for _, r := range w.residuals(e.ends) {
			sum += r * r
		}
		e.variance = math.Max(sum/math.Max(1, float64(w.used-len(e.ends))), 1e-12)
	}
	e.likelihood = -float64(w.used)/2*math.Log(e.variance) - w.logVariance/2 - float64(len(e.ends)-1)*penalty/2 - w.parameters()*math.Log(float64(max(w.used, 2)))/2
	return e
}

// freedom returns the degrees of freedom of the variance if the given number of levels were estimated.
func (e explanation) freedom(levels int) float64 {
	return math.Max(1, e.equivalent-float64(levels))
}

// pValues returns the P values of the changes between the regimes. Those in known are not computed
// again.
func pValues(found []explanation, points []Point, out []bool, ends []int, most float64, known map[[3]int]float64) []float64 {
	values := make([]float64, len(ends)-1)
	start := 0
	for i := range values {
		place := [3]int{start, ends[i], ends[i+1]}
		p, is := known[place]
		if !is {
			p = greatestPValue(found, points, out, place, len(ends), most)
			known[place] = p
		}
		values[i], start = p, ends[i]
	}
	return values
}

// greatestPValue returns the greatest P value of a change between two regimes over all plausible
// explanations. It stops at the first P value above the limit most.
func greatestPValue(found []explanation, points []Point, out []bool, place [3]int, levels int, most float64) (greatest float64) {
	start, at, end := place[0], place[1], place[2]
	for _, e := range found {
		p := e.clipped(points[start:end], out[start:end]).pValue(at-start, e.freedom(levels))
		// The stretch was chosen among those of its length, len(points)/(end-start) of them.
		p = math.Min(1, p*float64(len(points))/float64(end-start))
		if greatest = math.Max(greatest, p); greatest > most {
			break
		}
	}
	return greatest
}

const (
	permutations = 499
	// tailShare is the share of the permutations from which the tail of their distribution is
	// extrapolated.
	tailShare = 0.2
)

// clipLimit limits how far a point may lie from the median, in standard deviations, so that a few
// points far away do not look like a regime.
const clipLimit = 3

// clipped returns the explanation of a stretch of the series, with each point moved to within
// clipLimit of the median.
func (e explanation) clipped(points []Point, out []bool) explanation {
	var values []float64
	for i, p := range points {
		if !out[i] {
			values = append(values, p.Value)
		}
	}
	middle := stats.Median(values)
	near := make([]Point, len(points))
	for i, p := range points {
		limit := clipLimit * math.Sqrt((e.prior+p.StandardError*p.StandardError)*e.variance)
		near[i] = Point{math.Max(middle-limit, math.Min(middle+limit, p.Value)), p.StandardError}
	}
	e.whitened = whiten(near, out, e.shape, e.prior)
	return e
}

// pValue returns the probability that noise makes a change in the series that is as strong as the one
// at the given place. It permutes the innovations many times and records the strongest change of each
// permutation. The tail of the square of that strength falls exponentially, so probabilities below
// one in the number of permutations are extrapolated.
func (e explanation) pValue(at int, freedom float64) float64 {
	end := len(e.innovations)
	strength := e.gain(0, at) + e.gain(at, end) - e.gain(0, end)
	strength = math.Pow(normalOf(math.Sqrt(strength/e.variance), freedom), 2)
	if strength < 9 { // chance reaches this in a few percent of all series
		return 1
	}
	var residuals, responses []float64
	total := 0.0
	for i, r := range e.residuals([]int{end}) {
		if e.responses[i] != 0 {
			residuals, responses = append(residuals, r), append(responses, e.responses[i])
			total += r * r
		}
	}
	n := len(residuals)
	if n < FewestPoints {
		return 1
	}
	random := rand.New(rand.NewPCG(uint64(n), uint64(at)))
	dealt := make([]float64, permutations)
	for i := range dealt {
		random.Shuffle(n, func(a, b int) { residuals[a], residuals[b] = residuals[b], residuals[a] })
		dealt[i] = strongest(residuals, responses) / (total / float64(n-1))
	}
	slices.Sort(dealt)
	return tail(dealt, strength)
}

// strongest returns the greatest reduction of the sum of squares by a change at any place.
func strongest(residuals, responses []float64) float64 {
	total, weight := 0.0, 0.0
	for i, r := range residuals {
		total += r * responses[i]
		weight += responses[i] * responses[i]
	}
	most, score, before := 0.0, 0.0, 0.0
	whole := total * total / weight
	for i := range len(residuals) - ShortestRegime {
		score += residuals[i] * responses[i]
		before += responses[i] * responses[i]
		if i+1 < ShortestRegime {
			continue
		}
		rest := total - score
		most = math.Max(most, score*score/before+rest*rest/(weight-before)-whole)
	}
	return most
}

// tail estimates the probability of values above x from sorted draws of a distribution. It assumes
// that the distribution falls exponentially above most of the draws.
func tail(sorted []float64, x float64) float64 {
	from := int(float64(len(sorted)) * (1 - tailShare))
	threshold := sorted[from]
	if x <= threshold {
		return float64(len(sorted)-sort.SearchFloat64s(sorted, x)+1) / float64(len(sorted)+1)
	}
	excess := 0.0
	for _, d := range sorted[from:] {
		excess += d - threshold
	}
	excess /= float64(len(sorted) - from)
	// The square of a normal variable has a mean excess of at least 2.
	return tailShare * math.Exp(-(x-threshold)/math.Max(excess, 2))
}

// normalOf returns the value of a standard normal variable that has the same tail probability as t
// has in Student's distribution with the given degrees of freedom (Wallace, "Bounds on Normal
// Approximations to Student's and the Chi-Square Distributions", Annals of Mathematical Statistics
// 30, 1959).
func normalOf(t, freedom float64) float64 {
	return (8*freedom + 1) / (8*freedom + 3) * math.Sqrt(freedom*math.Log1p(t*t/freedom))
}

// result describes regimes and changes by the best explanation. The standard error of each level is
// the greatest over all plausible explanations.
func result(found []explanation, points []Point, out []bool, ends []int, values []float64) Result {
	e := found[0]
	r := Result{Noise: Noise{
		StandardDeviation: math.Sqrt(e.prior * e.variance), LastingShare: e.lasting, Correlation: e.correlation,
		EquivalentPoints: e.equivalent,
	}}
	for i, is := range out {
		if is {
			r.Outliers = append(r.Outliers, i)
		}
	}
	start := 0
	for _, end := range ends {
		regime := Regime{Start: start, End: end, Level: points[0].Value}
		if e.weights[end] > e.weights[start] {
			regime.Level += e.level(start, end)
		}
		for _, other := range found {
			regime.StandardError = math.Max(regime.StandardError, math.Sqrt(other.winsorized()/(other.weights[end]-other.weights[start])))
		}
		r.Regimes = append(r.Regimes, regime)
		start = end
	}
	for i := range len(ends) - 1 {
		before, after := r.Regimes[i], r.Regimes[i+1]
		c := Change{At: ends[i], PValue: values[i]}
		c.First, c.Last = e.places(before.Start, c.At, after.End)
		shift := after.Level - before.Level
		half := e.quantile(len(ends)) * math.Hypot(before.StandardError, after.StandardError)
		c.Shift = stats.Estimate{Value: shift, Lo: shift - half, Hi: shift + half, Statistic: "difference of levels", N: after.End - before.Start}
		r.Changes = append(r.Changes, c)
	}
	return r
}

// winsorized returns the variance for the standard errors of levels. It comes from the sum of squares in which each
// outlier counts as if it lay at the limit beyond which points are outliers. That sum is divided by the number of
// points that are not outliers, since a level is the mean of these: a trimmed mean (Tukey and McLaughlin, "Less
// vulnerable confidence and significance procedures for location based on a single sample", 1963).
func (e explanation) winsorized() float64 {
	all, used := float64(len(e.innovations)), float64(e.used)
	return e.variance * (used + (all-used)*outlierLimit*outlierLimit) / used
}

// quantile returns Student's quantile for two-sided intervals if the given number of levels were
// estimated.
func (e explanation) quantile(levels int) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: e.freedom(levels)}.Quantile(0.5 + stats.Confidence/2)
}

// places returns the first and the last place at which a change lies with a probability of 95 %. It
// assumes that all places are equally probable beforehand, and for each place it takes the levels on
// both sides that fit best.
func (e explanation) places(start, at, end int) (first, last int) {
	probability := make([]float64, end-start)
	total := 0.0
	top := e.gain(start, at) + e.gain(at, end)
	for k := start + 1; k < end; k++ {
		probability[k-start] = math.Exp((e.gain(start, k) + e.gain(k, end) - top) / 2 / e.variance)
		total += probability[k-start]
	}
	first, last = at, at
	for held := probability[at-start]; held < stats.Confidence*total; {
		left, right := 0.0, 0.0
		if first-1 > start {
			left = probability[first-1-start]
		}
		if last+1 < end {
			right = probability[last+1-start]
		}
		if left == 0 && right == 0 {
			break
		}
		if left >= right {
			first--
			held += left
		} else {
			last++
			held += right
		}
	}
	return first, last
}
