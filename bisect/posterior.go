package bisect

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// point is a measured commit.
type point struct {
	commit int
	// centre is the logarithm of its time divided by that of the good end, error the standard error of centre
	// by its pairs, and freedom the degrees of freedom of error.
	centre, error, freedom float64
	// layouts and scatter are those of [Pairs].
	layouts int
	scatter float64
	// exact says that the centre does not depend on a place in memory: that of the good end, if each commit is compared with
	// it in layouts of its own.
	exact bool
}

// placedBy returns the deviation of the point's centre if builds of the same code deviate by this.
func (p point) placedBy(deviation float64) float64 {
	if p.exact {
		return 0
	}
	return deviation / math.Sqrt(math.Max(1, float64(p.layouts)))
}

// scatters returns the logarithm of the likelihood of the scatter between the layouts, if builds of the same code deviate by
// this: the layouts' variance has a chi-squared distribution.
func (p point) scatters(deviation float64) float64 {
	if p.layouts < 2 {
		return 0
	}
	freedom := float64(p.layouts - 1)
	each := deviation*deviation + float64(p.layouts)*p.error*p.error // the pairs scatter, too
	return distuv.ChiSquared{K: freedom}.LogProb(math.Max(tiniest, freedom*p.scatter*p.scatter/each)) - math.Log(each)
}

// tiniest stands for a scatter of 0: the likelihood of any deviation would be infinite.
const tiniest = 1e-9

// The prior of the model.
const (
	// stepsExpected is how many steps a history has on average, before the ends are known to differ.
	stepsExpected = 0.25
	// wrongShare is the share of the commits whose measured time has nothing to do with their code.
	wrongShare = 0.01
	// levelsTried is the number of levels over which the likelihood of a stretch is summed.
	levelsTried = 256
)

// placements are standard deviations, with their prior probabilities, of the logarithms of ratios between
// builds of the same code, which lies at another address in each. The deviation is taken to be the same for all commits. 3 %
// is that of bad benchmarks (4 % from placement alone; Mytkowicz et al., Producing Wrong Data Without Doing Anything
// Obviously Wrong, ASPLOS 2009); 10 % is for those that are worse.
var placements = []struct{ deviation, probability float64 }{{0.001, 0.35}, {0.003, 0.3}, {0.01, 0.25}, {0.03, 0.08}, {0.1, 0.02}}

// stepProbabilities returns, for each gap between two successive points, the probability that there is a step
// in it, given that there is a step at all. The first point is the good end.
func stepProbabilities(points []point) []float64 {
	m := newModel(points)
	all := make([]float64, len(points)-1)
	var evidence []float64
	var each [][]float64
	for _, p := range placements {
		probabilities, weight := m.steps(p.deviation)
		weight += math.Log(p.probability)
		for _, measured := range points {
			weight += measured.scatters(p.deviation)
		}
		each, evidence = append(each, probabilities), append(evidence, weight)
	}
	total := floats.LogSumExp(evidence)
	for i, probabilities := range each {
		floats.AddScaled(all, math.Exp(evidence[i]-total), probabilities)
	}
	for i, p := range all {
		all[i] = math.Min(p, 1) // rounding makes it 1 + 4e-16
	}
	return all
}

// atMost returns the probability that the commit, in the mean of all layouts, takes at most limit times as long as the good
// end. The point has layouts.
func (p point) atMost(limit float64) (probability float64) {
	var weights, each []float64
	for _, d := range placements {
		weights = append(weights, math.Log(d.probability)+p.scatters(d.deviation))
		each = append(each, distuv.UnitNormal.Survival((p.centre-math.Log(limit))/math.Hypot(p.error, p.placedBy(d.deviation))))
	}
	total := floats.LogSumExp(weights)
	for i, w := range weights {
		probability += math.Exp(w-total) * each[i]
	}
	return probability
}

// model holds the points and the levels that they may have.
type model struct {
	points []point
	levels []float64
	// step is the logarithm of the prior probability that a gap holds a step, stay that of no step.
	step, stay []float64
}

