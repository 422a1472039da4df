package report

import (
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"chronoscope/record"
)

// Figure is one figure of a run, as Lambert 2008 has them.
type Figure struct {
	Title string
	// Caption says how to read it, and where the source has its own.
	Caption string

	height vg.Length
	draw   func(draw.Canvas)
}

// Write writes the figure, without title and caption, in one of the [PlotFormats].
func (f Figure) Write(w io.Writer, format string) error {
	canvas, err := newCanvas(format, f.height+2*figureMargin)
	if err != nil {
		return err
	}
	f.draw(canvas.area)
	return canvas.write(w)
}

// BytecodeFigures are those for which a document has data.
func BytecodeFigures(d record.Bytecode) []Figure {
	var figures []Figure
	timings := d.Timings()
	if len(timings) > 0 {
		figures = append(figures, spreadFigure(d.BytecodeRun), kindsFigure(d.BytecodeRun))
	}
	if len(timings) > 1 {
		figures = append(figures, treeFigure(d.BytecodeRun), groupsFigure(d.BytecodeRun))
	}
	for _, fit := range d.Fits {
		figures = append(figures, fitFigure(fit))
	}
	if len(d.Predictions) > 0 {
		figures = append(figures, predictionFigure(d.Predictions))
	}
	for _, other := range d.Others {
		if figure, ok := machinesFigure(d.BytecodeRun, other); ok {
			figures = append(figures, figure)
		}
	}
	return figures
}

// PlotBytecode draws all figures below one another, on one page.
func PlotBytecode(w io.Writer, format string, d record.Bytecode) error {
	figures := BytecodeFigures(d)
	height := 2 * figureMargin
	for _, f := range figures {
		height += figureHead + f.height
	}
	canvas, err := newCanvas(format, max(height, figureHead))
	if err != nil {
		return err
	}
	c := canvas.area
	for _, f := range figures {
		f.heading(c)
		f.draw(draw.Crop(c, 0, 0, c.Max.Y-c.Min.Y-figureHead-f.height, -figureHead))
		c.Max.Y -= figureHead + f.height
	}
	return canvas.write(w)
}

// figureHead is the room for a figure's title and caption, and for a gap above them.
const figureHead = vg.Length(64)

// heading writes title and caption at the top.
func (f Figure) heading(c draw.Canvas) {
	title := textStyle(1.2 * textSize)
	title.YAlign = text.YTop
	c.FillText(title, vg.Point{X: c.Min.X, Y: c.Max.Y - lineHeight}, f.Title)
	small := textStyle(0.85 * textSize)
	small.Color, small.YAlign = tickColor, text.YTop
	for i, line := range wrap(f.Caption, 140) {
		c.FillText(small, vg.Point{X: c.Min.X, Y: c.Max.Y - 2.1*lineHeight - 0.75*lineHeight*vg.Length(i)}, line)
	}
}

// rowsPanel is a panel whose rows have names on the left, the first at the top.
func rowsPanel(x string, names ...string) *plot.Plot {
	p := newPanel(x, "")
	p.Y.Min, p.Y.Max = -0.6, float64(len(names))-0.4
	p.Y.LineStyle.Width, p.Y.Tick.Length = 0, 0
	var ticks plot.ConstantTicks
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: float64(len(names) - 1 - i), Label: name + "  "}) // a browser's font may be wider
	}
	p.Y.Tick.Marker = ticks
	return p
}

// boxPlotter draws the box of a distribution, and what lies beyond its whiskers, in a
// row.
type boxPlotter struct {
	row, half float64 // its middle, and half its height
	summary   record.BytecodeSummary
	outliers  []named
}

// named is a place on an axis with a name.
type named struct {
	at   float64
	name string
}

var boxColor = color.RGBA{0xcf, 0xe3, 0xf1, 0xff}

// Plot draws it.
func (b boxPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	s := b.summary
	low, middle, high := y(b.row-b.half), y(b.row), y(b.row+b.half)
	ink := draw.LineStyle{Color: textColor, Width: 0.9}
	for _, whisker := range [][2]float64{{*s.LowerWhiskerNs, *s.Q1Ns}, {*s.Q3Ns, *s.UpperWhiskerNs}} {
		c.StrokeLine2(ink, x(whisker[0]), middle, x(whisker[1]), middle)
	}
	for _, end := range []float64{*s.LowerWhiskerNs, *s.UpperWhiskerNs} {
		c.StrokeLine2(ink, x(end), (low+middle)/2, x(end), (high+middle)/2)
	}
	box := corners(x(*s.Q1Ns), low, x(*s.Q3Ns), high)
	c.FillPolygon(boxColor, box)
	c.StrokeLines(ink, append(box, box[0]))
	c.StrokeLine2(draw.LineStyle{Color: textColor, Width: 2}, x(*s.MedianNs), low, x(*s.MedianNs), high)
	c.DrawGlyph(draw.GlyphStyle{Color: seriesColors[2], Radius: 3, Shape: draw.PlusGlyph{}}, vg.Point{X: x(*s.MeanNs), Y: middle})
	for _, o := range b.outliers {
		c.DrawGlyph(draw.GlyphStyle{Color: seriesColors[1], Radius: 2.4, Shape: draw.RingGlyph{}}, vg.Point{X: x(o.at), Y: middle})
	}
	b.label(c, x, middle+6)
}

// label names the outliers above their marks, upright; names that would lie on one
// another stand side by side.
func (b boxPlotter) label(c draw.Canvas, x func(float64) vg.Length, above vg.Length) {
	style := textStyle(0.8 * textSize)
	style.Rotation, style.YAlign = math.Pi/2, text.YCenter
	sorted := slices.SortedFunc(slices.Values(b.outliers), func(a, b named) int { return int(math.Copysign(1, a.at-b.at)) })
	free := vg.Length(math.Inf(-1))
	for _, o := range sorted {
		at := max(x(o.at), free)
		c.FillText(style, vg.Point{X: at, Y: above}, o.name)
		free = at + 0.9*textSize
	}
}

// addDots adds points of one look, with no line.
func addDots(p *plot.Plot, points plotter.XYs, style int, radius vg.Length) {
	if dots, err := plotter.NewScatter(points); err == nil && len(points) > 0 {
		style %= len(seriesShapes)
		dots.GlyphStyle = draw.GlyphStyle{Color: seriesColors[style], Radius: radius, Shape: seriesShapes[style]}
		p.Add(dots)
	}
}

// listed joins names, and says how many more there are than fit.
func listed(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " ..."
}
