package view

import (
	"fmt"
	"math"
	"slices"

	"chronoscope/stats"
)

// Chart is the content of a chart, as data: rows of marks, series in a frame, or the lanes of a
// trace. Package render draws it.
type Chart struct {
	Title  string // names the chart if a section has several
	Label  string // describes the chart for readers who can't see it
	X, Y   Axis   // Y is used by series only
	Rows   []Row
	Links  []Link   // between rows
	Marker *float64 // a vertical line at this value of X
	Series []Series
	Lanes  *Lanes
}

// shows reports whether there is anything to draw.
func (c Chart) shows() bool { return len(c.Rows)+len(c.Series) > 0 || c.Lanes != nil }

// xs returns the values at which the chart has marks along X, after those that the axis has to hold in any case.
func (c Chart) xs(all ...float64) []float64 {
	for _, row := range c.Rows {
		for _, s := range slices.Concat(row.Bars, row.Spans) {
			all = append(all, s.From, s.To)
		}
		for _, p := range row.Points {
			all = append(all, p.At)
		}
	}
	for _, s := range c.Series {
		for _, p := range s.Points {
			all = append(all, p.X)
		}
	}
	return all
}

// Axis maps values to positions in a chart.
type Axis struct {
	Title  string
	Lo, Hi float64
	Log    bool
	Unit   Unit
}

// Unit says how the values of an axis are written.
type Unit int

const (
	Plain  Unit = iota
	Time        // in nanoseconds
	Shares      // in percent, or parts per million
)

// Row is a row of a chart: the name of an item, its figure in words, and its marks.
type Row struct {
	Name, Figure string
	Bars         []Span
	Spans        []Span // lines
	Points       []Point
}

// Span is a line from one value to another. Look says how it is drawn: it names a class of the
// style sheet chart.css.
type Span struct {
	From, To float64
	Look     string
	Title    string // shown when the mouse points at it
}

// Point is a mark at a value.
type Point struct {
	At    float64
	Mark  string // dot, ring, diamond, square, triangle, cross, plus, tick or bar
	Look  string
	Title string
	Rise  float64 // above the middle of the row, in pixels
}

// Link is a line between two places, each given by a value and a row. Rows are counted from 0; a
// fraction is a place between two rows.
type Link struct{ X1, Row1, X2, Row2 float64 }

// Series is a set of points that are drawn alike, with or without lines between them.
type Series struct {
	Look   int // the argument of SeriesLook
	Joined bool
	Plain  bool // a line without marks
	Points []XY
}

// XY is a point of a series.
type XY struct {
	X, Y  float64
	Title string
}

// Key explains a mark, a line or a bar in the legend.
type Key struct {
	Mark string // empty for a line or a bar alone
	Line bool
	Bar  bool
	Look string
	Text string
}

// seriesMarks and the looks s0 to s5 distinguish series, in black and white too.
var seriesMarks = []string{"dot", "triangle", "square", "cross", "ring", "plus"}

// SeriesLook returns the look of the i-th series.
func SeriesLook(i int) string { return fmt.Sprintf("s%d", i%len(seriesMarks)) }

// SeriesMark returns the mark of the i-th series.
func SeriesMark(i int) string { return seriesMarks[i%len(seriesMarks)] }

// seriesKey returns the key of the i-th series.
func seriesKey(i int, text string) Key {
	return Key{Mark: SeriesMark(i), Line: true, Look: SeriesLook(i), Text: text}
}

// beyond is larger than any quantity that is shown; a larger number in a document is an error, and
// is not placed on an axis.
const beyond = 1e30

// extremes returns the least and the greatest value, or 0 and 1 if there is none.
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

// linear returns an axis that contains all finite values, with a margin.
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

// logarithmic returns an axis that contains all positive values; its title says that it is
// logarithmic.
func logarithmic(title string, unit Unit, values []float64) Axis {
	positive := where(values, func(v float64) bool { return v >= 1/beyond })
	lo, hi := extremes(positive)
	if len(positive) == 0 || lo <= 0 {
		lo, hi = 1, 10
	}
	return Axis{Title: title + ", on a logarithmic scale", Unit: unit, Lo: lo / 1.3, Hi: hi * 1.3, Log: true}
}

// suited returns a logarithmic axis if the greatest value is more than 20 times the least, and otherwise a linear one.
func suited(title string, unit Unit, values []float64) Axis {
	if lo, hi := extremes(values); lo > 0 && hi/lo > 20 {
		return logarithmic(title, unit, values)
	}
	return linear(title, unit, values)
}

// scatter returns by how many pixels the i-th point of a row is raised, so that points of about the
// same value can be told apart.
func scatter(i int) float64 { return float64((i*5)%9-4) * 1.1 }

// knownSpan returns the span between two times, if both are known. Its title names what takes this
// time.
func knownSpan(from, to stats.Float, look, what string) []Span {
	if !from.Known() || !to.Known() {
		return nil
	}
	return []Span{{from.Value(), to.Value(), look, fmt.Sprintf("%s%s to %s", what, duration(from), duration(to))}}
}

// interval returns the mark of an estimate and the line of its interval.
func interval(e stats.Estimate) ([]Span, []Point) {
	title := e.TimeWithError()
	var spans []Span
	if stats.IsFinite(e.Lo) && stats.IsFinite(e.Hi) {
		title = fmt.Sprintf("%s, 95 %% interval %s", e.Time(), e.Range())
		spans = []Span{{e.Lo, e.Hi, "thick", title}}
	}
	return spans, []Point{{At: e.Value, Mark: "diamond", Look: "s2", Title: title}}
}

// intervalKeys returns the keys of the marks of [interval].
func intervalKeys(text string) []Key {
	return []Key{{Mark: "diamond", Look: "s2", Text: text}, {Line: true, Look: "thick", Text: "95 % interval"}}
}