func newModel(points []point) model {
	m := model{points: points, levels: make([]float64, levelsTried)}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		lo, hi = math.Min(lo, p.centre-4*p.error), math.Max(hi, p.centre+4*p.error)
	}
	margin := placements[0].deviation
	floats.Span(m.levels, lo-margin, hi+margin)
	commits := points[len(points)-1].commit - points[0].commit
	each := math.Log1p(-stepsExpected / math.Max(1, float64(commits)))
	for i, p := range points[1:] {
		none := each * float64(p.commit-points[i].commit)
		m.stay, m.step = append(m.stay, none), append(m.step, math.Log(-math.Expm1(none)))
	}
	return m
}

// steps returns the probability of a step in each gap if builds differ by this deviation, and the logarithm of the
// evidence. before[i] is the logarithm of the likelihood of the points up to i, summed over all choices of steps among
// them, and after[i] that of the points from i on.
func (m model) steps(deviation float64) (probabilities []float64, evidence float64) {
	n := len(m.points)
	stretch := m.stretches(deviation)
	before, after := make([]float64, n), make([]float64, n+1)
	for b := range n {
		var ways []float64
		for a := 0; a <= b; a++ {
			way := stretch[a][b]
			if a > 0 {
				way += before[a-1] + m.step[a-1]
			}
			ways = append(ways, way)
		}
		before[b] = floats.LogSumExp(ways)
	}
	for a := n - 1; a >= 0; a-- {
		var ways []float64
		for b := a; b < n; b++ {
			way := stretch[a][b]
			if b < n-1 {
				way += m.step[b] + after[b+1]
			}
			ways = append(ways, way)
		}
		after[a] = floats.LogSumExp(ways)
	}
	none := stretch[0][n-1] // excluded: the ends differ, so that there is a step
	evidence = before[n-1] + math.Log1p(-math.Exp(none-before[n-1]))
	for g := range n - 1 {
		probabilities = append(probabilities, math.Exp(before[g]+m.step[g]+after[g+1]-evidence))
	}
	return probabilities, evidence
}

// stretches returns, at [a][b], the logarithm of the likelihood of points a to b if no step lies between them: the mean
// over the levels, multiplied by the prior probability that none of these gaps holds a step. deviation is that of
// ratios between builds of the same code.
func (m model) stretches(deviation float64) [][]float64 {
	density := make([][]float64, len(m.points))
	for i, p := range m.points {
		wrong := wrongShare
		if i == 0 || i == len(m.points)-1 { // the user vouches for both ends
			wrong = 0
		}
		density[i] = m.density(p, deviation, wrong)
	}
	all := make([][]float64, len(m.points))
	for a := range m.points {
		all[a] = make([]float64, len(m.points))
		product, scale := make([]float64, len(m.levels)), 0.
		floats.AddConst(1, product)
		for b := a; b < len(m.points); b++ {
			floats.Mul(product, density[b])
			if b > a {
				scale += m.stay[b-1]
			}
			most := floats.Max(product)
			if most == 0 { // no level suits both, and a float64 holds no smaller probability
				all[a][b] = math.Inf(-1)
				continue
			}
			floats.Scale(1/most, product)
			scale += math.Log(most)
			all[a][b] = scale + math.Log(floats.Sum(product)/float64(len(product)))
		}
	}
	return all
}

// density returns the probability density of a point at each level. With probability wrong the point's time has
// nothing to do with its code: then all levels are equally probable.
func (m model) density(p point, deviation, wrong float64) []float64 {
	span := m.levels[len(m.levels)-1] - m.levels[0]
	spacing := span / float64(len(m.levels)-1)
	sigma := math.Max(spacing, math.Hypot(p.error, p.placedBy(deviation)))
	highest := distuv.StudentsT{Sigma: sigma, Nu: p.freedom}.Prob(0)
	all := make([]float64, len(m.levels))
	for i, level := range m.levels {
		x := (level - p.centre) / sigma
		all[i] = (1-wrong)*highest*math.Pow(1+x*x/p.freedom, -(p.freedom+1)/2) + wrong/span
	}
	return all
}
