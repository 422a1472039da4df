package clock

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// scale converts ticks to nanoseconds: ns = ticks * multiplier / 2^shift, in 128 bits. The
// multiplier has 63 bits, so that the factor is exact to one part in 2^63, and no result that
// fits an int64 is off by more than 1.5 nanoseconds, rounding included.
type scale struct {
	multiplier uint64
	shift      uint
}

// newScale returns the scale of a counter with the rate hz, from 1 Hz to 1 THz.
func newScale(hz float64) (scale, error) {
	if math.IsNaN(hz) || hz < 1 || hz > 1e12 {
		return scale{}, fmt.Errorf("a counter's rate of %g Hz is not between 1 Hz and 1 THz", hz)
	}
	factor := new(big.Rat).Quo(big.NewRat(1e9, 1), new(big.Rat).SetFloat64(hz))
	exponent := new(big.Float).SetRat(factor).MantExp(nil) // factor < 2^exponent
	shift := uint(63 - exponent)                           // one bit remains for rounding up to a power of two
	shifted := new(big.Rat).Mul(factor, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), shift)))
	return scale{multiplier: rounded(shifted), shift: shift}, nil
}

// rounded returns the integer nearest to a positive number.
func rounded(x *big.Rat) uint64 {
	twice := new(big.Int).Lsh(x.Num(), 1)
	twice.Add(twice, x.Denom())
	return twice.Quo(twice, new(big.Int).Lsh(x.Denom(), 1)).Uint64()
}

// ns scales ticks and rounds to the nearest nanosecond. A result beyond the range of int64
// becomes the largest or the smallest int64.
func (s scale) ns(ticks int64) int64 {
	if ticks < 0 {
		return -s.magnitude(-uint64(ticks))
	}
	return s.magnitude(uint64(ticks))
}

func (s scale) magnitude(ticks uint64) int64 {
	high, low := bits.Mul64(ticks, s.multiplier)
	if s.shift >= 64 {
		return s.shiftedDown(high, low)
	}
	low, carry := bits.Add64(low, 1<<s.shift>>1, 0)
	high += carry
	if high>>(s.shift) != 0 || (high<<(64-s.shift)|low>>s.shift) > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(high<<(64-s.shift) | low>>s.shift)
}

// shiftedDown computes the result for a shift of 64 or more, for which only the high word
// remains.
func (s scale) shiftedDown(high, low uint64) int64 {
	if s.shift == 64 {
		high += low >> 63
	} else {
		high += 1 << (s.shift - 65)
	}
	return int64(min(high>>(s.shift-64), math.MaxInt64))
}
