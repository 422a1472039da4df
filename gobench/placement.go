package gobench

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"chronoscope/stats"
)

// placement describes the scatter between layouts.
type placement struct {
	// layouts is the number of layouts drawn at random whose pairs have a centre; 0 if there is only the usual one.
	layouts int
	// looks is the factor by which a P value grows, since the test is made at several looks, and perhaps with more layouts.
	looks float64
	grown bool // more layouts were linked, and count
	// deviation is the standard deviation of the logarithms of the ratios between layouts; 0 without layouts, and NaN if no
	// layout has two pairs, or a pair has no ratio, since a value is 0.
	deviation float64
	// centre and ofCentres are the mean and the standard deviation of the layouts' centres, which also scatter because the pairs
	// of a layout do. They are logarithms; NaN if fewer than two layouts have pairs.
	centre, ofCentres float64
	// own is the median ratio in the usual layout; NaN if there is none.
	own float64
}

// place splits the scatter of the ratios into that between layouts and that within them (one-way analysis of variance; Searle,
// Casella and McCulloch, Variance Components, section 3.6), and keeps the pairs in layouts drawn at random. made are the
// repetitions, or duets, of one of the two benchmarks b.
func (c *Comparison) place(b Benchmark, made []Repetition) {
	p := &c.placed
	if p.own = math.NaN(); len(b.Layouts) == 0 {
		return
	}
	all, groups, members := c.pairs, make([][]float64, 1+len(b.Layouts)), make([][]int, 1+len(b.Layouts))
	for i, x := range all.Logs() {
		layout := made[c.at[i]].Layout
		groups[layout], members[layout] = append(groups[layout], x), append(members[layout], i)
	}
	p.looks, p.grown = looksAtLayouts, b.grows() && b.grown() && allHavePairs(groups[1:])
	switch {
	case p.grown:
		p.looks /= grownShare
	case b.grows():
		p.looks /= 1 - grownShare
		groups = groups[:1+b.first]
	}
	var drawn, at []int
	for i, number := range c.at {
		if layout := made[number].Layout; layout > 0 && layout < len(groups) {
			drawn, at = append(drawn, i), append(at, number)
		}
	}
	c.pairs, c.at = *c.pairs.Only(drawn), at
	var means, centres []float64
	within, freedom, inverse := 0., 0., 0.
	for i, g := range groups[1:] {
		centre := all.LogCentre(members[1+i])
		if !stats.IsFinite(centre) {
			continue // no pairs, or too many values of a metric are 0
		}
		mean := stat.Mean(g, nil)
		means, centres = append(means, mean), append(centres, centre)
		for _, x := range g {
			within += (x - mean) * (x - mean)
		}
		freedom, inverse = freedom+float64(len(g)-1), inverse+1/float64(len(g))
	}
	p.own, p.layouts = math.Exp(all.LogCentre(members[0])), len(centres)
	p.deviation, p.centre, p.ofCentres = math.NaN(), math.NaN(), math.NaN()
	if p.layouts > 1 {
		p.centre, p.ofCentres = stat.MeanStdDev(centres, nil)
	}
	if p.layouts > 1 && freedom > 0 {
		p.deviation = math.Sqrt(math.Max(0, stat.Variance(means, nil)-within/freedom*inverse/float64(p.layouts)))
	}
}

// looksAtLayouts allows for looking at the layouts' centres as often as at the pairs. When each layout has a pair, the centres hardly
// change from look to look: without it, four of 100 sequences at most fail in simulation in place of one
// (TestLayoutsAtEachLook). If more layouts are linked, their centres do change. They count when each has a pair, and have a share
// of the chance of an error for themselves, grownShare.
const looksAtLayouts, grownShare = 4, 0.25

// allHavePairs reports whether no group is empty.
func allHavePairs(groups [][]float64) bool {
	return !slices.ContainsFunc(groups, func(g []float64) bool { return len(g) == 0 })
}

// beyond returns the chance of centres as high as these, at any look, if the ratio, in the mean of all layouts, is no more than the limit
// (Student's t test); 0 without layouts, which can't contradict, and 1 if only one layout has pairs.
func (p placement) beyond(typical typicalPlacement, limit float64) float64 {
	switch {
	case p.layouts == 0:
		return 0
	case math.IsNaN(p.ofCentres):
		return 1
	}
	variance, freedom := typical.moderate(p)
	above := p.centre - math.Log(limit)
	if variance == 0 {
		return map[bool]float64{true: 0, false: 1}[above > 0]
	}
	student := distuv.StudentsT{Sigma: 1, Nu: freedom}
	return math.Min(1, p.looks*student.Survival(above/math.Sqrt(variance/float64(p.layouts))))
}

