package probe

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// value is a reading in units, as a whole number and a fraction, because a single floating-point number
// can't represent the nanoseconds since 1970.
type value struct {
	whole    int64
	fraction float64 // from 0 up to, but not including, 1
}

// longestValue is the largest length of a value's text.
const longestValue = 48

// parseValue reads a decimal number, with or without a fraction and an exponent.
func parseValue(text string) (value, error) {
	refused := func() (value, error) {
		return value{}, fmt.Errorf("%q is no decimal number within range", excerpt(text))
	}
	if text == "" || len(text) > longestValue || strings.Trim(text, "0123456789+-.eE") != "" {
		return refused()
	}
	if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
		return value{whole: whole}, nil
	}
	digits, rest, _ := strings.Cut(text, ".")
	if whole, err := strconv.ParseInt(digits, 10, 64); err == nil && !strings.HasPrefix(digits, "-") && isDigits(rest) {
		if fraction, err := strconv.ParseFloat("0."+rest, 64); err == nil && fraction < 1 {
			return value{whole, fraction}, nil
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	if whole := math.Floor(x); err == nil && math.Abs(whole) < 1<<53 {
		return value{int64(whole), x - whole}, nil
	}
	return refused()
}

// isDigits reports whether s consists of digits only, as an exact fraction does.
func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// scale converts values of a timer to ticks. A unit has ticksPerUnit ticks, and ticks are counted from
// base.
type scale struct {
	ticksPerUnit int64
	base         int64 // in units
}

// finestTickNs is the shortest tick of a timer whose readings have fractions. It is far below the
// accuracy of any clock.
const finestTickNs = 1e-3

// newScale returns the scale with the longest tick such that all readings are whole ticks. The tick is
// the unit divided by a power of ten, down to a thousandth of a nanosecond. Readings that all are the
// same don't show whether the timer has fractions, so they get the shortest tick.
func newScale(readings []value, unitNs float64) scale {
	s := scale{ticksPerUnit: 1, base: readings[0].whole}
	constant := !differ(readings)
	for (constant || !s.holds(readings)) && s.tickNs(unitNs) > finestTickNs {
		s.ticksPerUnit *= 10
	}
	return s
}

// rounding is the share of a tick that floating-point rounding may cause.
const rounding = 0.01

// holds reports whether all readings are whole ticks, and different readings are different ticks.
func (s scale) holds(readings []value) bool {
	seen := map[value]value{}
	for _, r := range readings {
		ticks := r.fraction * float64(s.ticksPerUnit)
		if math.Abs(ticks-math.Round(ticks)) > rounding {
			return false
		}
		rounded := value{r.whole, math.Round(ticks)}
		if other, taken := seen[rounded]; taken && other != r {
			return false
		}
		seen[rounded] = r
	}
	return true
}

// tickNs returns the length of a tick, in nanoseconds.
func (s scale) tickNs(unitNs float64) float64 { return unitNs / float64(s.ticksPerUnit) }

// reading converts a reading to ticks since the base.
func (s scale) reading(v value) (int64, error) {
	units := v.whole - s.base
	if overflown := (units < v.whole) != (s.base > 0); overflown && s.base != 0 || !s.fits(units) {
		return 0, fmt.Errorf("%d lies too far from the first reading, %d", v.whole, s.base)
	}
	return s.ticks(units, v.fraction), nil
}

// duration converts a duration to ticks.
func (s scale) duration(v value) (int64, error) {
	if !s.fits(v.whole) {
		return 0, fmt.Errorf("%d units are too many", v.whole)
	}
	return s.ticks(v.whole, v.fraction), nil
}

// fits reports whether a number of units is small enough that differences of readings do not overflow.
func (s scale) fits(units int64) bool {
	most := (int64(1)<<61)/s.ticksPerUnit - 1
	return -most <= units && units <= most
}

func (s scale) ticks(units int64, fraction float64) int64 {
	return units*s.ticksPerUnit + int64(math.Round(fraction*float64(s.ticksPerUnit)))
}
