package render

import (
	"math"
	"strconv"
	"strings"

	"chronoscope/stats"
	"chronoscope/view"
)

// beyond is larger than any quantity that is shown; see package view.
const beyond = 1e30

// usualLabels is how many labels fit side by side on a phone.
const usualLabels = 5

// scale converts values of an axis to positions along it.
type scale struct{ view.Axis }

// at returns the position of a value, 0 to 1. A value beyond an end gets the position of that end.
func (s scale) at(v float64) part {
	lo, hi := s.Lo, s.Hi
	if s.Log {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	at := (v - lo) / (hi - lo)
	if !(at > 0) { // also true for NaN
		return 0
	}
	return part(math.Min(at, 1))
}

// label writes a value of the axis.
func (s scale) label(v float64) string {
	switch s.Unit {
	case view.Time:
		return tickDuration(v)
	case view.Shares:
		return tickPercent(v)
	}
	return tickNumber(v)
}

// ticks returns round values along the axis, about as many as fit.
func (s scale) ticks() []float64 {
	if s.Log && s.Hi/s.Lo >= 10 {
		return roundLogs(s.Lo, s.Hi, usualLabels)
	}
	power := math.Pow(10, math.Floor(math.Log10((s.Hi-s.Lo)/usualLabels)))
	step := power
	for _, times := range []float64{2, 5, 10} {
		if (s.Hi-s.Lo)/step <= usualLabels {
			break
		}
		step = times * power
	}
	var all []float64
	for i := math.Ceil(s.Lo / step * (1 - 1e-12)); i*step <= s.Hi*(1+1e-12) && len(all) <= 2*usualLabels; i++ {
		all = append(all, i*step+0) // turns -0 into 0
	}
	return all
}

// roundLogs returns powers of ten, and values between them if there is room.
func roundLogs(lo, hi float64, most int) []float64 {
	for _, digits := range [][]float64{{1, 2, 5}, {1, 3}} {
		var all []float64
		for power := math.Pow(10, math.Floor(math.Log10(lo))); power <= hi; power *= 10 {
			for _, digit := range digits {
				if v := digit * power; v >= lo && v <= hi {
					all = append(all, v)
				}
			}
		}
		if len(all) <= most {
			return all
		}
	}
	return everyPower(lo, hi, most)
}

// everyPower returns powers of ten: all of them, or every second, third ... one.
func everyPower(lo, hi float64, most int) []float64 {
	from, to := math.Ceil(math.Log10(lo)-1e-9), math.Floor(math.Log10(hi)+1e-9)
	every := math.Max(1, math.Ceil((to-from+1)/float64(most)))
	var all []float64
	for power := from; power <= to; power += every {
		all = append(all, math.Pow(10, power))
	}
	return all
}

// tickDuration labels an axis of times in nanoseconds.
func tickDuration(v float64) string {
	if v == 0 {
		return "0"
	}
	value, unit := v, "ns"
	switch abs := math.Abs(v); {
	case abs >= 1e9*(1-1e-9):
		value, unit = v/1e9, "s"
	case abs >= 1e6*(1-1e-9):
		value, unit = v/1e6, "ms"
	case abs >= 1e3*(1-1e-9):
		value, unit = v/1e3, "µs"
	}
	return tickNumber(value) + " " + unit
}

// tickPercent labels an axis of shares.
func tickPercent(v float64) string {
	if v > 0 && v < 1e-4*(1-1e-9) {
		return tickNumber(1e6*v) + " ppm"
	}
	return tickNumber(100*v) + " %"
}

// tickNumber writes a number with a minus sign as wide as a digit.
func tickNumber(v float64) string {
	return strings.Replace(strconv.FormatFloat(v, 'g', 6, 64), "-", "\u2212", 1)
}

// laneFigure writes the number of gaps of a cause and the share of time that they took.
func laneFigure(gaps int, share float64) string {
	if gaps == 0 {
		return "none"
	}
	return stats.Count(gaps, "gap") + ", " + stats.Share(share)
}
