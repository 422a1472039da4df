package check

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/stats"
)

// limit is a one-sided bound of the offset of one clock from another, at a time.
type limit struct{ atNs, offsetNs float64 }

// limits are those of one pair of clocks: of a clock and its reference, or of the
// same clock on two CPUs.
type limits struct{ upper, lower []limit }

// keptLimits are kept of each game: the tightest.
const keptLimits = 4

// limitsOf is what a game says of the offset of its second CPU from its first, and
// how long its shortest round trip took. Where the first hands over to the second,
// the second reads after it, so that its reading less the first's is no less than
// the offset; the other way round, no less than its negative. A reading stands for
// any time of the accuracy that follows it.
func limitsOf(g game, tickNs, accuracyNs float64) (l limits, roundTripNs float64) {
	roundTripNs = math.Inf(1)
	for i := 1; i < len(g.handed); i++ {
		before, after := g.handed[i-1], g.handed[i]
		stepNs := float64(after.Ticks-before.Ticks) * tickNs
		if after.Thread == 1 {
			at := g.startNs + float64(before.Ticks-g.handed[0].Ticks)*tickNs
			l.upper = append(l.upper, limit{at, stepNs + accuracyNs})
		} else {
			at := g.startNs + float64(after.Ticks-g.handed[0].Ticks)*tickNs
			l.lower = append(l.lower, limit{at, -stepNs - accuracyNs})
		}
		if i > 1 && after.Thread == 0 {
			roundTripNs = math.Min(roundTripNs, float64(after.Ticks-g.handed[i-2].Ticks)*tickNs)
		}
	}
	slices.SortFunc(l.upper, func(a, b limit) int { return cmp.Compare(a.offsetNs, b.offsetNs) })
	slices.SortFunc(l.lower, func(a, b limit) int { return cmp.Compare(b.offsetNs, a.offsetNs) })
	l.upper, l.lower = l.upper[:min(keptLimits, len(l.upper))], l.lower[:min(keptLimits, len(l.lower))]
	return l, roundTripNs
}

func (l *limits) add(other limits) {
	l.upper = append(l.upper, other.upper...)
	l.lower = append(l.lower, other.lower...)
}

// skew bounds the rate at which the offset changes, as a share: a straight line
// that passes below all upper limits and above all lower ones is no steeper than
// from any lower limit to any later upper one.
func (l *limits) skew() (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	for _, u := range l.upper {
		for _, w := range l.lower {
			slope := (u.offsetNs - w.offsetNs) / (u.atNs - w.atNs)
			if u.atNs > w.atNs {
				hi = math.Min(hi, slope)
			} else if u.atNs < w.atNs {
				lo = math.Max(lo, slope)
			}
		}
	}
	return lo, hi
}

// at bounds the offset at a time, given that it changes at a constant rate:
// between two limits of one kind, before and after, it keeps to the line through
// them.
func (l *limits) at(ns float64) (lo, hi float64) {
	return -tightest(l.lower, ns, -1), tightest(l.upper, ns, 1)
}

// tightest is the least upper limit at a time; of lower limits, with their sign
// turned.
func tightest(all []limit, ns, sign float64) float64 {
	least := math.Inf(1)
	for _, a := range all {
		for _, b := range all {
			if a.atNs <= ns && ns < b.atNs {
				share := (ns - a.atNs) / (b.atNs - a.atNs)
				least = math.Min(least, sign*(a.offsetNs+share*(b.offsetNs-a.offsetNs)))
			}
		}
	}
	return least
}

// Offsets are how far the CPUs of a machine are apart in what they show of one
// clock, and how fast they drift apart. Both rest on nothing but the order of
// readings that threads handed over, and on a rate that is constant on each CPU
// while it lasts.
type Offsets struct {
	Clock string
	// CPUs are the CPUs on which the clock could be read, in ascending order.
	CPUs []int
	// Direct of the Pairs of CPUs were asked directly; the bounds of all are
	// drawn from those by way of third CPUs, wherever that is tighter.
	Direct, Pairs int
	// RoundTripNs is the shortest hand-over from one CPU to another and back.
	RoundTripNs float64
	// WorstHandOverNs is the longest time from a reading to the next CPU's.
	WorstHandOverNs float64
	// Contradictory tells that no constant offsets and rates explain the readings.
	Contradictory bool

	offsets, skews *differences
	accuracyNs     float64
	spanNs         float64 // from the first to the last limit
}

// Offset is the reading of CPUs[j] less that of CPUs[i] at the same time, in the
// middle of the measurement, in nanoseconds. The bounds hold for certain; they are
// NaN where the CPUs were not linked by any hand-overs.
func (o *Offsets) Offset(i, j int) stats.Estimate { return estimateOf(o.offsets, i, j, 1, "ns") }

// Skew is how much faster CPUs[j] runs than CPUs[i], in parts per million. Its bounds are like those
// of Offset.
func (o *Offsets) Skew(i, j int) stats.Estimate { return estimateOf(o.skews, i, j, 1e6, "ppm") }

func estimateOf(d *differences, i, j int, scale float64, unit string) stats.Estimate {
	lo, hi := d.between(i, j)
	e := stats.Estimate{Value: (lo + hi) / 2, Lo: lo, Hi: hi, Statistic: "middle of bounds"}
	if math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		e.Value, e.Lo, e.Hi = math.NaN(), math.NaN(), math.NaN()
	}
	return e.Scaled(scale, unit)
}

// newOffsets draws all conclusions from the limits of pairs of CPUs, which are
// named by their places.
func newOffsets(clock string, cpus []int, pairs map[[2]int]*limits, accuracyNs float64) *Offsets {
	o := &Offsets{
		Clock: clock, CPUs: cpus, Direct: len(pairs), Pairs: len(cpus) * (len(cpus) - 1) / 2,
		offsets: newDifferences(len(cpus)), skews: newDifferences(len(cpus)),
		accuracyNs: accuracyNs,
	}
	first, last := span(pairs)
	o.spanNs = last - first
	for pair, l := range pairs {
		lo, hi := l.at((first + last) / 2)
		o.offsets.bound(pair[0], pair[1], lo, hi)
		lo, hi = l.skew()
		o.skews.bound(pair[0], pair[1], lo, hi)
	}
	offsetsHold, skewsHold := o.offsets.close(), o.skews.close()
	o.Contradictory = !offsetsHold || !skewsHold
	return o
}

// span is from when to when limits were taken.
func span(pairs map[[2]int]*limits) (first, last float64) {
	first, last = math.Inf(1), math.Inf(-1)
	for _, l := range pairs {
		for _, one := range append(slices.Clone(l.upper), l.lower...) {
			first, last = math.Min(first, one.atNs), math.Max(last, one.atNs)
		}
	}
	return first, last
}
