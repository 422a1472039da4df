package stats

import (
	"math"
	"slices"
	"strings"
)

// Gate holds the limits of a suite of comparisons: by how much the second of two subjects may be
// worse than the first.
type Gate struct {
	// Limit is the share by which the time may be longer, such as 0.05; NaN for no limit.
	Limit float64
	// Metrics holds the shares by which other metrics may be worse, by name.
	Metrics map[string]float64
	// FalseAlarms is the probability of a false alarm in a suite in which nothing is worse by
	// more than its limit; 0 means [FalseAlarms].
	FalseAlarms float64
}

// LimitOf returns the share by which a metric may be worse, or NaN if it has no limit. The empty
// name means the time.
func (g Gate) LimitOf(metric string) float64 {
	if metric == "" {
		return g.Limit
	}
	if limit, ok := g.Metrics[metric]; ok {
		return limit
	}
	return math.NaN()
}

// Family returns the largest number of comparisons with a limit, for the given number of pairs of
// subjects.
func (g Gate) Family(pairs int) int { return max(1, pairs*(1+len(g.Metrics))) }

// LooksFor returns the looks at each comparison, for the given number of pairs of subjects.
func (g Gate) LooksFor(pairs int) Looks { return LooksFor(g.Chance(pairs)) }

// Chance returns the permitted probability of a false alarm in a single comparison.
func (g Gate) Chance(pairs int) float64 { return g.falseAlarms() / float64(g.Family(pairs)) }

func (g Gate) falseAlarms() float64 {
	if g.FalseAlarms == 0 {
		return FalseAlarms
	}
	return g.FalseAlarms
}

// Sides judges the comparisons of a suite together ([Holm]). alone[i] is the P value of the
// hypothesis that comparison i, judged alone, is within its limit; NaN if it has no limit.
// within(i) reports whether it is within its limit. The results are the P values adjusted for the
// suite, and the sides: NaN and empty for comparisons without a limit.
func (g Gate) Sides(alone []float64, pairs int, within func(i int) bool) (beyond []float64, sides []Side) {
	family := slices.DeleteFunc(slices.Clone(alone), math.IsNaN)
	for len(family) < g.Family(pairs) {
		family = append(family, 1) // a comparison that is missing counts as within its limit
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

// IsRate reports whether more of a metric is better: its name, or unit, ends in /s, /sec or /second.
func IsRate(metric string) bool {
	return strings.HasSuffix(metric, "/s") || strings.HasSuffix(metric, "/sec") || strings.HasSuffix(metric, "/second")
}

// RatiosOfMetric pairs the values of a metric of two subjects, which are not below 0. The ratio of a rate is inverted,
// because more is better: above 1 is always worse.
//
// If the median of a count, which has a least above 0, is below least for one of the subjects, 1 is added to all values, so that a
// few stray counts do not make a large ratio. added is 1 then, and 0 otherwise.
func RatiosOfMetric(first, second []float64, isRate bool, least float64) (pairs Pairs, added float64) {
	if Median(first) < least || Median(second) < least {
		added = 1
	}
	for i := range first {
		x, y := first[i]+added, second[i]+added
		if isRate {
			x, y = y, x
		}
		pairs.addValues(x, y)
	}
	return pairs, added
}
