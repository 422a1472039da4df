package analysis

import "chronoscope/stats"

// Published holds the results of a published analysis.
type Published struct {
	Instructions  int
	Summary       Summary
	Outliers      []Timing // the slowest first
	Granularities []Granularity
	// Groups is the number of instructions in each group at the median's granularity, from the
	// fastest group to the slowest.
	Groups                       []int
	PearsonR, Slope, InterceptNs float64
}

// Lambert is what Lambert and Power published in 2008 about a virtual machine of their time: Figure 2,
// Tables 3, 4 and 6, and sections 5.1 and 5.2. The mean is that of Table 4, because the mean in
// Figure 2 is ten times too small: the outliers alone lead to a greater one.
var Lambert = Published{
	Instructions: 137,
	Summary: Summary{
		Instructions: 137, MinNs: stats.FloatOf(1.093), Q1Ns: stats.FloatOf(3.583), MedianNs: stats.FloatOf(4.527), Q3Ns: stats.FloatOf(8.072),
		MaxNs: stats.FloatOf(118.0681), MeanNs: stats.FloatOf(10.61), LowerNs: stats.FloatOf(1.093), UpperNs: stats.FloatOf(12.99),
	},
	Outliers: []Timing{
		{"lrem", 118.0681}, {"ldiv", 113.2759}, {"d2i", 89.7643}, {"d2l", 87.95759}, {"f2l", 82.67345},
		{"f2i", 80.28337}, {"drem", 50.49472}, {"frem", 41.91904}, {"idiv", 34.49739}, {"l2d", 33.2196},
		{"irem", 31.79264}, {"i2d", 26.35641}, {"l2f", 22.05176},
	},
	Granularities: []Granularity{
		{"minimum", 1.093, 24}, {"first quartile", 3.584, 14}, {"median", 4.527, 11},
		{"third quartile", 8.072, 9}, {"mean", 10.61, 7}, {"maximum", 118.1, 1},
	},
	Groups:   []int{74, 36, 14, 2, 3, 1, 1, 2, 2, 1, 1},
	PearsonR: 0.9887898, Slope: 1.232, InterceptNs: 0.9344,
}
