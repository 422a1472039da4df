package main

import (
	"fmt"
	"slices"

	"chronoscope/stats"
)

// A comparison is the cost of one subject divided by that of another, with the limit that the project has set
// itself.
type comparison struct {
	over, under string
	limit       float64
	atLeast     bool // the ratio should be limit or more, else limit or less
}

var comparisons = []comparison{
	{over: counterOne, under: cInline, limit: 1.5},
	{over: counterOne, under: cCalled, limit: 1.5},
	{over: counterBatch, under: cBatch, limit: 1.15},
	{over: goNow, under: counterOne, limit: 3, atLeast: true},
	{over: goNow, under: counterBatch, limit: 3, atLeast: true},
	{over: counterOne, under: hrtimeTSC, limit: 1},
	{over: counterOne, under: hrtimeNow, limit: 1},
}

// A ratio is the outcome of a comparison over all rounds.
type ratio struct {
	median   stats.Estimate
	p5, p95  float64 // of the rounds
	standing string
}

// of compares the costs of each round with those of the same round, so that a slowdown of the whole round
// cancels.
func (c comparison) of(costs map[string][]float64) (ratio, error) {
	over, under := costs[c.over], costs[c.under]
	if over == nil || under == nil {
		return ratio{}, fmt.Errorf("not measured: built without C; install gcc and set CGO_ENABLED=1")
	}
	ratios := make([]float64, len(over))
	for i := range over {
		ratios[i] = over[i] / under[i]
	}
	slices.Sort(ratios)
	median, _, err := stats.QuantileInterval(ratios, 0.5, "")
	if err != nil {
		return ratio{}, err
	}
	return ratio{median, stats.Quantile(ratios, 0.05), stats.Quantile(ratios, 0.95), c.standing(median)}, nil
}

// standing says whether the whole interval is within the limit.
func (c comparison) standing(median stats.Estimate) string {
	within, beyond := median.Hi <= c.limit, median.Lo > c.limit
	if c.atLeast {
		within, beyond = median.Lo >= c.limit, median.Hi < c.limit
	}
	switch {
	case within:
		return "held"
	case beyond:
		return "missed"
	}
	return "undecided"
}

func (c comparison) asked() string {
	if c.atLeast {
		return fmt.Sprintf(">= %g", c.limit)
	}
	return fmt.Sprintf("<= %g", c.limit)
}
