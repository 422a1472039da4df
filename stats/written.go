package stats

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Unknown is the text for a number that is not known.
const Unknown = "?"

// TimeUnit is a unit in which durations are written. The zero value stands for the unit that suits each
// duration.
type TimeUnit struct {
	Name string
	Ns   float64 // its length
	from float64 // the shortest duration that it suits, in nanoseconds
}

const hourNs, dayNs, yearNs = 3600e9, 86400e9, 365.25 * 86400e9

// timeUnits is sorted from the longest unit to the shortest. Seconds, milliseconds and microseconds start where the
// next shorter unit, rounded to three digits, would show 1000: 999.5 ms is written in seconds.
var timeUnits = []TimeUnit{
	{"years", yearNs, 2 * yearNs}, {"days", dayNs, 2 * dayNs}, {"hours", hourNs, 2 * hourNs},
	{"s", 1e9, 999.5e6}, {"ms", 1e6, 999.5e3}, {"µs", 1e3, 999.5}, {"ns", 1, 0},
}

// The units that a user may ask for.
var Second, Millisecond, Microsecond = timeUnits[3], timeUnits[4], timeUnits[5]

// unitOf returns the unit that suits a duration.
func unitOf(ns float64) TimeUnit {
	for _, u := range timeUnits {
		if math.Abs(ns) >= u.from {
			return u
		}
	}
	return timeUnits[len(timeUnits)-1] // for NaN too
}

// Duration formats nanoseconds in the unit that suits them, with the given number of significant digits:
// "1.23 ms".
func Duration(ns float64, digits int) string { return TimeUnit{}.Duration(ns, digits) }

// Duration formats nanoseconds in the unit, as [Duration] does.
func (u TimeUnit) Duration(ns float64, digits int) string {
	if !IsFinite(ns) {
		return Unknown
	}
	u = u.or(ns)
	return Significant(ns/u.Ns, digits) + " " + u.Name
}

// or returns the unit, or the unit that suits a duration.
func (u TimeUnit) or(ns float64) TimeUnit {
	if u.Ns == 0 {
		return unitOf(ns)
	}
	return u
}

// Significant formats a number with the given number of significant digits and without an exponent. It
// never cuts digits before the decimal point.
func Significant(v float64, digits int) string {
	switch {
	case v == 0:
		return "0"
	case !IsFinite(v):
		return Unknown
	}
	_, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', digits-1, 64), "e") // of the rounded number
	power, _ := strconv.Atoi(exponent)
	return fmt.Sprintf("%.*f", max(0, digits-1-power), v)
}

// magnitude returns the power of ten of a number's first digit.
func magnitude(x float64) int { return int(math.Floor(math.Log10(math.Abs(x)))) }

// Share formats a share with two digits, in percent or in parts per million.
func Share(share float64) string {
	switch percent := 100 * share; {
	case !IsFinite(share):
		return Unknown
	case percent == 0:
		return "0"
	case math.Abs(percent) < 0.01:
		return Significant(1e6*share, 2) + " ppm"
	default:
		return Significant(percent, 2) + " %"
	}
}

