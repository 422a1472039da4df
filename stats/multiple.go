package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm adjusts the P values of a family of hypotheses: if all hypotheses whose adjusted value is at most
// a level are rejected, the probability that any rejection is false is at most that level (Holm, "A
// Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6, 1979).
func Holm(values []float64) []float64 {
	adjusted, highest := make([]float64, len(values)), 0.
	for i, at := range ascending(values) {
		highest = math.Max(highest, math.Min(1, values[at]*float64(len(values)-i)))
		adjusted[at] = highest
	}
	return adjusted
}

// FalseDiscoveryRates adjusts the P values of a family of hypotheses: if all hypotheses whose adjusted
// value is at most a level are rejected, the expected share of false rejections is at most that level
// (Benjamini and Hochberg, "Controlling the False Discovery Rate", JRSS B 57, 1995).
func FalseDiscoveryRates(values []float64) []float64 {
	adjusted, lowest := make([]float64, len(values)), 1.
	order := ascending(values)
	for i := len(order) - 1; i >= 0; i-- {
		lowest = math.Min(lowest, values[order[i]]*float64(len(values))/float64(i+1))
		adjusted[order[i]] = lowest
	}
	return adjusted
}

// ascending returns the indices of the values in ascending order of the values.
func ascending(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	return order
}
