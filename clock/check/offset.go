package check

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/stats"
)

// limit is a one-sided bound of the offset of one clock from another, at a time.
type limit struct{ atNs, offsetNs float64 }

// limits holds the limits of one pair of clocks: of a clock and its reference, or of the same
// clock on two CPUs.
type limits struct{ upper, lower []limit }

// keptLimits is how many limits of each game are kept: the tightest ones.
const keptLimits = 4

// limitsOf returns the limits that a game sets to the offset of its second CPU from its first,
// and the duration of its shortest round trip. If the first CPU hands over to the second, the
// second reads later, so that its reading minus the first's is no less than the offset. If the
// second hands over to the first, the first's reading minus the second's is no less than the
// negative offset. A reading may have been taken at any time within accuracyNs after the time
// that it shows.
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

// skew bounds the relative rate at which the offset changes. The offset follows a straight line
// below all upper limits and above all lower ones. Such a line is no steeper than the line from
// any lower limit to any later upper one.
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

// at bounds the offset at the time ns if it changes at a constant rate: between two limits of
// one kind, one before ns and one after, it lies within the line through them.
func (l *limits) at(ns float64) (lo, hi float64) {
	return -tightest(l.lower, ns, -1), tightest(l.upper, ns, 1)
}

// tightest returns the least upper limit at the time ns. For lower limits, sign is -1 and the
// result has the opposite sign.
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

// Offsets holds how far the readings of one clock on the CPUs of a machine are apart, and how
// fast they drift apart. It assumes only that each reading was handed over before the next was
// taken, and that the rate on each CPU was constant during the measurement.
type Offsets struct {
	Clock string
	// CPUs are the CPUs on which the clock could be read, in ascending order.
	CPUs []int
	// Direct is the number of pairs of CPUs that handed readings to each other and back, and Pairs that of
	// all pairs. The bounds of a pair also follow from those of its CPUs with a third CPU, if
	// these are tighter.
	Direct, Pairs int
	// RoundTripNs is the shortest time from one CPU to another and back.
	RoundTripNs float64
	// Contradictory reports that no constant offsets and rates explain the readings.
	Contradictory bool

	offsets, skews *differences
	accuracyNs     float64
	spanNs         float64 // from the first to the last limit
}

// Offset returns the reading of CPUs[j] minus that of CPUs[i] at the same time, in the middle of
// the measurement, in nanoseconds. The truth certainly lies within the bounds. They are NaN if
// no chain of hand-overs links the two CPUs.
func (o *Offsets) Offset(i, j int) stats.Estimate { return estimateOf(o.offsets, i, j, 1, "ns") }

// Skew returns how much faster the clock runs on CPUs[j] than on CPUs[i], in parts per million,
// with bounds like those of Offset.
func (o *Offsets) Skew(i, j int) stats.Estimate { return estimateOf(o.skews, i, j, 1e6, "ppm") }

func estimateOf(d *differences, i, j int, scale float64, unit string) stats.Estimate {
	lo, hi := d.between(i, j)
	e := stats.Estimate{Value: (lo + hi) / 2, Lo: lo, Hi: hi, Statistic: "middle of bounds"}
	if math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		e.Value, e.Lo, e.Hi = math.NaN(), math.NaN(), math.NaN()
	}
	return e.Scaled(scale, unit)
}

// newOffsets derives the bounds of all pairs from the limits of some pairs of CPUs. A CPU is
// identified by its index in cpus.
func newOffsets(clock string, cpus []int, pairs map[[2]int]*limits, accuracyNs float64) *Offsets {
	o := &Offsets{
		Clock: clock, CPUs: cpus, Pairs: len(cpus) * (len(cpus) - 1) / 2,
		offsets: newDifferences(len(cpus)), skews: newDifferences(len(cpus)),
		accuracyNs: accuracyNs,
	}
	first, last := span(pairs)
	o.spanNs = last - first
	for pair, l := range pairs {
		if len(l.upper) > 0 && len(l.lower) > 0 { // otherwise its games were stopped before that
			o.Direct++
		}
		lo, hi := l.at((first + last) / 2)
		o.offsets.bound(pair[0], pair[1], lo, hi)
		lo, hi = l.skew()
		o.skews.bound(pair[0], pair[1], lo, hi)
	}
	offsetsHold, skewsHold := o.offsets.close(), o.skews.close()
	o.Contradictory = !offsetsHold || !skewsHold
	return o
}

// span returns the times of the first and of the last limit.
func span(pairs map[[2]int]*limits) (first, last float64) {
	first, last = math.Inf(1), math.Inf(-1)
	for _, l := range pairs {
		for _, one := range append(slices.Clone(l.upper), l.lower...) {
			first, last = math.Min(first, one.atNs), math.Max(last, one.atNs)
		}
	}
	return first, last
}
