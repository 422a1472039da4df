package check

import (
	"math"
	"slices"

	"chronoscope/clock"
)

// Pair is a clock's reading together with the time that a reference showed.
type Pair struct {
	ReferenceNs float64
	ClockNs     float64
	// ErrorNs bounds the error of the difference of the two readings: it covers the accuracy of
	// both clocks and the time between their readings.
	ErrorNs float64
}

// Pairs converts sandwiches to times by the lengths of both clocks' ticks. The error of a pair is
// half the width of its sandwich plus errorNs, the accuracy of both clocks.
func Pairs(sandwiches []clock.Sandwich, referenceTickNs, tickNs, errorNs float64) []Pair {
	pairs := make([]Pair, len(sandwiches))
	for i, s := range sandwiches {
		pairs[i] = Pair{
			ReferenceNs: s.MiddleSince(sandwiches[0]) * referenceTickNs,
			ClockNs:     float64(s.Counter-sandwiches[0].Counter) * tickNs,
			ErrorNs:     errorNs + float64(s.Width())/2*referenceTickNs,
		}
	}
	return pairs
}

// Rate is how fast a clock runs compared with a reference, over a whole measurement.
type Rate struct {
	// Ratio is the clock's time divided by the reference's; 1 for a clock that is right, NaN if
	// there are too few pairs.
	Ratio float64
	// WorstDeviation is the largest relative difference between the rate in a stretch of the
	// measurement and Ratio.
	WorstDeviation float64
	// Resolution is the largest relative deviation that the accuracy of the readings alone
	// explains.
	Resolution float64
}

// stretches is the number of parts of a measurement whose rates are compared.
const stretches = 5

// KeepsRate measures the rate over each of five stretches of about the same length. Its Ratio is their median. The pairs have to be in the order in which they were taken.
func KeepsRate(pairs []Pair) Rate {
	var r Rate
	var ratios []float64
	for _, s := range stretch(pairs) {
		span := s.to.ReferenceNs - s.from.ReferenceNs
		ratios = append(ratios, (s.to.ClockNs-s.from.ClockNs)/span)
		r.Resolution = math.Max(r.Resolution, (s.from.ErrorNs+s.to.ErrorNs)/span)
	}
	if len(ratios) < stretches {
		return Rate{Ratio: math.NaN(), WorstDeviation: math.NaN(), Resolution: math.NaN()}
	}
	r.Ratio = slices.Sorted(slices.Values(ratios))[stretches/2]
	for _, ratio := range ratios {
		r.WorstDeviation = math.Max(r.WorstDeviation, math.Abs(ratio/r.Ratio-1))
	}
	return r
}

// piece is a stretch of a measurement, by its first and last pair.
type piece struct{ from, to Pair }

// stretch cuts the pairs into pieces of about the same length in time.
func stretch(pairs []Pair) []piece {
	if len(pairs) == 0 {
		return nil
	}
	var pieces []piece
	from := pairs[0]
	last := pairs[len(pairs)-1].ReferenceNs
	for _, p := range pairs[1:] {
		left := float64(stretches - len(pieces))
		if p.ReferenceNs > from.ReferenceNs && p.ReferenceNs-from.ReferenceNs >= (last-from.ReferenceNs)/left {
			pieces = append(pieces, piece{from, p})
			from = p
		}
	}
	return pieces
}

// Steps returns how many times the clock moved from one pair to the next by more than the pairs'
// errors and a rate that is off by slew explain, and the largest such step in nanoseconds,
// negative for a step back. If count is large, the clock has rather changed its rate.
func Steps(pairs []Pair, slew float64) (count int, worstNs float64) {
	for i := 1; i < len(pairs); i++ {
		a, b := pairs[i-1], pairs[i]
		passed := b.ReferenceNs - a.ReferenceNs
		off := b.ClockNs - a.ClockNs - passed
		beyond := math.Abs(off) - a.ErrorNs - b.ErrorNs - slew*math.Abs(passed)
		if beyond > 0 {
			count++
		}
		if beyond > math.Abs(worstNs) {
			worstNs = math.Copysign(beyond, off)
		}
	}
	return count, worstNs
}
