package stats

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Unknown is how a number is written that could not be had.
const Unknown = "?"

// timeUnit is a unit in which durations are written.
type timeUnit struct {
	name string
	ns   float64 // its length
	from float64 // the shortest duration that is written in it, in nanoseconds
}

const hourNs, dayNs, yearNs = 3600e9, 86400e9, 365.25 * 86400e9

// timeUnits begin with the longest. Three digits never round up to 1000 of a unit.
var timeUnits = []timeUnit{
	{"years", yearNs, 2 * yearNs}, {"days", dayNs, 2 * dayNs}, {"hours", hourNs, 2 * hourNs},
	{"s", 1e9, 999.5e6}, {"ms", 1e6, 999.5e3}, {"µs", 1e3, 999.5}, {"ns", 1, 0},
}

// unitOf is the unit that suits a duration.
func unitOf(ns float64) timeUnit {
	for _, u := range timeUnits {
		if math.Abs(ns) >= u.from {
			return u
		}
	}
	return timeUnits[len(timeUnits)-1] // of NaN, too
}

// Duration writes nanoseconds in the unit that suits them, with that many significant
// digits: "1.23 ms".
func Duration(ns float64, digits int) string {
	if Finite(ns) == nil {
		return Unknown
	}
	u := unitOf(ns)
	return Significant(ns/u.ns, digits) + " " + u.name
}

// Significant writes a number with that many significant digits and without an exponent.
// Whole digits are never cut.
func Significant(v float64, digits int) string {
	switch {
	case v == 0:
		return "0"
	case Finite(v) == nil:
		return Unknown
	}
	_, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', digits-1, 64), "e") // of the rounded number
	power, _ := strconv.Atoi(exponent)
	return fmt.Sprintf("%.*f", max(0, digits-1-power), v)
}

// magnitude is the power of ten of a number's first digit.
func magnitude(x float64) int { return int(math.Floor(math.Log10(math.Abs(x)))) }

// Share writes a share with two digits, as percent or as parts per million.
func Share(share float64) string {
	switch percent := 100 * share; {
	case Finite(share) == nil:
		return Unknown
	case percent == 0:
		return "0"
	case math.Abs(percent) < 0.01:
		return Significant(1e6*share, 2) + " ppm"
	default:
		return Significant(percent, 2) + " %"
	}
}

// Percent writes a share as percent with one place, and with none from 100 % on.
func Percent(share float64) string {
	switch {
	case Finite(share) == nil:
		return Unknown
	case math.Abs(share) >= 0.9995 && share != 1:
		return fmt.Sprintf("%.0f %%", 100*share)
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

// mostDigits of a time are written, however well it is known.
const mostDigits = 7

// Time writes an estimate in nanoseconds with as many digits as are known of it: two digits
// of half the width of its interval are shown.
func (e Estimate) Time() string {
	value, _ := e.timeAndError()
	return value
}

// TimeWithError writes an estimate in nanoseconds and half the width of its interval in one
// unit: "10.79 ms ± 0.21 ms".
func (e Estimate) TimeWithError() string {
	value, off := e.timeAndError()
	return strings.TrimSpace(value + " " + off)
}

func (e Estimate) timeAndError() (value, off string) {
	width := e.HalfWidth()
	switch {
	case Finite(e.Value) == nil:
		return Unknown, ""
	case Finite(width) == nil || width <= 0 || e.Value <= 0:
		return Duration(e.Value, 4), ""
	}
	u := unitOf(e.Value)
	places := e.places(u, 2)
	return fmt.Sprintf("%.*f %s", places, e.Value/u.ns, u.name), fmt.Sprintf("± %.*f %s", places, width/u.ns, u.name)
}

// places are how many decimals show two digits of half the interval's width, between least
// and mostDigits digits of the value.
func (e Estimate) places(u timeUnit, least int) int {
	digits := magnitude(e.Value) - magnitude(e.HalfWidth()) + 2
	return max(0, min(max(digits, least), mostDigits)-1-magnitude(e.Value/u.ns))
}

// Range writes the interval of a time in nanoseconds, in the unit of the value:
// "10.75 to 11.17 ms". It is "?" where there is none.
func (e Estimate) Range() string {
	if Finite(e.Value) == nil || Finite(e.Lo) == nil || Finite(e.Hi) == nil {
		return Unknown
	}
	if e.Value == 0 {
		e.Value = math.Max(math.Abs(e.Lo), math.Abs(e.Hi))
	}
	u := unitOf(e.Value)
	places := 3
	if e.Value != 0 {
		places = max(0, 3-magnitude(e.Value/u.ns))
		if e.HalfWidth() > 0 {
			places = e.places(u, 4)
		}
	}
	return fmt.Sprintf("%.*f to %.*f %s", places, e.Lo/u.ns, places, e.Hi/u.ns, u.name)
}

// Count writes a number with a noun: "1 run", "2 runs".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
