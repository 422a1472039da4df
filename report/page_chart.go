package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// chart is a figure whose horizontal places are shares of its width and whose vertical
// ones are pixels. So it fills whatever width there is, on paper or on a phone, while
// its text and marks keep their size.
type chart struct {
	Label  string // what it shows, for who can't see it
	Height int
	YAxis  bool        // labels stand on the left
	Grid   []chartLine // behind all else
	Bars   []chartBar
	Lines  []chartLine
	Points []chartPoint
	Texts  []chartText
}

type chartBar struct {
	X, Width  share
	Y, Height float64
	Class     string
	Title     string // shown when pointed at
}

type chartLine struct {
	X1, X2 share
	Y1, Y2 float64
	Class  string
	Title  string
}

// chartPoint is a mark of one of the shapes in pageMarks.
type chartPoint struct {
	X     share
	Y     float64
	Mark  string
	Class string
	Title string
}

type chartText struct {
	X      share
	Y      float64
	DX     int
	Anchor string // start, middle or end
	Class  string
	Text   string
}

// share is a part of the width.
type share float64

// String writes it in percent.
func (s share) String() string { return strconv.FormatFloat(100*float64(s), 'f', 3, 64) + "%" }

// scale leads from values to places along an axis.
type scale struct {
	lo, hi float64
	log    bool
	label  func(float64) string
	most   int // labels; 0 for as many as fit everywhere
}

// usualLabels fit side by side on a phone.
const usualLabels = 5

// at is where a value stands, 0 to 1; what is beyond an end stands at it.
func (s scale) at(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	at := (v - lo) / (hi - lo)
	if !(at > 0) { // NaN, too
		return 0
	}
	return math.Min(at, 1)
}

// linear is a scale that holds all finite values, with round ends.
func linear(values []float64, label func(float64) string) scale {
	lo, hi := extremes(values)
	if lo == hi {
		lo, hi = lo-math.Abs(lo)/10-1e-9, hi+math.Abs(hi)/10+1e-9
	}
	margin := (hi - lo) / 20
	s := scale{lo: lo - margin, hi: hi + margin, label: label}
	if lo >= 0 {
		s.lo = math.Max(0, s.lo)
	}
	return s
}

// logarithmic is a scale that holds all positive values.
func logarithmic(values []float64, label func(float64) string) scale {
	var positive []float64
	for _, v := range values {
		if v >= 1/beyond {
			positive = append(positive, v)
		}
	}
	lo, hi := extremes(positive)
	if len(positive) == 0 || lo <= 0 {
		lo, hi = 1, 10
	}
	return scale{lo: lo / 1.3, hi: hi * 1.3, log: true, label: label}
}

// beyond is more than any quantity here; a larger number in a document means nothing, and
// has no place on an axis.
const beyond = 1e30

// extremes are the least and the greatest value, 0 and 1 where there is none.
func extremes(values []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if math.Abs(v) <= beyond {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
	}
	if lo > hi {
		return 0, 1
	}
	return lo, hi
}

// ticks are round values along the axis, about as many as fit.
func (s scale) ticks() []float64 {
	most := s.most
	if most == 0 {
		most = usualLabels
	}
	if s.log && s.hi/s.lo >= 10 {
		return roundLogs(s.lo, s.hi, most)
	}
	step := math.Pow(10, math.Floor(math.Log10((s.hi-s.lo)/float64(most))))
	for _, times := range []float64{2, 5, 10} {
		if (s.hi-s.lo)/step <= float64(most) {
			break
		}
		step = times * math.Pow(10, math.Floor(math.Log10((s.hi-s.lo)/float64(most))))
	}
	var all []float64
	for i := math.Ceil(s.lo / step * (1 - 1e-12)); i*step <= s.hi*(1+1e-12) && len(all) <= 2*most; i++ {
		all = append(all, i*step)
	}
	return all
}

// roundLogs are powers of ten, and values between them where there is room.
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

// everyPower are powers of ten, all or every second, third ... of them.
func everyPower(lo, hi float64, most int) []float64 {
	from, to := math.Ceil(math.Log10(lo)-1e-9), math.Floor(math.Log10(hi)+1e-9)
	every := math.Max(1, math.Ceil((to-from+1)/float64(most)))
	var all []float64
	for power := from; power <= to; power += every {
		all = append(all, math.Pow(10, power))
	}
	return all
}

// axis draws the horizontal axis at a height, with lines up to the top.
func (c *chart) axis(s scale, top, bottom float64, title string) {
	c.Grid = append(c.Grid, chartLine{X1: 0, X2: 1, Y1: bottom, Y2: bottom, Class: "axis"})
	for _, v := range s.ticks() {
		at := share(s.at(v))
		c.Grid = append(c.Grid, chartLine{X1: at, X2: at, Y1: top, Y2: bottom, Class: "grid"})
		c.Texts = append(c.Texts, chartText{X: at, Y: bottom + 15, Anchor: anchorAt(at), Class: "tick", Text: s.label(v)})
	}
	c.Texts = append(c.Texts, chartText{X: 1, Y: bottom + 32, Anchor: "end", Class: "unit", Text: title})
}

// anchorAt keeps a label within the chart.
func anchorAt(at share) string {
	switch {
	case at < 0.06:
		return "start"
	case at > 0.94:
		return "end"
	}
	return "middle"
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
	return minus(strconv.FormatFloat(value, 'g', 6, 64)) + " " + unit
}

// tickPercent labels an axis of shares.
func tickPercent(v float64) string {
	if v > 0 && v < 1e-4*(1-1e-9) {
		return strconv.FormatFloat(1e6*v, 'g', 6, 64) + " ppm"
	}
	return minus(strconv.FormatFloat(100*v, 'g', 6, 64)) + " %"
}

func tickNumber(v float64) string { return minus(strconv.FormatFloat(v, 'g', 6, 64)) }

// minus is the sign that is as wide as a digit.
func minus(number string) string { return strings.Replace(number, "-", "\u2212", 1) }

// legendKey says what a mark, a line or a bar stands for.
type legendKey struct {
	Mark  string // empty for a line or a bar alone
	Line  bool
	Bar   bool
	Class string
	Text  string
}

// seriesMarks and the classes s0 to s5 tell series apart, in black and white too.
var seriesMarks = []string{"dot", "triangle", "square", "cross", "ring", "plus"}

// seriesClass is the look of the i-th series, and seriesMark its mark.
func seriesClass(i int) string { return fmt.Sprintf("s%d", i%len(seriesMarks)) }
func seriesMark(i int) string  { return seriesMarks[i%len(seriesMarks)] }
