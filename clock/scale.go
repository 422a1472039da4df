package clock

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// scale turns ticks into nanoseconds: ns = ticks * multiplier / 2^shift, in
// 128 bits. The multiplier fills 63 bits, so that the factor is exact to one
// part in 2^63, and no outcome that fits an int64 is off by more than a
// nanosecond and a half, rounding included.
type scale struct {
	multiplier uint64
	shift      uint
}

// newScale is the scale of a counter with that rate. Rates are accepted from
// 1 Hz to 1 THz.
func newScale(hz float64) (scale, error) {
	if math.IsNaN(hz) || hz < 1 || hz > 1e12 {
		return scale{}, fmt.Errorf("a counter's rate of %g Hz is not between 1 Hz and 1 THz", hz)
	}
	factor := new(big.Rat).Quo(big.NewRat(1e9, 1), new(big.Rat).SetFloat64(hz))
	exponent := new(big.Float).SetRat(factor).MantExp(nil) // factor < 2^exponent
	shift := uint(63 - exponent)                           // leaves room for rounding up to a power of two
	shifted := new(big.Rat).Mul(factor, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), shift)))
	return scale{multiplier: rounded(shifted), shift: shift}, nil
}

// rounded is the nearest integer of a positive number.
func rounded(x *big.Rat) uint64 {
	twice := new(big.Int).Lsh(x.Num(), 1)
	twice.Add(twice, x.Denom())
	return twice.Quo(twice, new(big.Int).Lsh(x.Denom(), 1)).Uint64()
}

// ns scales and rounds to the nearest nanosecond. An outcome beyond the range
// of int64 is cut to it.
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

// shiftedDown is for a shift of 64 or more, where only the high word remains.
func (s scale) shiftedDown(high, low uint64) int64 {
	if s.shift == 64 {
		high += low >> 63
	} else {
		high += 1 << (s.shift - 65)
	}
	return int64(min(high>>(s.shift-64), math.MaxInt64))
}
