package render

import (
	"math"
	"strconv"
	"unicode/utf8"

	"chronoscope/view"
)

// drawing is the geometry of a chart. Horizontal positions are shares of the chart's width and
// vertical positions are pixels, so that the chart fills any width, on paper or on a phone, while
// its text and marks keep their size.
type drawing struct {
	Label  string // describes the chart for readers who can't see it
	Height int
	Framed bool       // with room for labels on the left
	Grid   []drawLine // drawn behind everything else
	Bars   []drawBar
	Lines  []drawLine
	Points []drawPoint
	Texts  []drawText
}

type drawBar struct {
	X, Width  part
	Y, Height float64
	Class     string
	Title     string // shown when the mouse points at it
}

type drawLine struct {
	X1, X2 part
	Y1, Y2 float64
	Class  string
	Title  string
}

type drawPoint struct {
	X     part
	Y     float64
	Mark  string
	Class string
	Title string
}

type drawText struct {
	X      part
	Y      float64
	DX     int
	Anchor string // start, middle or end
	Class  string
	Text   string
	Title  string // shown when the mouse points at it
}

// part is a share of the chart's width.
type part float64

// String writes the share in percent.
func (p part) String() string { return strconv.FormatFloat(100*float64(p), 'f', 3, 64) + "%" }

// Heights and vertical positions, in pixels.
const (
	rowHeight   = 42
	rowName     = 13 // the baseline of the row's name
	rowMiddle   = 28
	barHeight   = 10
	axisHeight  = 40
	frameTop    = 22
	frameHeight = 210
)

const (
	mostName    = 38   // letters of a row's name
	mostBeside  = 36   // letters of a name and its figure that fit side by side on a phone
	pointsPlace = 1000 // horizontal positions that points of a row are rounded to
)

// draw returns the drawing of a chart. Charts with lanes are drawn by [drawLanes].
func draw(c view.Chart) *drawing {
	if c.Lanes != nil {
		return drawLanes(c)
	}
	if len(c.Rows) > 0 {
		return drawRows(c)
	}
	return drawSeries(c)
}

// drawRows draws one row for each item, with its name above its marks, so that long names take no
// room from the marks.
func drawRows(c view.Chart) *drawing {
	d := &drawing{Label: c.Label, Height: len(c.Rows)*rowHeight + axisHeight}
	bottom := float64(len(c.Rows) * rowHeight)
	x := scale{c.X}
	d.axis(x, 0, bottom)
	d.marker(c, x, bottom)
	names := make([]string, len(c.Rows))
	for i, row := range c.Rows {
		names[i] = row.Name
	}
	names = view.Labels(names, mostName)
	for i, row := range c.Rows {
		d.row(x, row, names[i], float64(i*rowHeight))
	}
	for _, l := range c.Links {
		at := func(row float64) float64 { return row*rowHeight + rowMiddle }
		d.Lines = append(d.Lines, drawLine{X1: x.at(l.X1), X2: x.at(l.X2), Y1: at(l.Row1), Y2: at(l.Row2), Class: "thin"})
	}
	return d
}

// marker draws the vertical line at the value that the chart marks.
func (d *drawing) marker(c view.Chart, x scale, bottom float64) {
	if c.Marker != nil {
		at := x.at(*c.Marker)
		d.Lines = append(d.Lines, drawLine{X1: at, X2: at, Y1: 0, Y2: bottom, Class: "zero"})
	}
}

