package stats

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/stat/distuv"
)

// Ticks holds sums over calls that are short compared with a tick of the clock that timed them. Each call
// saw the clock advance by a whole number of ticks, mostly 0. The mean of these numbers is the mean
// duration in ticks, if calls are equally likely to start at any place within a tick (Falco, 2009;
// Lambert and Power 2008, equation 1).
//
// The sums are whole numbers. Those of two threads, or of two machines whose clocks have the same tick,
// can be added exactly, and tell as much as a single count of all calls.
type Ticks struct {
	// Calls is the number of calls.
	Calls uint64
	// Sum is the sum of the ticks that each call saw, and Squares the sum of their squares. A sum that
	// would overflow stays at math.MaxUint64.
	Sum, Squares uint64
}

// Add counts a call that saw the clock advance by the given number of ticks.
func (t *Ticks) Add(ticks uint64) {
	*t = t.Plus(Ticks{Calls: 1, Sum: ticks, Squares: square(ticks)})
}

// Plus returns the sum of both counts.
func (t Ticks) Plus(other Ticks) Ticks {
	return Ticks{
		Calls:   plus(t.Calls, other.Calls),
		Sum:     plus(t.Sum, other.Sum),
		Squares: plus(t.Squares, other.Squares),
	}
}

// Mean returns the mean duration of a call in nanoseconds, for ticks of tickNs. N of the estimate is the
// number of calls.
//
// The interval is that of the mean of all calls of this kind; the counted calls are a sample of them. It
// is a score interval ([ScoreInterval]) with the variance of the ticks. Even if durations never vary,
// the ticks do, because a call may start at any place within a tick; varying durations add to that. So
// the interval also holds for few ticks, or none.
//
// Mean assumes that calls are independent of one another. Calls that follow one another closely are
// not: one that saw the clock advance is followed by many that can't. The interval is then too wide, by
// a factor of 1/sqrt(1-p) if calls take the share p of all time, which matters for shares of a quarter
// and more. The interval is too narrow if durations change slowly, so that a slow call's neighbours are
// slow too. If calls keep step with the clock, neither sums nor interval mean anything. Sums can't show
// any of this.
//
// Without calls, with sums that no calls can have, or with sums that overflowed, the result is NaN.
func (t Ticks) Mean(tickNs float64) Estimate {
	e := Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), Unit: "ns", Statistic: "mean", N: saturated(t.Calls)}
	variance, ok := t.variance()
	if !ok || !(tickNs > 0) || math.IsInf(tickNs, 0) {
		return e
	}
	n := float64(t.Calls)
	mean := float64(t.Sum) / n
	s := Scatter{Units: n, Dispersion: 1, Extra: math.Max(0, variance-rounding(mean)) * n / math.Max(1, n-1)}
	if s.Extra > 0 {
		clumps := float64(t.Sum) / float64(t.Squares) * float64(t.Sum)
		s.Freedom = math.Max(1, clumps) * math.Pow(variance/s.Extra, 2)
	}
	e.Value = mean * tickNs
	lo, hi := ScoreInterval(mean, s)
	e.Lo, e.Hi = lo*tickNs, hi*tickNs
	return e
}

// variance returns the variance of the ticks of a call, divided by n and not by n-1. It is computed in
// 128 bits, because the two terms may nearly cancel.
func (t Ticks) variance() (v float64, ok bool) {
	if t.Calls == 0 || max(t.Calls, t.Sum, t.Squares) == math.MaxUint64 {
		return 0, false
	}
	hi, lo := bits.Mul64(t.Calls, t.Squares)
	offHi, offLo := bits.Mul64(t.Sum, t.Sum)
	lo, borrow := bits.Sub64(lo, offLo, 0)
	hi, borrow = bits.Sub64(hi, offHi, borrow)
	if borrow != 0 || t.Squares < t.Sum {
		return 0, false
	}
	n := float64(t.Calls)
	return (float64(hi)*0x1p64 + float64(lo)) / n / n, true
}

// Scatter describes how a count of ticks scatters about its expected value.
type Scatter struct {
	// Units is the number of independent chances to see a tick.
	Units float64
	// Dispersion is the variance of a unit's number of ticks, without Extra, divided by f(1-f). That is the variance
	// of a duration of k + f ticks that never varies (see [ScoreInterval]). Dispersion is 1 for independent chances.
	Dispersion float64
	// Extra is the additional variance of a unit at the observed mean; it is assumed to grow with the
	// mean.
	Extra float64
	// Freedom is the number of degrees of freedom of the variance; 0 if the variance is known, not
	// estimated.
	Freedom float64
}

// ScoreInterval bounds the expected number of ticks of a unit at 95 %, given the observed mean. The
// interval holds all expected values for which the observed mean is within a certain number of their own
// standard deviations: 1.96, or Student's quantile if the variance is estimated. For counts of 0 and 1
// that is Wilson's interval for a proportion (Wilson, "Probable Inference, the Law of Succession, and
// Statistical Inference", JASA 22, 1927), which also holds near 0 and 1 (Brown, Cai and DasGupta,
// "Interval Estimation for a Binomial Proportion", Statistical Science 16, 2001). If the duration never
// varies, an expected value of k + f ticks has the variance f(1-f), whatever the whole number k is.
func ScoreInterval(mean float64, s Scatter) (lo, hi float64) {
	z := StudentT(s.Freedom)
	inside := func(expected float64) bool {
		variance := s.Dispersion * rounding(expected)
		if mean > 0 {
			variance += s.Extra * expected / mean
		}
		return (mean-expected)*(mean-expected)*s.Units <= z*z*variance
	}
	far := s.farthest(mean, z)
	return edge(mean, math.Floor(mean), math.Max(0, mean-far), inside), edge(mean, math.Ceil(mean), mean+far, inside)
}

// farthest returns the largest possible distance of an expected value from the mean: the variance of
// rounding is at most a quarter.
func (s Scatter) farthest(mean, z float64) float64 {
	constant, linear := z*z/s.Units*(s.Dispersion/4+s.Extra), 0.0
	if mean > 0 {
		linear = z * z / s.Units * s.Extra / mean
	}
	return (linear + math.Sqrt(linear*linear+4*constant)) / 2
}

// edge returns the bound of the interval between mean and far: the last value for which inside is
// true. whole is the whole number of ticks next to mean on that side. The variance has a minimum
// there, so inside may become true again beyond whole; such values do not count if inside is
// false at whole.
func edge(mean, whole, far float64, inside func(float64) bool) float64 {
	in, out := mean, whole
	if inside(whole) {
		in, out = whole, far
	}
	for range 100 {
		if middle := in + (out-in)/2; inside(middle) {
			in = middle
		} else {
			out = middle
		}
	}
	return in
}

// rounding returns the variance of the whole number of ticks that a call sees, for a call whose
// duration is the given number of ticks.
func rounding(ticks float64) float64 {
	f := ticks - math.Floor(ticks)
	return f * (1 - f)
}

// StudentT returns the 97.5 % quantile of Student's t with the given number of degrees of freedom: the
// number of standard errors from the value to a bound of its 95 % interval. For 0 degrees of freedom,
// which means that nothing was estimated, it is the quantile of the normal distribution.
func StudentT(freedom float64) float64 {
	if freedom <= 0 || freedom > 1e6 {
		return distuv.UnitNormal.Quantile(0.975)
	}
	return distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(0.975)
}

func square(x uint64) uint64 {
	hi, lo := bits.Mul64(x, x)
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}

func plus(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}

func saturated(n uint64) int { return int(min(n, math.MaxInt)) }
