package analysis

import (
	"slices"

	"gonum.org/v1/gonum/stat"

	"chronoscope/stats"
)

// Summary is the distribution of times in a few numbers, as Figure 2 of Lambert 2008
// and its Table 4 give it. All are NaN where there are no times.
type Summary struct {
	MinNs, Q1Ns, MedianNs, Q3Ns, MaxNs, MeanNs float64
	// LowerNs and UpperNs are the ends of the whiskers: the least and the greatest time
	// that is no outlier. Figure 2 prints them as its minimum and maximum.
	LowerNs, UpperNs float64
}

// whisker is how many times the quartiles' distance a whisker may be long (Tukey,
// Exploratory Data Analysis, 1977, section 2D). A time beyond is an outlier.
const whisker = 1.5

// Summarize summarises times in any order. Quartiles are those of [stats.Quantile]; for
// 137 times they are Tukey's hinges too.
func Summarize(timings []Timing) Summary {
	sorted := nsOf(timings)
	slices.Sort(sorted)
	s := Summary{
		MinNs: stats.Quantile(sorted, 0), Q1Ns: stats.Quantile(sorted, 0.25), MedianNs: stats.Quantile(sorted, 0.5),
		Q3Ns: stats.Quantile(sorted, 0.75), MaxNs: stats.Quantile(sorted, 1), MeanNs: stat.Mean(sorted, nil),
	}
	within := slices.DeleteFunc(sorted, s.IsOutlier)
	s.LowerNs, s.UpperNs = stats.Quantile(within, 0), stats.Quantile(within, 1)
	return s
}

// IsOutlier reports whether a time lies beyond the whiskers' reach.
func (s Summary) IsOutlier(ns float64) bool {
	reach := whisker * (s.Q3Ns - s.Q1Ns)
	return ns < s.Q1Ns-reach || ns > s.Q3Ns+reach
}

// Outliers are the instructions whose times are outliers, the slowest first, as in
// Table 3 of Lambert 2008.
func (s Summary) Outliers(timings []Timing) []Timing {
	outliers := slices.DeleteFunc(slices.Clone(timings), func(t Timing) bool { return !s.IsOutlier(t.Ns) })
	slices.SortStableFunc(outliers, func(a, b Timing) int { return -byTime(a, b) })
	return outliers
}
