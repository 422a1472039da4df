package clock

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"chronoscope/stats"
)

const (
	fitBins      = 32 // number of parts of the span; FitRate keeps the tightest sandwiches of each part
	keptShare    = 4  // of keptShare sandwiches one is kept
	widestKept   = 3  // the widest sandwich that is kept, in median widths
	leastFitting = 8  // least number of sandwiches for a calibration
)

// FitRate computes the counter's rate from sandwiches. It is the least squares slope of the
// counter's readings over the middles of the sandwiches. refUnitNs is the reference's tick, in
// nanoseconds.
//
// Only the tightest sandwiches of each part of the span are used, because an interrupt within a
// sandwich makes it wide. The interval covers two errors. The first is the standard error of the
// regression, from the scatter about the line. The second is systematic: a reading may lie
// anywhere within its sandwich, and in the worst case all readings early in the span lie at one
// end of their sandwiches and all late ones at the other end. A reading also stays the same for
// a whole step of its clock; the least distance between two different readings is an upper
// bound of that step. All in all the bound is about four times the width of a sandwich divided
// by the span: 50 ns over 100 ms give two parts per million.
func FitRate(sandwiches []Sandwich, refUnitNs float64) (Rate, error) {
	kept := tightest(sandwiches)
	if len(kept) < leastFitting {
		return Rate{}, fmt.Errorf("a counter's rate needs %d usable sandwiches or more, there are %d", leastFitting, len(kept))
	}
	seconds, ticks := points(kept, refUnitNs)
	line, err := stats.LeastSquares(seconds, ticks)
	if err != nil {
		return Rate{}, fmt.Errorf("no line through the sandwiches: %w", err)
	}
	hz := line.Slope
	if hz.Value <= 0 {
		return Rate{}, errors.New("the counter does not advance with the reference clock")
	}
	uncertainty := hz.Value * slopeBound(seconds, halfWidths(kept, sandwiches, refUnitNs, hz.Value))
	hz.Lo -= uncertainty
	hz.Hi += uncertainty
	hz.Unit, hz.Discarded = "Hz", len(sandwiches)-len(kept)
	return NewRate(hz)
}

// tightest returns the tightest sandwiches of each part of the span.
func tightest(sandwiches []Sandwich) []Sandwich {
	var kept []Sandwich
	for _, bin := range bins(sandwiches) {
		slices.SortFunc(bin, func(a, b Sandwich) int { return cmp.Compare(a.Width(), b.Width()) })
		kept = append(kept, bin[:(len(bin)+keptShare-1)/keptShare]...)
	}
	limit := widestKept * (medianWidth(kept) + 1)
	return slices.DeleteFunc(kept, func(s Sandwich) bool { return s.Width() > limit })
}

// bins splits the span of the sandwiches into parts of the same length. It leaves out sandwiches
// whose reference ran backwards.
func bins(sandwiches []Sandwich) [][]Sandwich {
	ordered := slices.DeleteFunc(slices.Clone(sandwiches), func(s Sandwich) bool { return s.Width() < 0 })
	if len(ordered) == 0 {
		return nil
	}
	slices.SortFunc(ordered, func(a, b Sandwich) int { return cmp.Compare(a.Before, b.Before) })
	first := ordered[0].Before
	length := (ordered[len(ordered)-1].Before-first)/fitBins + 1
	var split [][]Sandwich
	for len(ordered) > 0 {
		bin := (ordered[0].Before - first) / length
		end := slices.IndexFunc(ordered, func(s Sandwich) bool { return (s.Before-first)/length != bin })
		if end < 0 {
			end = len(ordered)
		}
		split = append(split, ordered[:end])
		ordered = ordered[end:]
	}
	return split
}

func medianWidth(sandwiches []Sandwich) int64 {
	if len(sandwiches) == 0 {
		return 0
	}
	widths := make([]int64, len(sandwiches))
	for i, s := range sandwiches {
		widths[i] = s.Width()
	}
	slices.Sort(widths)
	return widths[len(widths)/2]
}

// points returns the middle of each sandwich in seconds and its counter in ticks, both counted
// from the first sandwich.
func points(sandwiches []Sandwich, refUnitNs float64) (seconds, ticks []float64) {
	first := sandwiches[0]
	for _, s := range sandwiches {
		seconds = append(seconds, s.MiddleSince(first)*refUnitNs/1e9)
		ticks = append(ticks, float64(s.Counter-first.Counter))
	}
	return seconds, ticks
}

// halfWidths returns how far from the middle of its sandwich each reading may have been taken,
// in seconds, including the steps of both clocks.
func halfWidths(kept, all []Sandwich, refUnitNs, hz float64) []float64 {
	var references, counters []int64
	for _, s := range all {
		references = append(references, s.Before, s.After)
		counters = append(counters, s.Counter)
	}
	referenceStep, counterStep := leastStep(references), leastStep(counters)
	half := make([]float64, len(kept))
	for i, s := range kept {
		half[i] = (float64(s.Width()+referenceStep)*refUnitNs/1e9 + float64(counterStep)/hz) / 2
	}
	return half
}

// leastStep returns the least distance between two different readings. It is the clock's step or
// more. leastStep sorts the readings.
func leastStep(readings []int64) int64 {
	slices.Sort(readings)
	least := int64(math.MaxInt64)
	for i := 1; i < len(readings); i++ {
		if step := readings[i] - readings[i-1]; step > 0 {
			least = min(least, step)
		}
	}
	return least
}

// slopeBound returns the largest relative error of a least squares slope over x if each x may be
// off by its half width. The slope is the sum of the y weighted by (x - mean) / sum of squares.
func slopeBound(x, half []float64) float64 {
	mean := 0.0
	for _, xi := range x {
		mean += xi / float64(len(x))
	}
	squares, bound := 0.0, 0.0
	for i, xi := range x {
		squares += (xi - mean) * (xi - mean)
		bound += math.Abs(xi-mean) * half[i]
	}
	return bound / squares
}