// Percent formats a share in percent with one decimal, and with none if it rounds to 100 % or more, unless it
// is exactly 100 %.
func Percent(share float64) string {
	switch {
	case !IsFinite(share):
		return Unknown
	case math.Abs(share) >= 0.9995 && share != 1:
		return fmt.Sprintf("%.0f %%", 100*share)
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

// mostDigits is the largest number of digits of a time, however well it is known.
const mostDigits = 7

// String returns the estimate with its unit, its 95 % interval, the statistic and the number of samples:
// "10.79 ms (10.75 to 11.17 ms), median of 100".
func (e Estimate) String() string {
	u := e.unit()
	text, _ := e.valueAndError(u)
	if bounds := e.rangeIn(u); bounds != Unknown {
		text += " (" + bounds + ")"
	}
	if e.Statistic != "" {
		text += fmt.Sprintf(", %s of %d", e.Statistic, e.N)
	}
	return text
}

// unit returns the unit in which String shows the estimate: a unit of time that suits it, or its own.
func (e Estimate) unit() TimeUnit {
	if e.Unit == "ns" {
		return unitOf(e.largest())
	}
	return TimeUnit{Name: e.Unit, Ns: 1}
}

// largest returns the value, or the larger bound if the value is 0 or unknown.
func (e Estimate) largest() float64 {
	if IsFinite(e.Value) && e.Value != 0 {
		return e.Value
	}
	return math.Max(math.Abs(e.Lo), math.Abs(e.Hi))
}

// Time formats an estimate in nanoseconds with as many digits as are known: the last two digits are
// those of half the width of its interval.
func (e Estimate) Time() string { return TimeUnit{}.Time(e) }

// Time formats an estimate in the unit, as [Estimate.Time] does.
func (u TimeUnit) Time(e Estimate) string {
	value, _ := e.valueAndError(u.or(e.Value))
	return value
}

// TimeWithError formats an estimate in nanoseconds and how far its interval reaches to both sides, in one
// unit: "10.79 ms ± 0.21 ms", or "10.79 ms -0.04 +0.38 ms" if the interval reaches further to one side.
func (e Estimate) TimeWithError() string { return TimeUnit{}.TimeWithError(e) }

// TimeWithError formats an estimate in the unit, as [Estimate.TimeWithError] does.
func (u TimeUnit) TimeWithError(e Estimate) string {
	value, off := e.valueAndError(u.or(e.Value))
	return strings.TrimSpace(value + " " + off)
}

// lopsided is the least ratio of the two sides of an interval for which both are shown.
const lopsided = 1.5

func (e Estimate) valueAndError(u TimeUnit) (value, off string) {
	below, above := e.Value-e.Lo, e.Hi-e.Value
	switch {
	case !IsFinite(e.Value):
		return Unknown, ""
	case !IsFinite(below+above) || below+above <= 0 || e.Value <= 0:
		return strings.TrimSpace(Significant(e.Value/u.Ns, 4) + " " + u.Name), ""
	}
	places := e.places(u, e.Value, 2)
	written := func(x float64) string { return fmt.Sprintf("%.*f", places, x/u.Ns) }
	value = strings.TrimSpace(written(e.Value) + " " + u.Name)
	if below < 0 || above < 0 || math.Max(below, above) > lopsided*math.Min(below, above) {
		return value, strings.TrimSpace(fmt.Sprintf("%s %s %s", signed(-below, written), signed(above, written), u.Name))
	}
	return value, strings.TrimSpace("± " + written(e.HalfWidth()) + " " + u.Name)
}

// signed formats a number with its sign; 0 has none.
func signed(x float64, written func(float64) string) string {
	if x > 0 {
		return "+" + written(x)
	}
	return written(x)
}

// places returns the number of decimals that shows two digits of half the interval's width, with between
// least and mostDigits digits of x.
func (e Estimate) places(u TimeUnit, x float64, least int) int {
	digits := least
	if e.HalfWidth() > 0 {
		digits = max(least, magnitude(x)-magnitude(e.HalfWidth())+2)
	}
	return max(0, min(digits, mostDigits)-1-magnitude(x/u.Ns))
}

// Range formats the interval of a time in nanoseconds, in the unit of the value: "10.75 to 11.17 ms". It
// is "?" if there is none.
func (e Estimate) Range() string { return TimeUnit{}.Range(e) }

// Range formats the interval in the unit, as [Estimate.Range] does.
func (u TimeUnit) Range(e Estimate) string { return e.rangeIn(u.or(e.largest())) }

func (e Estimate) rangeIn(u TimeUnit) string {
	if !IsFinite(e.Value) || !IsFinite(e.Lo) || !IsFinite(e.Hi) {
		return Unknown
	}
	places := 3
	if longest := math.Max(math.Abs(e.Lo), math.Abs(e.Hi)); longest > 0 {
		places = e.places(u, longest, 4)
	}
	return strings.TrimSpace(fmt.Sprintf("%.*f to %.*f %s", places, e.Lo/u.Ns, places, e.Hi/u.Ns, u.Name))
}

// Count formats a number with a noun: "1 run", "2 runs".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