func (d *drawing) row(x scale, row view.Row, name string, top float64) {
	class, whole := "figure", ""
	if name != row.Name {
		whole = row.Name
	}
	if utf8.RuneCountInString(name+row.Figure) > mostBeside {
		class += " long"
	}
	d.Texts = append(d.Texts,
		drawText{X: 0, Y: top + rowName, Anchor: "start", Class: "name", Text: name, Title: whole},
		drawText{X: 1, Y: top + rowName, Anchor: "end", Class: class, Text: row.Figure})
	middle := top + rowMiddle
	for _, b := range row.Bars {
		from, to := x.at(b.From), x.at(b.To)
		d.Bars = append(d.Bars, drawBar{X: from, Width: max(to-from, 0), Y: middle - barHeight/2, Height: barHeight, Class: b.Look, Title: b.Title})
	}
	for _, s := range row.Spans {
		d.Lines = append(d.Lines, drawLine{X1: x.at(s.From), X2: x.at(s.To), Y1: middle, Y2: middle, Class: s.Look, Title: s.Title})
		if s.From < x.Lo {
			d.Points = append(d.Points, drawPoint{X: 0, Y: middle, Mark: "left", Class: "s0", Title: s.Title})
		}
		if s.To > x.Hi {
			d.Points = append(d.Points, drawPoint{X: 1, Y: middle, Mark: "right", Class: "s0", Title: s.Title})
		}
	}
	for _, p := range thinned(row.Points, x) {
		d.Points = append(d.Points, drawPoint{X: x.at(p.At), Y: middle - p.Rise, Mark: p.Mark, Class: p.Look, Title: p.Title})
	}
}

// thinned leaves out points that would cover equal ones, and points without a valid value.
func thinned(points []view.Point, x scale) (shown []view.Point) {
	type place struct {
		at         int
		rise       float64
		mark, look string
	}
	taken := map[place]bool{}
	for _, p := range points {
		here := place{int(x.at(p.At) * pointsPlace), p.Rise, p.Mark, p.Look}
		if math.Abs(p.At) <= beyond && !taken[here] {
			taken[here] = true
			shown = append(shown, p)
		}
	}
	return shown
}

// drawSeries draws one or more series of points in one frame.
func drawSeries(c view.Chart) *drawing {
	d := &drawing{Label: c.Label, Height: frameTop + frameHeight + axisHeight, Framed: true}
	bottom := float64(frameTop + frameHeight)
	x, y := scale{c.X}, scale{c.Y}
	d.axis(x, frameTop, bottom)
	d.marker(c, x, bottom)
	d.Texts = append(d.Texts, drawText{X: 0, Y: 11, DX: -52, Anchor: "start", Class: "unit", Text: c.Y.Title})
	for _, v := range y.ticks() {
		at := y.height(v)
		d.Grid = append(d.Grid, drawLine{X1: 0, X2: 1, Y1: at, Y2: at, Class: "grid"})
		d.Texts = append(d.Texts, drawText{X: 0, Y: at + 4, DX: -7, Anchor: "end", Class: "tick", Text: y.label(v)})
	}
	for _, one := range c.Series {
		d.series(x, y, one)
	}
	return d
}

// height returns the position of a value in a frame, in pixels from the top.
func (s scale) height(v float64) float64 {
	return frameTop + frameHeight*(1-float64(s.at(v)))
}

func (d *drawing) series(x, y scale, one view.Series) {
	class := view.SeriesLook(one.Look)
	var before *drawPoint
	for _, p := range one.Points {
		if math.IsNaN(p.X) || math.IsNaN(p.Y) {
			before = nil
			continue
		}
		point := drawPoint{X: x.at(p.X), Y: y.height(p.Y), Mark: view.SeriesMark(one.Look), Class: class, Title: p.Title}
		if one.Joined && before != nil {
			d.Lines = append(d.Lines, drawLine{X1: before.X, Y1: before.Y, X2: point.X, Y2: point.Y, Class: "series " + class})
		}
		if !one.Plain {
			d.Points = append(d.Points, point)
		}
		before = &point
	}
}

// axis draws the horizontal axis at the height bottom, with grid lines up to top.
func (d *drawing) axis(s scale, top, bottom float64) {
	d.Grid = append(d.Grid, drawLine{X1: 0, X2: 1, Y1: bottom, Y2: bottom, Class: "axis"})
	for _, v := range s.ticks() {
		at := s.at(v)
		d.Grid = append(d.Grid, drawLine{X1: at, X2: at, Y1: top, Y2: bottom, Class: "grid"})
		d.Texts = append(d.Texts, drawText{X: at, Y: bottom + 15, Anchor: anchorAt(at), Class: "tick", Text: s.label(v)})
	}
	d.Texts = append(d.Texts, drawText{X: 1, Y: bottom + 32, Anchor: "end", Class: "unit", Text: s.Title})
}

// anchorAt returns the anchor that keeps a label within the chart.
func anchorAt(at part) string {
	switch {
	case at < 0.06:
		return "start"
	case at > 0.94:
		return "end"
	}
	return "middle"
}

