package stats

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/interp"
)

// TailPercentiles lists the quantiles that [Tails] holds, each as a share of the samples.
var TailPercentiles = []float64{0.5, 0.9, 0.99, 0.999}

// Tails describes the distribution of the durations of single calls or runs, in nanoseconds.
type Tails struct {
	// Percentiles are the quantiles of [TailPercentiles], in this order, with intervals from order
	// statistics ([QuantileInterval]). A percentile for which there are too few samples has no value and
	// no bounds: p99 needs 368.
	Percentiles []Estimate `json:"percentiles"`
	// WorstNs is the longest sample. A later one may be longer.
	WorstNs Float `json:"worst_ns"`
	N       int   `json:"n"`
	// Reasons say which percentiles are missing, and how many samples they need.
	Reasons []string `json:"reasons"`
}

// TailsOf returns the tails of durations in any order.
func TailsOf(durations []float64) Tails { return TailsBetween(durations, durations, durations) }

// TailsBetween returns the tails of durations of which only bounds are known: each duration lies between its
// low and its high, and most likely at its middle. The interval of a percentile begins at the lower end of the
// interval that the lows give, and ends at the upper end of the interval that the highs give.
func TailsBetween(low, middle, high []float64) Tails {
	return newTails(slices.Sorted(slices.Values(low)), slices.Sorted(slices.Values(middle)), slices.Sorted(slices.Values(high)), Quantile)
}

// TailsOfReadings returns the tails of durations that are differences of two readings of a clock. The
// clock moves in steps of stepNs, so that each difference is off by less than a step.
//
// If the interquartile range is at most ten steps, the value of a percentile is taken from a
// distribution from which the rounding is removed. The interval always includes the error of a step, and
// assumes nothing about the distribution.
func TailsOfReadings(durations []float64, stepNs float64) Tails {
	sorted := slices.Sorted(slices.Values(durations))
	quantile := Quantile
	if stepNs > 0 && Quantile(sorted, 0.75)-Quantile(sorted, 0.25) <= 10*stepNs {
		quantile = func(sorted []float64, p float64) float64 { return unrounded(sorted, stepNs, p) }
	}
	t := newTails(sorted, sorted, sorted, quantile)
	return t.widened(stepNs, stepNs)
}

func newTails(low, middle, high []float64, quantile func(sorted []float64, p float64) float64) Tails {
	t := Tails{N: len(middle), Percentiles: []Estimate{}, Reasons: []string{}}
	if t.N > 0 {
		t.WorstNs = FloatOf(middle[t.N-1])
	}
	for _, p := range TailPercentiles {
		e := NoEstimate("ns", QuantileName(p))
		e.N = t.N
		lower, _, err := QuantileInterval(low, p, "ns")
		upper, _, upperErr := QuantileInterval(high, p, "ns")
		var few *TooFewError
		switch err := cmp.Or(err, upperErr); {
		case errors.As(err, &few):
			t.Reasons = append(t.Reasons, fmt.Sprintf("%s needs %d samples or more, there are %d", PercentileName(e.Statistic), few.Need, few.Have))
		case err != nil:
			t.Reasons = append(t.Reasons, err.Error())
		default:
			e.Lo, e.Hi = lower.Lo, upper.Hi
			e.Value = quantile(middle, p)
		}
		t.Percentiles = append(t.Percentiles, e)
	}
	return t
}

// widened extends the intervals down and up, but not below 0.
func (t Tails) widened(downNs, upNs float64) Tails {
	t.Percentiles = slices.Clone(t.Percentiles)
	for i := range t.Percentiles {
		e := &t.Percentiles[i]
		e.Lo, e.Hi = math.Max(0, e.Lo-downNs), e.Hi+upNs
	}
	return t
}

// Shifted returns the tails of durations that are longer by shift; a negative shift subtracts a cost.
// Each interval is widened by the interval of the shift.
func (t Tails) Shifted(shift Estimate) Tails {
	t = t.widened(-shift.Lo, shift.Hi)
	for i := range t.Percentiles {
		t.Percentiles[i].Value = math.Max(0, t.Percentiles[i].Value+shift.Value)
	}
	t.WorstNs = FloatOf(math.Max(0, t.WorstNs.Value()+shift.Value))
	return t
}

// Known returns the percentiles for which there are enough samples.
func (t Tails) Known() []Estimate {
	return slices.DeleteFunc(slices.Clone(t.Percentiles), func(e Estimate) bool { return math.IsNaN(e.Value) })
}

// String returns the known percentiles, with their intervals, and the worst sample.
func (t Tails) String() string { return t.In(TimeUnit{}) }

// In returns the same as String, in a unit.
func (t Tails) In(u TimeUnit) string {
	var text string
	for _, e := range t.Known() {
		text += fmt.Sprintf("%s %s (%s), ", PercentileName(e.Statistic), u.Time(e), u.Range(e))
	}
	return text + "worst " + u.Duration(t.WorstNs.Value(), 3)
}

// PercentileName returns the name of a percentile; the median is p50, to match the others.
func PercentileName(statistic string) string {
	if statistic == QuantileName(0.5) {
		return "p50"
	}
	return statistic
}

// unrounded returns the p-quantile of the true durations, given their sorted readings. The readings are
// whole numbers of steps plus a common offset.
//
// If calls are equally likely to begin at any place within a step, the share of readings of at most k
// steps is the mean of the durations' distribution function from k to k + 1 steps. Subtracting second
// differences turns these means into the function's values at k + 1/2, which lie between the means before and after, and
// a monotone cubic connects the values (Fritsch and Butland, "A method for constructing local monotone piecewise cubic
// interpolants", SIAM J. Sci. Stat. Comput. 5, 1984). Since the function only grows, the quantile is less than a step from
// the first reading at or below which a share of p lies.
func unrounded(sorted []float64, step, p float64) float64 {
	const around = 4
	share := func(k int) float64 {
		until := sorted[0] + (float64(k)+0.5)*step
		return float64(sort.Search(len(sorted), func(i int) bool { return sorted[i] > until })) / float64(len(sorted))
	}
	middle := int(math.Round((Quantile(sorted, p) - sorted[0]) / step))
	var at, below []float64
	for k := middle - around; k <= middle+around; k++ {
		value := min(max(share(k)-(share(k+1)-2*share(k)+share(k-1))/24, share(k-1)), share(k+1))
		if len(below) > 0 {
			value = math.Max(value, below[len(below)-1])
		}
		at, below = append(at, sorted[0]+(float64(k)+0.5)*step), append(below, value)
	}
	var joined interp.FritschButland
	if err := joined.Fit(at, below); err != nil || below[0] > p || below[len(below)-1] < p {
		return Quantile(sorted, p)
	}
	lo, hi := at[0], at[len(at)-1]
	for range 60 {
		if x := (lo + hi) / 2; joined.Predict(x) < p {
			lo = x
		} else {
			hi = x
		}
	}
	reading := sorted[sort.Search(len(sorted)-1, func(i int) bool { return float64(i+1) >= p*float64(len(sorted)) })]
	return min(max((lo+hi)/2, reading-step), reading+step)
}
