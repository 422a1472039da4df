package check

import (
	"math"
	"math/bits"

	"chronoscope/clock"
)

// narrowest is the least width of a counter, in bits, for which a step back is
// taken for a wrap.
const narrowest = 16

// wrappedAt is the width of the counter that went over from just below its top to
// just above zero, in bits, or 0 where a step back was something else. It goes by
// one step alone; the rate against a reference confirms it (wrapBits).
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

// wrapBits finds the width of a counter that starts over: every move from one
// sandwich to the next agrees with the reference once whole turns are added, and
// every step back takes a turn or more to do so. It is 0 for a counter that never
// stepped back, for one that did so in another way, and for one that turns too
// fast for the time between two sandwiches.
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

// turnsBetween is how often a counter of that width started over from a to b, by
// the reference, how many ticks remain unexplained, and how many may.
func turnsBetween(a, b clock.Sandwich, width int, tickNs, referenceTickNs float64) (turns, off, tolerance float64) {
	passed := (b.MiddleSince(a) - a.MiddleSince(a)) * referenceTickNs / tickNs
	missing := passed - float64(b.Counter-a.Counter)
	turn := math.Ldexp(1, width)
	turns = math.Round(missing / turn)
	widths := float64(a.After-a.Before+b.After-b.Before) * referenceTickNs / tickNs
	return turns, missing - turns*turn, 1e-3*math.Abs(passed) + widths + turn/64
}

// unwrapped adds the turns of a counter of that width.
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
