package stats

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/stat/distuv"
)

// Ticks are sums over calls that were timed with a clock that is coarse beside
// them: each call saw the clock advance by some whole number of ticks, 0 for
// most. The mean of these numbers is the mean duration in ticks, if calls start
// evenly over the tick (Falco, 2009; Lambert and Power 2008, equation 1).
//
// The sums are whole numbers. Those of two threads, or of two machines whose
// clocks have the same tick, add up exactly, and tell as much as if one had
// counted all calls.
type Ticks struct {
	// Calls is how many there were.
	Calls uint64
	// Sum is of the ticks that each of them saw, Squares of their squares. A sum
	// that does not fit stays at math.MaxUint64.
	Sum, Squares uint64
}

// Add counts a call that saw the clock advance by that many ticks.
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

// Mean is the mean duration of a call in nanoseconds, for ticks of tickNs. N of
// the estimate is the number of calls.
//
// The interval is that of the mean of all calls of this kind, of which these are
// a sample. It is a score interval ([ScoreInterval]) with the variance that the
// ticks show: at least that of a duration that never varies, by the chance where
// in a tick it starts, and whatever varying durations add. So it holds for few
// ticks, or none, as well.
//
// It takes calls for independent of one another. Calls that follow one another
// closely are not: one that saw the clock advance is followed by many that can't.
// The interval is too wide then, by a factor of 1/sqrt(1-p) where calls take the
// share p of all time, which matters for shares of a quarter and more. It is too
// narrow where calls keep step with the clock, so that neither sums nor interval
// mean anything, and where durations change slowly, so that a slow call's
// neighbours are slow as well. Sums can't tell.
//
// No calls, or sums that no calls can have, or that did not fit, give NaN.
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

// variance is that of the ticks of a call, by n and not n-1. It is taken in 128
// bits, since the two terms may nearly cancel.
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

// Scatter is how a count of ticks scatters about what is expected.
type Scatter struct {
	// Units is how many independent chances to see a tick there were.
	Units float64
	// Dispersion is the variance over that of whole numbers of ticks around the
	// mean, which is 1 for independent chances.
	Dispersion float64
	// Extra is the variance of a unit beyond it, at the observed mean; it is taken
	// to grow with the mean.
	Extra float64
	// Freedom are the degrees of freedom of the variance; 0 where nothing of it is
	// estimated.
	Freedom float64
}

// ScoreInterval bounds the expected number of ticks of a unit at 95 %, where mean
// was observed: it holds all expectations from which the observation is at most
// this many of their own standard deviations off. For counts of 0 and 1 that is
// Wilson's interval for a proportion (Wilson, "Probable Inference, the Law of
// Succession, and Statistical Inference", JASA 22, 1927), which holds near 0 and
// 1 (Brown, Cai and DasGupta, "Interval Estimation for a Binomial Proportion",
// Statistical Science 16, 2001). An expectation of k + f ticks has the variance
// f(1-f) about it, whatever k, where the duration never varies.
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

// farthest is how far from the mean an expectation may be at most: rounding has a
// variance of a quarter where it is largest.
func (s Scatter) farthest(mean, z float64) float64 {
	constant, linear := z*z/s.Units*(s.Dispersion/4+s.Extra), 0.0
	if mean > 0 {
		linear = z * z / s.Units * s.Extra / mean
	}
	return (linear + math.Sqrt(linear*linear+4*constant)) / 2
}

// edge is where the inside ends on the way from the mean to far, by way of whole,
// a whole number of ticks. An expectation that is a whole number scatters least:
// where the inside ends before it, what lies beyond does not count.
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

// rounding is the variance of the whole number of ticks that a duration of that
// many sees.
func rounding(ticks float64) float64 {
	f := ticks - math.Floor(ticks)
	return f * (1 - f)
}

// StudentT is the 97.5 % quantile of Student's t with this number of degrees of freedom: the number
// of standard errors from the value to a bound of its 95 % interval. For 0 degrees, where nothing
// was estimated, it is the quantile of the normal distribution.
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
