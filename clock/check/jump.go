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
	rate, unsure := usualRate(pairs)
	var found []jump
	for i := 1; i < len(pairs); i++ {
		a, b := pairs[i-1], pairs[i]
		passed := b.ReferenceNs - a.ReferenceNs
		off := b.ClockNs - a.ClockNs - rate*passed
		if math.Abs(off) > a.ErrorNs+b.ErrorNs+lateness*accuracyNs+(bend+unsure)*passed {
			found = append(found, jump{before: i - 1, sizeNs: off})
		}
	}
	return found
}

// spans is how many stretches of the time that a clock was watched for tell its
// usual rate. A jump lies in one of them, so that a few leave most alone.
const spans = 8

// usualRate is the median of the rates over stretches that begin at each pair, and
// how far the errors of the pairs typically let one of these be off. From one pair
// to the next a coarse clock shows no rate that would hold over a long pause.
func usualRate(pairs []Pair) (rate, unsure float64) {
	var rates, errors []float64
	for i, lag := 0, max(1, len(pairs)/spans); i+lag < len(pairs); i++ {
		a, b := pairs[i], pairs[i+lag]
		if passed := b.ReferenceNs - a.ReferenceNs; passed > 0 {
			rates = append(rates, (b.ClockNs-a.ClockNs)/passed)
			errors = append(errors, (a.ErrorNs+b.ErrorNs)/passed)
		}
	}
	return stats.Median(rates), stats.Median(errors)
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
