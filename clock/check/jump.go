package check

import (
	"math"

	"chronoscope/stats"
)

const (
	// lateness is how late a clock may update its value without a fault, in units of its
	// accuracy: a kernel updates its coarse clocks late if interrupts are delayed.
	lateness = 16
	// fewJumps is the largest number of steps that are reported as jumps. A clock with more has a
	// changing rate.
	fewJumps = 3
)

// jump is a step of a clock against a reference.
type jump struct {
	before int     // the last pair before it
	sizeNs float64 // negative for a step back
}

// jumps finds the steps that are explained neither by the errors of the pairs nor by a rate
// that is off by bend. A slewed clock only changes its rate, so that its difference to the
// reference changes little from one pair to the next.
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

// spans is the number of stretches of the watch from which the usual rate is taken. A jump
// falsifies the rate of one stretch, so a few jumps leave the rates of most stretches correct.
const spans = 8

// usualRate returns the median of the rates over stretches that begin at each pair, and the
// typical error of one such rate according to the errors of the pairs. The stretches are long
// because from one pair to the next a coarse clock shows no rate.
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

// standstill returns the longest time, by the reference, for which the clock certainly showed
// the same value.
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
