package analysis

import (
	"slices"

	"gonum.org/v1/gonum/stat"

	"chronoscope/stats"
)

// Summary describes the distribution of times by the figures that Figure 2 and Table 4 of Lambert 2008
// give. All are missing if there are no times.
type Summary struct {
	Instructions int         `json:"instructions"`
	MinNs        stats.Float `json:"min_ns"`
	Q1Ns         stats.Float `json:"q1_ns"`
	MedianNs     stats.Float `json:"median_ns"`
	Q3Ns         stats.Float `json:"q3_ns"`
	MaxNs        stats.Float `json:"max_ns"`
	MeanNs       stats.Float `json:"mean_ns"`
	// LowerNs and UpperNs are the ends of the whiskers: the least and the greatest time that is not an
	// outlier. Figure 2 prints them as its minimum and maximum.
	LowerNs stats.Float `json:"lower_whisker_ns"`
	UpperNs stats.Float `json:"upper_whisker_ns"`
}

// whisker is the greatest length of a whisker, in distances of the quartiles (Tukey, Exploratory Data
// Analysis, 1977, section 2D). A time beyond it is an outlier.
const whisker = 1.5

// Summarize summarises times in any order. Its quartiles are those of [stats.Quantile]; for 137 times
// they are also Tukey's hinges.
func Summarize(timings []Timing) Summary {
	sorted := nsOf(timings)
	slices.Sort(sorted)
	quantile := func(p float64) stats.Float { return stats.FloatOf(stats.Quantile(sorted, p)) }
	s := Summary{
		Instructions: len(timings), MinNs: quantile(0), Q1Ns: quantile(0.25), MedianNs: quantile(0.5),
		Q3Ns: quantile(0.75), MaxNs: quantile(1), MeanNs: stats.FloatOf(stat.Mean(sorted, nil)),
	}
	within := slices.DeleteFunc(sorted, s.IsOutlier)
	s.LowerNs, s.UpperNs = stats.FloatOf(stats.Quantile(within, 0)), stats.FloatOf(stats.Quantile(within, 1))
	return s
}

// IsOutlier reports whether a time lies beyond the greatest length of a whisker.
func (s Summary) IsOutlier(ns float64) bool {
	q1, q3 := s.Q1Ns.Value(), s.Q3Ns.Value()
	reach := whisker * (q3 - q1)
	return ns < q1-reach || ns > q3+reach
}

// Outliers returns the instructions whose times are outliers, the slowest first, as in Table 3 of
// Lambert 2008.
func (s Summary) Outliers(timings []Timing) []Timing {
	outliers := slices.DeleteFunc(slices.Clone(timings), func(t Timing) bool { return !s.IsOutlier(t.Ns) })
	slices.SortStableFunc(outliers, func(a, b Timing) int { return -byTime(a, b) })
	return outliers
}
