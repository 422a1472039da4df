package changepoint

import "slices"

// FalseDiscoveries is the largest expected share of false changes among the changes of many series.
const FalseDiscoveries = 0.01

// Limit returns the greatest P value that a change may have so that, of the changes found in many series, at most the
// given share is false (Benjamini and Hochberg, "Controlling the False Discovery Rate", JRSS B 57, 1995). A series
// without changes counts as one test, with a P value above all others. The limit is never above [FalseChanges].
func Limit(all []Result, share float64) float64 {
	var values []float64
	tests := 0
	for _, r := range all {
		tests += max(1, len(r.Changes))
		for _, c := range r.Changes {
			values = append(values, c.PValue)
		}
	}
	slices.Sort(values)
	limit := 0.0
	for i, p := range values {
		if p <= share*float64(i+1)/float64(tests) {
			limit = p
		}
	}
	return min(limit, FalseChanges)
}