// below returns the chance of centres as low as these if the ratio is no less than the limit.
func (p placement) below(typical typicalPlacement, limit float64) float64 {
	p.centre = -p.centre
	return p.beyond(typical, 1/limit)
}

// bounds returns bounds of the ratio by the layouts' centres, each of which is wrong with this chance. Without layouts they
// bound nothing: lo is infinite, and hi 0. They are NaN if only one layout has pairs.
func (p placement) bounds(chance float64) (lo, hi float64) {
	switch p.layouts {
	case 0:
		return math.Inf(1), 0
	case 1:
		return math.NaN(), math.NaN()
	}
	student := distuv.StudentsT{Sigma: 1, Nu: float64(p.layouts - 1)}
	far := student.Quantile(1-chance) * p.ofCentres / math.Sqrt(float64(p.layouts))
	return math.Exp(p.centre - far), math.Exp(p.centre + far)
}

// deviationAtMost returns the deviation between layouts, or more if that is not known.
func (p placement) deviationAtMost() float64 {
	if math.IsNaN(p.deviation) {
		return p.ofCentres
	}
	return p.deviation
}

// reach returns the difference that the layouts show in 95 of 100 measurements, with this chance of an error, in standard
// deviations of their mean; 0 without layouts.
func (p placement) reach(typical typicalPlacement, chance float64) float64 {
	if p.layouts < 2 {
		return 0
	}
	_, freedom := typicalPlacement{freedom: typical.freedom / 4}.moderate(p) // what the others tell differs much from one measurement to the next
	bound := distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(1 - chance/p.looks)
	return bound + distuv.UnitNormal.Quantile(0.95)*math.Sqrt(1+bound*bound/2/freedom) // the bound scatters, too, with the estimated deviation
}

// typicalPlacement is the variance of the layouts' centres that is typical of the benchmarks of a suite. It counts for as much
// as an estimate with that many degrees of freedom: the more, the less the benchmarks differ. The zero value is that of a suite
// that tells nothing.
type typicalPlacement struct{ variance, freedom float64 }

// leastDeviation is more than what rounding makes.
const leastDeviation = 1e-9

// uncertain is the chance that the benchmarks of a suite differ more than is assumed.
const uncertain = 0.1

// typicalPlacementOf returns what the benchmarks of a suite tell about one another's variances (Smyth, Linear Models and
// Empirical Bayes Methods, 2004, section 6.2). It assumes the largest difference between them that is plausible, so that a suite
// of a few benchmarks tells nearly nothing.
func typicalPlacementOf(all []Comparison) typicalPlacement {
	var logs []float64 // of the variances, without the bias of few layouts
	byChance := 0.     // their variance if the benchmarks don't differ
	for _, c := range all {
		if c.Metric == "" && c.placed.ofCentres > leastDeviation {
			half := float64(c.placed.layouts-1) / 2
			logs = append(logs, 2*math.Log(c.placed.ofCentres)-mathext.Digamma(half)+math.Log(half))
			byChance += trigamma(half)
		}
	}
	if len(logs) < 2 {
		return typicalPlacement{}
	}
	mean, variance := stat.MeanVariance(logs, nil)
	others := float64(len(logs) - 1)
	most := variance * others / distuv.ChiSquared{K: others}.Quantile(uncertain)
	return typicalPlacement{math.Exp(mean), 2 * inverseTrigamma(most-byChance/float64(len(logs)))}
}

// moderate returns a benchmark's variance and its degrees of freedom, together with what is typical. That counts for no more than
// its own: among many benchmarks that are alike, a few that are not hardly show in the difference between all.
func (t typicalPlacement) moderate(p placement) (variance, freedom float64) {
	own := float64(p.layouts - 1)
	t.freedom = math.Min(t.freedom, own)
	return (own*p.ofCentres*p.ofCentres + t.freedom*t.variance) / (own + t.freedom), own + t.freedom
}

// trigamma returns the second derivative of the logarithm of the gamma function.
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// mostFreedom is the largest value that inverseTrigamma returns: so many degrees of freedom are as good as infinitely many.
const mostFreedom = 1e4

// inverseTrigamma returns the value whose trigamma is y, by bisection of its logarithm, and mostFreedom at most.
func inverseTrigamma(y float64) float64 {
	if y <= trigamma(mostFreedom) {
		return mostFreedom
	}
	lo, hi := -math.Log(1+y), math.Log(mostFreedom) // trigamma(x) > 1/x
	for range 60 {
		if middle := (lo + hi) / 2; trigamma(math.Exp(middle)) > y {
			lo = middle
		} else {
			hi = middle
		}
	}
	return math.Exp(lo)
}
