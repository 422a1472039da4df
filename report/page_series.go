package report

import "math"

// seriesChart shows values over values, some series in one frame.
type seriesChart struct {
	label          string
	x, y           scale
	xTitle, yTitle string
	bands          []band
	series         []series
}

// series is some points of one look.
type series struct {
	look   int
	joined bool
	points []seriesPoint
}

type seriesPoint struct {
	x, y  float64
	title string
}

// band is a range of y in which values are as they should be.
type band struct{ from, to float64 }

// Heights of a frame, in pixels.
const (
	frameTop    = 22
	frameHeight = 210
)

// chart draws it.
func (s seriesChart) chart() *chart {
	c := &chart{Label: s.label, Height: frameTop + frameHeight + axisHeight, YAxis: true}
	bottom := float64(frameTop + frameHeight)
	for _, b := range s.bands {
		high, low := s.place(b.to), s.place(b.from)
		c.Bars = append(c.Bars, chartBar{X: 0, Width: 1, Y: high, Height: low - high, Class: "band"})
	}
	c.axis(s.x, frameTop, bottom, s.xTitle)
	c.Texts = append(c.Texts, chartText{X: 0, Y: 11, DX: -52, Anchor: "start", Class: "unit", Text: s.yTitle})
	for _, v := range s.y.ticks() {
		y := s.place(v)
		c.Grid = append(c.Grid, chartLine{X1: 0, X2: 1, Y1: y, Y2: y, Class: "grid"})
		c.Texts = append(c.Texts, chartText{X: 0, Y: y + 4, DX: -7, Anchor: "end", Class: "tick", Text: s.y.label(v)})
	}
	for _, one := range s.series {
		s.draw(c, one)
	}
	return c
}

// place is where a value stands, in pixels from the top.
func (s seriesChart) place(v float64) float64 {
	return frameTop + frameHeight*(1-s.y.at(v))
}

func (s seriesChart) draw(c *chart, one series) {
	class := seriesClass(one.look)
	var before *chartPoint
	for _, p := range one.points {
		if math.IsNaN(p.x) || math.IsNaN(p.y) {
			before = nil
			continue
		}
		point := chartPoint{X: share(s.x.at(p.x)), Y: s.place(p.y), Mark: seriesMark(one.look), Class: class, Title: p.title}
		if one.joined && before != nil {
			c.Lines = append(c.Lines, chartLine{X1: before.X, Y1: before.Y, X2: point.X, Y2: point.Y, Class: "series " + class})
		}
		c.Points = append(c.Points, point)
		before = &point
	}
}
