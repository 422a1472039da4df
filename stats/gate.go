package stats

import (
	"math"
	"slices"
	"strings"
)

// Gate says by how much the second of two subjects may be worse than the first, in a suite of such
// pairs.
type Gate struct {
	// Limit is the share by which the time may be longer, such as 0.05; NaN for no limit.
	Limit float64
	// Metrics are the shares by which other metrics may be worse, by name.
	Metrics map[string]float64
	// FalseAlarms is the chance of a false alarm in a suite in which nothing is worse by more than its
	// limit; 0 stands for [FalseAlarms].
	FalseAlarms float64
}

// LimitOf is the share by which a metric may be worse; the empty metric is the time. NaN for no limit.
func (g Gate) LimitOf(metric string) float64 {
	if metric == "" {
		return g.Limit
	}
	if limit, ok := g.Metrics[metric]; ok {
		return limit
	}
	return math.NaN()
}

// Family is the largest number of comparisons with a limit, for this number of pairs of subjects.
func (g Gate) Family(pairs int) int { return max(1, pairs*(1+len(g.Metrics))) }

// LooksFor returns the looks at each comparison, for this number of pairs of subjects.
func (g Gate) LooksFor(pairs int) Looks { return LooksFor(g.Chance(pairs)) }

// Chance is the chance of a false alarm that each comparison may have.
func (g Gate) Chance(pairs int) float64 { return g.falseAlarms() / float64(g.Family(pairs)) }

func (g Gate) falseAlarms() float64 {
	if g.FalseAlarms == 0 {
		return FalseAlarms
	}
	return g.FalseAlarms
}

// Sides judges the comparisons of a suite together ([Holm]). alone are the P values of each one alone
// being within its limit, NaN for those without a limit; within says whether one is within its limit.
// It returns the P values in the suite, and the sides; NaN and empty for those without a limit.
func (g Gate) Sides(alone []float64, pairs int, within func(i int) bool) (beyond []float64, sides []Side) {
	family := slices.DeleteFunc(slices.Clone(alone), math.IsNaN)
	for len(family) < g.Family(pairs) {
		family = append(family, 1) // what is not there would not be beyond
	}
	adjusted := Holm(family)
	for i, p := range alone {
		if math.IsNaN(p) {
			beyond, sides = append(beyond, p), append(sides, "")
			continue
		}
		side := Open
		switch {
		case adjusted[0] <= g.falseAlarms():
			side = Beyond
		case within(i):
			side = Within
		}
		beyond, sides, adjusted = append(beyond, adjusted[0]), append(sides, side), adjusted[1:]
	}
	return beyond, sides
}

// IsRate reports whether more of a metric is better: its name, or unit, ends in /s.
func IsRate(metric string) bool { return strings.HasSuffix(metric, "/s") }

// RatiosOfMetric pairs the values of a metric of two subjects. The ratio of a rate is inverted, since
// more of it is better, so that above 1 is always worse. If a value is 0, or below least, 1 is added to
// all values, so that strays make no ratio; added is that.
func RatiosOfMetric(first, second []float64, isRate bool, least float64) (pairs Pairs, added float64) {
	if slices.ContainsFunc(slices.Concat(first, second), func(x float64) bool { return x == 0 || x < least }) {
		added = 1
	}
	for i := range first {
		x, y := first[i]+added, second[i]+added
		if isRate {
			x, y = y, x
		}
		pairs.Add(Bounded{Lo: x, Mid: x, Hi: x}, Bounded{Lo: y, Mid: y, Hi: y})
	}
	return pairs, added
}
