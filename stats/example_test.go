package stats_test

import (
	"fmt"

	"chronoscope/stats"
)

// MedianInterval turns samples into an estimate: the median and an interval that holds the true median
// with 95 % confidence, whatever the distribution of the samples.
func ExampleMedianInterval() {
	samples := []float64{1010, 1000, 1030, 990, 1020, 1000, 1006, 1015, 995, 1400}
	fmt.Println(stats.MedianInterval(samples, "ns"))
	// Output: 1.008 µs (0.995 to 1.030 µs), median of 10
}

// A judgement collects the reasons against a result.
func ExampleJudgement() {
	j := stats.NewJudgement()
	fmt.Println(j.Verdict)
	j.Lower(stats.Suspect, "± %d %%, asked ± %d %%", 4, 1)
	fmt.Println(j.Verdict, j.Reasons)
	// Output:
	// trusted
	// suspect [± 4 %, asked ± 1 %]
}
