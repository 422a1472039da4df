package check

import (
	"math"

	"chronoscope/stats"
)

const (
	// lateness is how late a clock's update may be, in units of its accuracy,
	// before that is held against it: a kernel brings its coarse clocks up to date
	// when it gets to it.
	lateness = 16
	// fewJumps are jumps; more are a rate that changes.
	fewJumps = 3
)

// jump is a step of a clock against a reference.
type jump struct {
	before int     // the last pair before it
	sizeNs float64 // negative for a step back
}

// jumps finds steps that neither the errors of the pairs explain nor a rate that
// is off by bend. A slewed clock changes its rate, so that no two neighbouring
// pairs are far apart.
func jumps(pairs []Pair, accuracyNs, bend float64) []jump {
	rate := usualRate(pairs)
	var found []jump
	for i := 1; i < len(pairs); i++ {
		a, b := pairs[i-1], pairs[i]
		passed := b.ReferenceNs - a.ReferenceNs
		off := b.ClockNs - a.ClockNs - rate*passed
		if math.Abs(off) > a.ErrorNs+b.ErrorNs+lateness*accuracyNs+bend*passed {
			found = append(found, jump{before: i - 1, sizeNs: off})
		}
	}
	return found
}

// usualRate is the median of the rates from each pair to the next.
func usualRate(pairs []Pair) float64 {
	var rates []float64
	for i := 1; i < len(pairs); i++ {
		if passed := pairs[i].ReferenceNs - pairs[i-1].ReferenceNs; passed > 0 {
			rates = append(rates, (pairs[i].ClockNs-pairs[i-1].ClockNs)/passed)
		}
	}
	return stats.Median(rates)
}

// standstill is the longest time for which a clock showed the same, by the
// reference, and for certain.
func standstill(pairs []Pair) (longestNs float64) {
	from := 0
	for i := range pairs {
		if pairs[i].ClockNs != pairs[from].ClockNs {
			from = i
		}
		longestNs = math.Max(longestNs, pairs[i].ReferenceNs-pairs[from].ReferenceNs)
	}
	return longestNs
}
