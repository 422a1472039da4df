package check

import (
	"math"
	"math/bits"

	"chronoscope/clock"
)

// narrowest is the least width of a counter, in bits, for which a step back can count as a
// wrap.
const narrowest = 16

// wrappedAt returns the width in bits of a counter that goes from just below its largest value
// to just above zero, or 0 if the step back is something else. It judges by this one step alone;
// wrapBits confirms the width by the rate against a reference.
func wrappedAt(before, after int64) int {
	if after < 0 || before <= after {
		return 0
	}
	width := bits.Len64(uint64(before))
	top := math.Ldexp(1, width)
	if width < narrowest || float64(before) < top*15/16 || float64(after) > top/16 {
		return 0
	}
	return width
}

// wrapBits returns the width in bits of a counter that starts over. For that width, every move
// from one sandwich to the next agrees with the reference once whole turns are added, and every
// step back needs a turn or more to agree. wrapBits returns 0 if the counter never stepped
// back, if it stepped back in another way, or if it starts over too often for the time between
// two sandwiches.
func wrapBits(sandwiches []clock.Sandwich, tickNs, referenceTickNs float64) int {
	most, stepsBack := int64(0), false
	for i, s := range sandwiches {
		if s.Counter < 0 {
			return 0
		}
		most = max(most, s.Counter)
		stepsBack = stepsBack || i > 0 && s.Counter < sandwiches[i-1].Counter
	}
	width := bits.Len64(uint64(most))
	if !stepsBack || width < narrowest {
		return 0
	}
	for i := 1; i < len(sandwiches); i++ {
		a, b := sandwiches[i-1], sandwiches[i]
		turns, off, tolerance := turnsBetween(a, b, width, tickNs, referenceTickNs)
		if tolerance > math.Ldexp(1, width-2) || math.Abs(off) > tolerance || b.Counter < a.Counter && turns < 1 {
			return 0
		}
	}
	return width
}

// turnsBetween returns how often a counter of that width started over from a to b according to
// the reference, how many ticks remain unexplained (off), and how many may (tolerance).
func turnsBetween(a, b clock.Sandwich, width int, tickNs, referenceTickNs float64) (turns, off, tolerance float64) {
	passed := (b.MiddleSince(a) - a.MiddleSince(a)) * referenceTickNs / tickNs
	missing := passed - float64(b.Counter-a.Counter)
	turn := math.Ldexp(1, width)
	turns = math.Round(missing / turn)
	widths := float64(a.After-a.Before+b.After-b.Before) * referenceTickNs / tickNs
	return turns, missing - turns*turn, 1e-3*math.Abs(passed) + widths + turn/64
}

// unwrapped returns the sandwiches with the ticks of the completed turns added to the counter,
// which is width bits wide.
func unwrapped(sandwiches []clock.Sandwich, width int, tickNs, referenceTickNs float64) []clock.Sandwich {
	whole := make([]clock.Sandwich, len(sandwiches))
	added := int64(0)
	for i, s := range sandwiches {
		if i > 0 {
			turns, _, _ := turnsBetween(sandwiches[i-1], s, width, tickNs, referenceTickNs)
			added += int64(turns) << width
		}
		whole[i] = clock.Sandwich{Before: s.Before, Counter: s.Counter + added, After: s.After}
	}
	return whole
}
