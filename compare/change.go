package compare

import (
	"cmp"
	"fmt"
	"math"

	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// Outcomes of a comparison.
const (
	Faster       = "faster"
	Slower       = "slower"
	Better       = "better"
	Worse        = "worse"
	Same         = "same"
	Changed      = "changed" // neither direction is better
	Undecided    = "undecided"
	Incomparable = "incomparable"
)

const (
	// sameWithin is the largest distance of a ratio from 1 that counts as no change.
	sameWithin = 0.01
	seed       = 1 // gives the same records the same comparison each time
	// defaultWork stands for work that has no name, since the defaults measure it.
	defaultWork = "the defaults"
)

// samplesTested returns how many samples of each subject are tested against those of the first. It
// falls with the number of subjects, since each needs a test.
func samplesTested(subjects int) int { return min(500, max(20, 2000/subjects)) }

// changeOf compares b with a; it returns nil if one of them is missing. s is by how much the ratios of all clocks
// scatter between the two subjects. The P value is computed from at most the given number of samples of each subject.
// The outcome rests on the interval instead, which includes more than the samples' scatter.
func changeOf(a, b *view.Figure, s scatter, samples int) *record.ComparisonChange {
	if a == nil || b == nil {
		return nil
	}
	c := &record.ComparisonChange{Ratio: noRatio(), Outcome: Incomparable, Reasons: []string{}}
	switch {
	case a.Estimate.Unit != b.Estimate.Unit:
		c.Reasons = append(c.Reasons, fmt.Sprintf("units differ: %q and %q", a.Estimate.Unit, b.Estimate.Unit))
		return c
	case a.Work != b.Work:
		c.Reasons = append(c.Reasons, fmt.Sprintf("they were measured under different conditions: %s, and %s", cmp.Or(a.Work, defaultWork), cmp.Or(b.Work, defaultWork)))
		return c
	case a.Verdict == stats.Unusable, b.Verdict == stats.Unusable:
		c.Reasons = append(c.Reasons, unusable(a, b)...)
		return c
	}
	c.Ratio = ratio(a, b)
	if p, err := stats.PermutationTest(stats.Thinned(a.Samples, samples), stats.Thinned(b.Samples, samples), seed); err == nil {
		c.PValue = stats.FloatOf(p)
	}
	if isOfClock(a) {
		c.Reasons = append(c.Reasons, s.widen(a, b, &c.Ratio)...)
	}
	c.Outcome = outcome(a, b, c.Ratio)
	if a.Estimate.Value == 0 && !stats.IsFinite(c.Ratio.Value) {
		c.Reasons = append(c.Reasons, "the first value is 0, so there is no ratio")
	}
	if a.StandIn != "" {
		c.Reasons = append(c.Reasons, "of wall times, since others are not known of all: what waited for a CPU is in them")
	}
	return c
}

// unusable returns a reason for each of the two figures that is unusable.
func unusable(a, b *view.Figure) (reasons []string) {
	for _, of := range []struct {
		which string
		f     *view.Figure
	}{{"the first", a}, {"the other", b}} {
		if of.f.Verdict == stats.Unusable {
			reason := of.which + " is unusable"
			if len(of.f.Reasons) > 0 {
				reason += ": " + of.f.Reasons[0]
			}
			reasons = append(reasons, reason)
		}
	}
	return reasons
}

func noRatio() stats.Estimate { return stats.NoEstimate("ratio", "ratio") }

// ratio returns b over a. Its interval follows from those of the two, which were measured
// independently, on the scale of logarithms: the squared distances from value to bound are added,
// separately for each side (Zou and Donner, "Construction of confidence limits about effect
// measures: A general approach", Statistics in Medicine 27, 2008).
func ratio(a, b *view.Figure) stats.Estimate {
	r := noRatio()
	x, y := a.Estimate, b.Estimate
	switch {
	case x.Value == y.Value:
		r.Value = 1
	case x.Value > 0 && y.Value >= 0:
		r.Value = y.Value / x.Value
	default:
		return r
	}
	r.N = min(x.N, y.N)
	xlo, xhi := boundsOf(a)
	ylo, yhi := boundsOf(b)
	if !(xlo > 0 && ylo > 0 && x.Value > 0 && y.Value > 0) {
		return r
	}
	r.Lo = r.Value * math.Exp(-math.Hypot(math.Log(xhi/x.Value), math.Log(y.Value/ylo)))
	r.Hi = r.Value * math.Exp(math.Hypot(math.Log(x.Value/xlo), math.Log(yhi/y.Value)))
	return r
}

// boundsOf returns the bounds of the figure's interval, widened if necessary to include the value.
// Without an interval, they are the value minus and plus the known repeatability; NaN if that is
// not known either.
func boundsOf(f *view.Figure) (lo, hi float64) {
	e := f.Estimate
	lo, hi = e.Lo, e.Hi
	if math.IsNaN(lo) || math.IsNaN(hi) {
		lo, hi = e.Value-f.Repeatability, e.Value+f.Repeatability
	}
	return math.Min(lo, e.Value), math.Max(hi, e.Value)
}

// outcome judges a ratio. Without an interval it only recognises equal values. If one of two values is 0, as a count may
// be, there is no interval of a ratio, and their own intervals decide.
func outcome(a, b *view.Figure, r stats.Estimate) string {
	known := stats.IsFinite(r.Lo) && stats.IsFinite(r.Hi)
	isZero := !isOfClock(a) && (a.Estimate.Value == 0 || b.Estimate.Value == 0)
	switch {
	case a.Estimate.Value == b.Estimate.Value:
		return Same
	case isZero && b.Estimate.Lo > a.Estimate.Hi:
		return direction(a, 1)
	case isZero && b.Estimate.Hi < a.Estimate.Lo:
		return direction(a, -1)
	case !known:
		return Undecided
	case r.Lo >= 1-sameWithin && r.Hi <= 1+sameWithin:
		return Same
	case r.Lo > 1:
		return direction(a, 1)
	case r.Hi < 1:
		return direction(a, -1)
	}
	if stats.IsFinite(a.Repeatability) {
		return Same // the values differ by less than repeated measurements do
	}
	return Undecided
}

// direction is [Direction] for a figure.
func direction(f *view.Figure, sign int) string { return Direction(f.Quantity, f.Better, sign) }

// Direction returns the outcome for a quantity that has increased (sign 1) or decreased (sign -1).
// better says which values are better: [view.Lower], [view.Higher] or [view.Neither].
func Direction(quantity, better string, sign int) string {
	isTime := quantity == view.QuantityTime || quantity == view.QuantityWall || quantity == view.QuantityCPU
	switch {
	case better == view.Neither:
		return Changed
	case (better == view.Higher) == (sign > 0) && isTime:
		return Faster
	case (better == view.Higher) == (sign > 0):
		return Better
	case isTime:
		return Slower
	}
	return Worse
}
