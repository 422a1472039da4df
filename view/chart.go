package view

import (
	"fmt"
	"math"

	"chronoscope/stats"
)

// Chart is what a chart shows, as data: rows of marks, series in a frame, or the lanes of a
// trace. How it is drawn is up to package render.
type Chart struct {
	Title  string // among several charts of a section
	Label  string // what it shows, for readers who can't see it
	X, Y   Axis   // Y of series alone
	Rows   []Row
	Links  []Link   // between rows
	Marker *float64 // a vertical line at this value of X
	Series []Series
	Lanes  *Lanes
}

// shows reports whether there is anything to draw.
func (c Chart) shows() bool { return len(c.Rows)+len(c.Series) > 0 || c.Lanes != nil }

// Axis maps values to positions in a chart.
type Axis struct {
	Title  string
	Lo, Hi float64
	Log    bool
	Unit   Unit
}

// Unit says how the values of an axis are written.
type Unit int

// The units.
const (
	Plain  Unit = iota
	Time        // nanoseconds
	Shares      // percent, or parts per million
)

// Row is one of several things: its name, its figure in words, and its marks.
type Row struct {
	Name, Figure string
	Bars         []Span
	Spans        []Span // lines
	Points       []Point
}

// Span reaches from one value to another. Look names how it is drawn: a class of the style
// sheet chart.css.
type Span struct {
	From, To float64
	Look     string
	Title    string // shown when pointed at
}

// Point is a mark at a value.
type Point struct {
	At    float64
	Mark  string // dot, ring, diamond, square, triangle, cross, plus, tick or bar
	Look  string
	Title string
	Rise  float64 // above the middle of the row, in pixels
}

// Link is a line between two places, each a value and a row; rows are counted from 0, and
// places between two rows are fractions.
type Link struct{ X1, Row1, X2, Row2 float64 }

// Series is a set of points that are drawn alike, joined by a line or not.
type Series struct {
	Look   int // of the looks that tell series apart
	Joined bool
	Plain  bool // a line without marks
	Points []XY
}

// XY is a point of a series.
type XY struct {
	X, Y  float64
	Title string
}

// Key says what a mark, a line or a bar stands for.
type Key struct {
	Mark string // empty for a line or a bar alone
	Line bool
	Bar  bool
	Look string
	Text string
}

// seriesMarks and the looks s0 to s5 tell series apart, in black and white too.
var seriesMarks = []string{"dot", "triangle", "square", "cross", "ring", "plus"}

// SeriesLook is the look of the i-th series, and SeriesMark its mark.
func SeriesLook(i int) string { return fmt.Sprintf("s%d", i%len(seriesMarks)) }

// SeriesMark is the mark of the i-th series.
func SeriesMark(i int) string { return seriesMarks[i%len(seriesMarks)] }

// seriesKey explains a series.
func seriesKey(i int, text string) Key {
	return Key{Mark: SeriesMark(i), Line: true, Look: SeriesLook(i), Text: text}
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

// linear is an axis that holds all finite values, with a margin.
func linear(title string, unit Unit, values []float64) Axis {
	lo, hi := extremes(values)
	if lo == hi {
		lo, hi = lo-math.Abs(lo)/10-1e-9, hi+math.Abs(hi)/10+1e-9
	}
	margin := (hi - lo) / 20
	a := Axis{Title: title, Unit: unit, Lo: lo - margin, Hi: hi + margin}
	if lo >= 0 {
		a.Lo = math.Max(0, a.Lo)
	}
	return a
}

// logarithmic is an axis that holds all positive values, and says in its title that it is
// logarithmic.
func logarithmic(title string, unit Unit, values []float64) Axis {
	positive := where(values, func(v float64) bool { return v >= 1/beyond })
	lo, hi := extremes(positive)
	if len(positive) == 0 || lo <= 0 {
		lo, hi = 1, 10
	}
	return Axis{Title: title + ", on a logarithmic scale", Unit: unit, Lo: lo / 1.3, Hi: hi * 1.3, Log: true}
}

// scatter raises the points of a row by a few pixels, in turn, so that those of about the
// same value are seen apart.
func scatter(i int) float64 { return float64((i*5)%9-4) * 1.1 }

// knownSpan is the span between two times, if both are known. Its title is of what takes so long.
func knownSpan(from, to stats.Float, look, what string) []Span {
	if !from.Known() || !to.Known() {
		return nil
	}
	return []Span{{from.Value(), to.Value(), look, fmt.Sprintf("%s%s to %s", what, duration(from), duration(to))}}
}

// interval is an estimate's mark and the line of its interval.
func interval(e stats.Estimate) ([]Span, []Point) {
	title := e.TimeWithError()
	var spans []Span
	if stats.IsFinite(e.Lo) && stats.IsFinite(e.Hi) {
		title = fmt.Sprintf("%s, 95 %% interval %s", e.Time(), e.Range())
		spans = []Span{{e.Lo, e.Hi, "thick", title}}
	}
	return spans, []Point{{At: e.Value, Mark: "diamond", Look: "s2", Title: title}}
}

// intervalKeys explain the marks of [interval].
func intervalKeys(text string) []Key {
	return []Key{{Mark: "diamond", Look: "s2", Text: text}, {Line: true, Look: "thick", Text: "95 % interval"}}
}
