package analysis

import (
	"fmt"
	"slices"
	"strings"

	"chronoscope/stats"
)

// Predict returns how long a method should take that executes the named instructions one after the
// other: the sum of their times, as section 6 of Lambert 2008 plans to use them. The interval is the
// sum of their intervals, because errors that instructions have in common, such as that of the
// clock's rate, do not cancel. It does not cover what the sum ignores: an instruction's time depends
// on its neighbours.
//
// The error lists the instructions without a time.
func Predict(executed []string, times map[string]stats.Estimate) (stats.Estimate, error) {
	sum := stats.Estimate{Unit: "ns", Statistic: "sum", N: len(executed)}
	var unknown []string
	for _, name := range executed {
		e, ok := times[name]
		if !ok && !slices.Contains(unknown, name) {
			unknown = append(unknown, name)
		}
		sum.Value += e.Value
		sum.Lo += e.Lo
		sum.Hi += e.Hi
	}
	if len(unknown) > 0 {
		return stats.Estimate{}, fmt.Errorf("no sum of times without those of %s: time these instructions too", strings.Join(unknown, ", "))
	}
	return sum, nil
}
