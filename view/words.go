package view

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"chronoscope/stats"
)

// number is a number that may be missing.
type number interface {
	int64 | float64 | stats.Float
}

// floatOf returns a number's value, or NaN if it is missing. The functions of package stats write
// NaN as unknown.
func floatOf[N number](n N) float64 {
	switch n := any(n).(type) {
	case int64:
		return float64(n)
	case stats.Float:
		return n.Value()
	}
	return any(n).(float64)
}

// duration writes a time with three significant digits.
func duration[N number](ns N) string { return durationTo(ns, 3) }

func durationTo[N number](ns N, digits int) string { return stats.Duration(floatOf(ns), digits) }

// written writes the value of an estimate with four significant digits: it is often known better
// than to one percent, and 41.67 ns should not be shown as 42 ns.
func written(e stats.Estimate) string { return stats.Duration(e.Value, 4) }

// short writes the value of an estimate with three significant digits.
func short(e stats.Estimate) string { return stats.Duration(e.Value, 3) }

func percent[N number](share N) string { return stats.Percent(floatOf(share)) }

func share[N number](share N) string { return stats.Share(floatOf(share)) }

// signed writes an error in percent with its sign, and "?" if it is not known.
func signed[N number](share N) string {
	switch x := floatOf(share); {
	case !stats.IsFinite(x):
		return stats.Unknown
	case math.Abs(x) < 0.00005:
		return "0.00 %"
	case math.Abs(x) < 0.1:
		return fmt.Sprintf("%+.2f %%", 100*x)
	default:
		return fmt.Sprintf("%+.0f %%", 100*x)
	}
}

// plusMinus writes half the width of the interval as a share of the value. Users give the precision
// they want in this form, and verdicts name it.
func plusMinus(e stats.Estimate) string {
	if !(e.Value > 0) {
		return stats.Unknown
	}
	return exactOr(e.RelativeHalfWidth())
}

// farther writes the distance from the value to the farther end of its interval, as a share of the
// value.
func farther(e stats.Estimate) string {
	return exactOr(math.Max(e.Hi-e.Value, e.Value-e.Lo) / e.Value)
}

func exactOr(off float64) string {
	if off == 0 {
		return "exact"
	}
	return stats.Share(off)
}

// size writes an amount of memory with three significant digits.
func size(n *int64) string {
	if n == nil {
		return stats.Unknown
	}
	value, unit := float64(*n), "bytes"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < 999.5 {
			break
		}
		value, unit = value/1024, next
	}
	return stats.Significant(value, 3) + " " + unit
}

// ratio writes a ratio of times, and its interval. The interval of one run on each side is unknown:
// both its ends are the value.
func ratio(e stats.Estimate) (value, bounds string) {
	value, bounds = stats.Unknown, stats.Unknown
	if stats.IsFinite(e.Value) {
		value = stats.Significant(e.Value, 4)
	}
	if stats.IsFinite(e.Lo) && stats.IsFinite(e.Hi) && (e.Lo < e.Hi || e.N > 1) {
		bounds = stats.Significant(e.Lo, 4) + " to " + stats.Significant(e.Hi, 4)
	}
	return value, bounds
}

// probability writes a p-value with two significant digits, or that it is below 0.0001.
func probability[N number](p N) string {
	if x := floatOf(p); x < 0.0001 {
		return "< 0.0001"
	}
	return stats.Significant(floatOf(p), 2)
}

// because returns a sentence with the first reason of a verdict, to be appended to a paragraph.
func because(reasons []string) string {
	if len(reasons) == 0 {
		return ""
	}
	return " Not trusted: " + reasons[0] + "."
}

func joined(reasons []string) string { return strings.Join(reasons, "; ") }

func word(v *string) string {
	if v == nil {
		return ""
	}
	return *v
}

// orElse returns a number's value, or missing if it has none.
func orElse[N number](n N, missing float64) float64 {
	if x := floatOf(n); stats.IsFinite(x) {
		return x
	}
	return missing
}

func orZero[N number](n N) float64 { return orElse(n, 0) }

// distinct returns the values of some elements, each once, in their order.
func distinct[E any, T comparable](elements []E, of func(E) T) (all []T) {
	for _, e := range elements {
		if v := of(e); !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// where returns the elements for which holds is true.
func where[E any](elements []E, holds func(E) bool) []E {
	return slices.DeleteFunc(slices.Clone(elements), func(e E) bool { return !holds(e) })
}

// capitalized returns a text that begins with a capital letter.
func capitalized(t string) string {
	first, size := utf8.DecodeRuneInString(t)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + t[size:]
}

// mostName is the number of letters that a name may have in a title or a row of a chart.
const mostName = 38

// Shortened cuts a text that is longer than most letters. It cuts in the middle, since names that
// begin alike differ at their ends.
func Shortened(t string, most int) string {
	if utf8.RuneCountInString(t) <= most {
		return t
	}
	letters := []rune(t)
	end := (most - 1) / 2
	return string(letters[:most-1-end]) + "…" + string(letters[len(letters)-end:])
}