// Lanes have the same height in a figure and on a page, where a script draws them. Heights are in
// pixels.
const (
	laneHeight  = 34
	laneName    = 24
	laneColumns = 660  // columns of a lane
	leastShare  = 1e-4 // share of time at the foot of a lane
	leastLoss   = 2    // least height of a loss, in pixels
	tickHeight  = 12   // height of the strip with the timer's interrupts
	tickRoom    = 7    // pixels that an interrupt needs; if they are closer, none are drawn
)

// drawLanes draws a lane for each cause of a trace. The height of a column is the share of its time
// that was lost, on a logarithmic scale. So a long gap fills the lane, a short one stays visible,
// and gaps too close to be told apart still show their share.
func drawLanes(c view.Chart) *drawing {
	l := c.Lanes
	end := math.Max(float64(l.EndNs), 1)
	d := &drawing{Label: c.Label, Height: len(l.Causes)*(laneHeight+laneName) + axisHeight}
	ticks := ticksWithRoom(l, end)
	if len(ticks) > 0 {
		d.Height += tickHeight
	}
	bottom := float64(d.Height - axisHeight)
	d.axis(scale{view.Axis{Title: "time", Unit: view.Time, Hi: end}}, 0, bottom)
	for _, at := range ticks {
		d.Points = append(d.Points, drawPoint{X: at, Y: bottom - tickHeight/2 + 2, Mark: "triangle", Class: "faint", Title: "timer interrupt"})
	}
	lost, gaps, totals := make([][laneColumns]float64, len(l.Causes)), make([]int, len(l.Causes)), make([]float64, len(l.Causes))
	column := end / laneColumns
	for g := range l.Each {
		if g.Cause < 0 || g.Cause >= len(l.Causes) {
			continue
		}
		gaps[g.Cause]++
		totals[g.Cause] += float64(g.EndNs - g.StartNs)
		from, to := math.Max(float64(g.StartNs), 0)/column, math.Min(float64(g.EndNs), end)/column
		for x := int(from); float64(x) < to && x < laneColumns; x++ {
			lost[g.Cause][x] += math.Min(to, float64(x+1)) - math.Max(from, float64(x))
		}
	}
	for i, cause := range l.Causes {
		top := float64(i * (laneHeight + laneName))
		d.Texts = append(d.Texts,
			drawText{X: 0, Y: top + laneName - 6, Anchor: "start", Class: "name", Text: view.Shortened(cause, mostName)},
			drawText{X: 1, Y: top + laneName - 6, Anchor: "end", Class: "figure", Text: laneFigure(gaps[i], totals[i]/end)})
		foot := top + laneName + laneHeight
		d.Grid = append(d.Grid, drawLine{X1: 0, X2: 1, Y1: foot, Y2: foot, Class: "grid"})
		d.lane(lost[i][:], foot, "cause "+cause)
	}
	return d
}

// ticksWithRoom returns the positions of the timer's interrupts; none if they are too close to be
// told apart.
func ticksWithRoom(l *view.Lanes, end float64) (places []part) {
	at := int64(0)
	for i, tick := range l.Ticks {
		at += tick
		if i > 0 && float64(tick)/end*laneColumns < tickRoom {
			return nil
		}
		places = append(places, part(float64(at)/end))
	}
	return places
}

// lane draws the columns of a lane, and joins neighbouring columns of the same height to one bar.
func (d *drawing) lane(lost []float64, foot float64, class string) {
	height := func(share float64) float64 {
		if share <= 0 {
			return 0
		}
		part := 1 - math.Log10(math.Min(share, 1))/math.Log10(leastShare)
		return math.Max(leastLoss, math.Round((laneHeight-4)*math.Max(part, 0)))
	}
	for from := 0; from < len(lost); {
		to := from + 1
		for to < len(lost) && height(lost[to]) == height(lost[from]) {
			to++
		}
		if high := height(lost[from]); high > 0 {
			d.Bars = append(d.Bars, drawBar{X: part(from) / laneColumns, Width: part(to-from) / laneColumns, Y: foot - high, Height: high, Class: class})
		}
		from = to
	}
}
