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

// TailPercentiles are the quantiles that [Tails] holds.
var TailPercentiles = []float64{0.5, 0.9, 0.99, 0.999}

// Tails say how the durations of single calls or runs are distributed, in nanoseconds.
type Tails struct {
	// Percentiles are those of [TailPercentiles], in this order, each with an order-statistics
	// interval ([QuantileInterval]). One whose interval the samples can't carry has neither bounds
	// nor value: p99 takes 368 samples.
	Percentiles []Estimate `json:"percentiles"`
	// WorstNs is the longest of the samples. The next one may be longer.
	WorstNs Float `json:"worst_ns"`
	N       int   `json:"n"`
	// Reasons say which percentiles are missing, and how many samples they take.
	Reasons []string `json:"reasons"`
}

// TailsOf are the tails of durations in any order.
func TailsOf(durations []float64) Tails { return TailsBetween(durations, durations, durations) }

// TailsBetween are the tails of durations that are known to lie between low and high each, and are
// most likely middle. A percentile of the durations lies between those of low and high.
func TailsBetween(low, middle, high []float64) Tails {
	return newTails(slices.Sorted(slices.Values(low)), slices.Sorted(slices.Values(middle)), slices.Sorted(slices.Values(high)), Quantile)
}

// TailsOfReadings are the tails of durations of which each is the difference of two readings of a
// clock that moves in steps of stepNs, and is off by less than a step therefore.
//
// Where the step is a tenth of the interquartile range of the durations or more, the value of a
// percentile is read off a distribution with the rounding taken out. The interval holds the step in
// any case, and assumes nothing of the distribution.
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
			t.Reasons = append(t.Reasons, fmt.Sprintf("%s takes %d samples or more, there are %d", PercentileName(e.Statistic), few.Need, few.Have))
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

// widened has intervals that reach further down and up. Durations are not negative.
func (t Tails) widened(downNs, upNs float64) Tails {
	t.Percentiles = slices.Clone(t.Percentiles)
	for i := range t.Percentiles {
		e := &t.Percentiles[i]
		e.Lo, e.Hi = math.Max(0, e.Lo-downNs), e.Hi+upNs
	}
	return t
}

// Shifted are the tails of durations that are longer by shift, which is negative for a cost that
// is taken off. The shift's interval is added to theirs.
func (t Tails) Shifted(shift Estimate) Tails {
	t = t.widened(-shift.Lo, shift.Hi)
	for i := range t.Percentiles {
		t.Percentiles[i].Value = math.Max(0, t.Percentiles[i].Value+shift.Value)
	}
	t.WorstNs = FloatOf(math.Max(0, t.WorstNs.Value()+shift.Value))
	return t
}

// Known are the percentiles that the samples carry.
func (t Tails) Known() []Estimate {
	return slices.DeleteFunc(slices.Clone(t.Percentiles), func(e Estimate) bool { return math.IsNaN(e.Value) })
}

// String writes the percentiles that are known, with their intervals, and the worst.
func (t Tails) String() string {
	var text string
	for _, e := range t.Known() {
		text += fmt.Sprintf("%s %s (%s), ", PercentileName(e.Statistic), e.Time(), e.Range())
	}
	return text + "worst " + Duration(t.WorstNs.Value(), 3)
}

// PercentileName writes a median as p50, beside other percentiles.
func PercentileName(statistic string) string {
	if statistic == QuantileName(0.5) {
		return "p50"
	}
	return statistic
}

// unrounded is the p-quantile of durations of which sorted are the readings, whole numbers of steps
// but for a common offset.
//
// Where calls begin anywhere within a step, the share of readings of at most k steps is the mean of
// the durations' distribution function from k to k + 1 steps. Taking second differences off turns
// these means into the function's values at k + 1/2, which a monotone cubic joins (Fritsch and Butland, "A
// method for constructing local monotone piecewise cubic interpolants", SIAM J. Sci. Stat. Comput.
// 5, 1984).
func unrounded(sorted []float64, step, p float64) float64 {
	const around = 4
	share := func(k int) float64 {
		until := sorted[0] + (float64(k)+0.5)*step
		return float64(sort.Search(len(sorted), func(i int) bool { return sorted[i] > until })) / float64(len(sorted))
	}
	middle := int(math.Round((Quantile(sorted, p) - sorted[0]) / step))
	var at, below []float64
	for k := middle - around; k <= middle+around; k++ {
		value := share(k) - (share(k+1)-2*share(k)+share(k-1))/24
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
	return (lo + hi) / 2
}
