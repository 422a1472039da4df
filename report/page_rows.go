package report

import (
	"math"
	"unicode"
	"unicode/utf8"
)

// rowChart has a row for each of some things, with its name above its marks, so that
// long names take no room from the marks.
type rowChart struct {
	label string
	x     scale
	title string // of the axis
	zero  *float64
	rows  []chartRow
}

// chartRow is a row: what it is of, its figure on the right, and its marks.
type chartRow struct {
	name, figure string
	bars         []rowSpan
	spans        []rowSpan
	points       []rowPoint
}

// rowSpan reaches from one value to another.
type rowSpan struct {
	from, to float64
	class    string
	title    string
}

type rowPoint struct {
	at    float64
	mark  string
	class string
	title string
	rise  float64 // above the middle of the row, in pixels
}

// Heights of a row, in pixels.
const (
	rowHeight   = 42
	rowName     = 13
	rowMiddle   = 28
	barHeight   = 10
	axisHeight  = 40
	mostName    = 38   // letters
	mostBeside  = 36   // letters of a name and its figure that stand side by side on a phone
	pointsPlace = 1000 // places in which points of a row are told apart
)

// chart draws it.
func (r rowChart) chart() *chart {
	c := &chart{Label: r.label, Height: len(r.rows)*rowHeight + axisHeight}
	bottom := float64(len(r.rows) * rowHeight)
	c.axis(r.x, 0, bottom, r.title)
	if r.zero != nil {
		at := share(r.x.at(*r.zero))
		c.Lines = append(c.Lines, chartLine{X1: at, X2: at, Y1: 0, Y2: bottom, Class: "zero"})
	}
	for i, row := range r.rows {
		r.draw(c, row, float64(i*rowHeight))
	}
	return c
}

func (r rowChart) draw(c *chart, row chartRow, top float64) {
	name, class := shortened(row.name, mostName), "figure"
	if utf8.RuneCountInString(name+row.figure) > mostBeside {
		class += " long"
	}
	c.Texts = append(c.Texts,
		chartText{X: 0, Y: top + rowName, Anchor: "start", Class: "name", Text: name},
		chartText{X: 1, Y: top + rowName, Anchor: "end", Class: class, Text: row.figure})
	middle := top + rowMiddle
	for _, b := range row.bars {
		from, to := r.x.at(b.from), r.x.at(b.to)
		c.Bars = append(c.Bars, chartBar{X: share(from), Width: share(math.Max(to-from, 0)), Y: middle - barHeight/2, Height: barHeight, Class: b.class, Title: b.title})
	}
	for _, s := range row.spans {
		c.Lines = append(c.Lines, chartLine{X1: share(r.x.at(s.from)), X2: share(r.x.at(s.to)), Y1: middle, Y2: middle, Class: s.class, Title: s.title})
	}
	for _, p := range thinned(row.points, r.x) {
		c.Points = append(c.Points, chartPoint{X: share(r.x.at(p.at)), Y: middle - p.rise, Mark: p.mark, Class: p.class, Title: p.title})
	}
}

// thinned leaves out points that would lie on others and those that are nowhere.
func thinned(points []rowPoint, x scale) []rowPoint {
	type place struct {
		at          int
		rise        float64
		mark, class string
	}
	taken := map[place]bool{}
	var shown []rowPoint
	for _, p := range points {
		if !(math.Abs(p.at) <= beyond) {
			continue
		}
		here := place{int(x.at(p.at) * pointsPlace), p.rise, p.mark, p.class}
		if !taken[here] {
			taken[here] = true
			shown = append(shown, p)
		}
	}
	return shown
}

// scattered raises the points of a row by a few pixels, in turn, so that those of about
// the same value are seen apart.
func scattered(i int) float64 { return float64((i*5)%9-4) * 1.1 }

// capitalized is a text as a title begins.
func capitalized(t string) string {
	first, size := utf8.DecodeRuneInString(t)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + t[size:]
}

// shortened cuts a text that is too long for its place.
func shortened(t string, most int) string {
	if utf8.RuneCountInString(t) <= most {
		return t
	}
	return string([]rune(t)[:most-1]) + "…"
}
