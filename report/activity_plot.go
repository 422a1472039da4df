package report

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"chronoscope/activity"
	"chronoscope/stats"
)

// causeColor tells the causes apart, also for the colour-blind: the palette of
// Okabe and Ito ("Color Universal Design", 2008), and greys for what is no
// disturbance of the system's.
var causeColor = map[activity.Cause]color.RGBA{
	activity.TimerTick:   {0x00, 0x72, 0xb2, 0xff},
	activity.Hypervisor:  {0xd5, 0x5e, 0x00, 0xff},
	activity.Interrupt:   {0x56, 0xb4, 0xe9, 0xff},
	activity.Preempted:   {0xe6, 0x9f, 0x00, 0xff},
	activity.Throttled:   {0xcc, 0x79, 0xa7, 0xff},
	activity.PageFault:   {0x00, 0x9e, 0x73, 0xff},
	activity.Migrated:    {0xf0, 0xe4, 0x42, 0xff},
	activity.Stopped:     {0x00, 0x00, 0x00, 0xff},
	activity.Runtime:     {0xb4, 0xb4, 0xb4, 0xff},
	activity.Unexplained: {0x5a, 0x5a, 0x5a, 0xff},
}

var (
	activeColor = color.RGBA{0xf1, 0xf1, 0xeb, 0xff} // light, as in Figures 9.4 and 9.6 of Bryant 2003
	lineColor   = color.RGBA{0xd0, 0xd0, 0xc8, 0xff}
	textColor   = color.RGBA{0x20, 0x20, 0x20, 0xff}
	tickColor   = color.RGBA{0x60, 0x60, 0x60, 0xff}
)

// Sizes of the figure. A pixel of a PNG is 0.75 points, and columns keep to whole
// pixels.
const (
	figureWidth   = vg.Length(720)
	figureMargin  = vg.Length(9)
	rowPitch      = vg.Length(72)
	headAndAxis   = vg.Length(90)
	columnWidth   = vg.Length(1.5)
	leastHeight   = vg.Length(2)
	triangleWidth = vg.Length(6)
	textSize      = vg.Length(10)
	lineHeight    = vg.Length(15)
	barShare      = 0.56 // of the distance between two bars
)

// The bar's height stands for shares of time from leastShare to all of it.
const leastShare = 1e-4

// PlotActivity draws the traces below one another, a bar each, as Figures 9.4 and
// 9.6 of Bryant 2003 do: light where the thread ran, in the colours of the causes
// where it did not, with triangles below for the timer interrupts.
//
// The bar is cut into narrow columns. A column is coloured as high as the share of
// its time that was lost, so that a long gap fills the bar, a short one stays
// visible, and gaps too many to be told apart still show what they took. The
// scale is logarithmic: interrupts take parts per thousand.
func PlotActivity(w io.Writer, format string, traces []*activity.Trace, analyses []*activity.Analysis) error {
	f := newFigure(traces, analyses)
	height := headAndAxis + rowPitch*vg.Length(len(traces)) + lineHeight*vg.Length(len(f.legend))
	canvas, err := newCanvas(format, height)
	if err != nil {
		return err
	}
	f.draw(canvas.area)
	return canvas.write(w)
}

// figure is the drawing of some traces.
type figure struct {
	rows   []*traceRow
	endNs  float64
	legend [][]legendEntry // a list for each line
}

func newFigure(traces []*activity.Trace, analyses []*activity.Analysis) *figure {
	f := &figure{}
	seen := map[activity.Cause]bool{}
	for _, t := range traces {
		f.endNs = max(f.endNs, t.Ns(t.Length))
	}
	f.endNs = max(f.endNs, 1)
	entries := []legendEntry{{label: "active", mark: swatch(activeColor)}}
	began, within := false, false
	for i, t := range traces {
		row := &traceRow{trace: t, analysis: analyses[i], ticks: timerTicks(t, analyses[i]), y: float64(len(traces) - 1 - i)}
		f.rows = append(f.rows, row)
		for cause := range analyses[i].Causes {
			seen[cause] = true
		}
		if row.marksTicks(f.endNs) {
			began = began || slices.ContainsFunc(row.ticks, func(k activity.Tick) bool { return !k.Hidden() })
			within = within || slices.ContainsFunc(row.ticks, activity.Tick.Hidden)
		}
	}
	for _, cause := range activity.Causes() {
		if seen[cause] {
			entries = append(entries, legendEntry{cause.String(), swatch(causeColor[cause])})
		}
	}
	if began {
		entries = append(entries, legendEntry{"timer interrupt", triangle(true)})
	}
	if within {
		entries = append(entries, legendEntry{"within a gap (interpolated)", triangle(false)})
	}
	f.legend = wrapLegend(entries, figureWidth-2*figureMargin)
	return f
}

// draw puts title, explanation, bars with their axes, and legend on the canvas.
func (f *figure) draw(c draw.Canvas) {
	title := textStyle(1.3 * textSize)
	title.YAlign = text.YTop
	c.FillText(title, vg.Point{X: c.Min.X, Y: c.Max.Y}, "When a thread ran, and what kept it from running")
	small := textStyle(0.9 * textSize)
	small.Color, small.YAlign = tickColor, text.YTop
	c.FillText(small, vg.Point{X: c.Min.X, Y: c.Max.Y - 1.2*lineHeight}, f.explanation(f.columnNs()))
	legendHeight := lineHeight * vg.Length(len(f.legend))
	for i, line := range f.legend {
		at := vg.Point{X: c.Min.X, Y: c.Min.Y + legendHeight - lineHeight*vg.Length(i+1)}
		for _, entry := range line {
			at.X += entry.draw(c, at)
		}
	}
	f.plot().Draw(draw.Crop(c, 0, 0, legendHeight+6, -2.4*lineHeight))
}

// columnNs is about how much time a column stands for.
func (f *figure) columnNs() float64 {
	return f.endNs * float64(columnWidth/(figureWidth-2*figureMargin-axisWidth))
}

// axisWidth is about what the labels of the bars' scale take.
const axisWidth = vg.Length(40)

// explanation says how to read the bars.
func (f *figure) explanation(columnNs float64) string {
	return fmt.Sprintf("A column stands for %s and is coloured as high as the share of it that was lost, on a logarithmic scale; any loss is at least %.2g points high.",
		durationTo(columnNs, 2), float64(leastHeight))
}

// plot is the bars with their axes.
func (f *figure) plot() *plot.Plot {
	p := plot.New()
	p.X.Label.Text = "time (ms)"
	for _, style := range []*text.Style{&p.X.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		at := *style
		*style = textStyle(textSize)
		style.XAlign, style.YAlign = at.XAlign, at.YAlign
	}
	p.X.Min, p.X.Max = 0, f.endNs/1e6
	p.X.Padding, p.Y.Padding = 0, 3
	p.X.Tick.Marker = plot.TickerFunc(evenTicks)
	p.Y.Min, p.Y.Max = -0.55, float64(len(f.rows))-0.45
	p.Y.LineStyle.Width, p.Y.Tick.Length = 0, 0
	var labels plot.ConstantTicks
	for _, row := range f.rows {
		p.Add(row)
		labels = append(labels,
			plot.Tick{Value: row.height(1), Label: "100 %"},
			plot.Tick{Value: row.height(1e-2), Label: "1 %"},
			plot.Tick{Value: row.height(leastShare), Label: "0.01 %"})
	}
	p.Y.Tick.Marker = labels
	return p
}

// evenTicks marks some ten round values of an axis that begins at 0.
func evenTicks(_, end float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10(end/5)))
	for _, times := range []float64{5, 2} {
		if end/(times*step) >= 5 {
			step *= times
			break
		}
	}
	var ticks []plot.Tick
	for i := 0.0; i*step <= end*(1+1e-9); i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: fmt.Sprintf("%.6g", i*step)})
	}
	return ticks
}

// cpuName names the CPU of a trace.
func cpuName(t *activity.Trace) string {
	if t.CPU < 0 {
		return "some CPU"
	}
	return fmt.Sprintf("CPU %d", t.CPU)
}

func textStyle(size vg.Length) text.Style {
	return text.Style{
		Color:   textColor,
		Font:    font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		Handler: plot.DefaultTextHandler,
	}
}

func corners(left, low, right, high vg.Length) []vg.Point {
	return []vg.Point{{X: left, Y: low}, {X: left, Y: high}, {X: right, Y: high}, {X: right, Y: low}}
}

// traceRow draws one trace as a bar.
type traceRow struct {
	trace    *activity.Trace
	analysis *activity.Analysis
	ticks    []activity.Tick
	y        float64 // of the bar's middle
}

var _ plot.Plotter = (*traceRow)(nil)

// heading says whose bar it is, and what can't be drawn.
func (r *traceRow) heading() string {
	heading := cpuName(r.trace)
	if ratio := stats.Finite(r.analysis.ActiveRatio); ratio != nil {
		heading += fmt.Sprintf(", active %s", percent(ratio))
	}
	if r.analysis.Tick != nil {
		heading += fmt.Sprintf(", timer interrupt every %s", durationTo(r.analysis.Tick.PeriodNs.Value, 4))
	}
	if r.trace.Dropped > 0 {
		heading += "; then the trace was full, and the rest is left blank"
	}
	return heading
}

// height is where on the axis a share of a column ends.
func (r *traceRow) height(share float64) float64 {
	part := 1 - math.Log10(share)/math.Log10(leastShare)
	return r.y + barShare*(min(max(part, 0), 1)-0.5)
}

// marksTicks reports that triangles at the timer's interrupts don't run into one
// another in a figure that ends at endNs.
func (r *traceRow) marksTicks(endNs float64) bool {
	room := float64((figureWidth - 2*figureMargin - axisWidth) / (1.1 * triangleWidth))
	return float64(len(r.ticks))*endNs < room*r.trace.Ns(r.trace.Length)
}

// Plot draws the row.
func (r *traceRow) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	low, high := y(r.height(leastShare)), y(r.height(1))
	c.FillText(textStyle(textSize), vg.Point{X: x(0), Y: high + 4}, r.heading())
	end := recordedUntil(r.trace)
	c.FillPolygon(activeColor, corners(x(0), low, x(end/1e6), high))
	for _, share := range []float64{1, 1e-1, 1e-2, 1e-3, leastShare} {
		c.StrokeLine2(draw.LineStyle{Color: lineColor, Width: 0.5}, x(0), y(r.height(share)), x(end/1e6), y(r.height(share)))
	}
	first := vg.Length(math.Floor(float64(x(0)/columnWidth))) * columnWidth
	perPoint := p.X.Max * 1e6 / float64(x(p.X.Max)-x(0))
	columns := lostPerColumn(r.trace, float64(columnWidth)*perPoint, float64(x(0)-first)*perPoint)
	for from := 0; from < len(columns); {
		to := from + 1
		for to < len(columns) && slices.Equal(columns[to], columns[from]) {
			to++
		}
		r.column(&c, columns[from], first+vg.Length(from)*columnWidth, first+vg.Length(to)*columnWidth, low, y)
		from = to
	}
	if r.marksTicks(p.X.Max * 1e6) {
		for _, tick := range r.ticks {
			triangle(!tick.Hidden()).draw(&c, vg.Point{X: x(tick.AtNs / 1e6), Y: low - 1.5})
		}
	}
}

// column draws what was lost in one column: as high as all of it together, each
// cause in proportion.
func (r *traceRow) column(c *draw.Canvas, lost []float64, left, right, low vg.Length, y func(float64) vg.Length) {
	var sum float64
	for _, share := range lost {
		sum += share
	}
	if sum == 0 {
		return
	}
	height := max(y(r.height(sum))-low, leastHeight)
	for _, cause := range activity.Causes() {
		if part := height * vg.Length(lost[cause]/sum); part > 0 {
			c.FillPolygon(causeColor[cause], corners(left, low, right, low+part))
			low += part
		}
	}
}

// lostPerColumn is the share of each column that each cause took, for columns of
// that length, the first of which begins offsetNs before the trace.
func lostPerColumn(t *activity.Trace, columnNs, offsetNs float64) [][]float64 {
	end := recordedUntil(t)
	columns := make([][]float64, int(math.Ceil((end+offsetNs)/columnNs)))
	shares := make([]float64, len(columns)*len(activity.Causes()))
	for k := range columns {
		columns[k], shares = shares[:len(activity.Causes())], shares[len(activity.Causes()):]
	}
	for _, g := range t.Gaps {
		from, to := t.Ns(g.Start)+offsetNs, t.Ns(g.End())+offsetNs
		for k := int(from / columnNs); k < len(columns) && float64(k)*columnNs < to; k++ {
			left, right := float64(k)*columnNs, float64(k+1)*columnNs
			inside := min(right, end+offsetNs) - max(left, offsetNs)
			columns[k][g.Cause] += min((min(to, right)-max(from, left))/inside, 1)
		}
	}
	return columns
}

// recordedUntil is where the trace ends, or the last gap that it had room for.
func recordedUntil(t *activity.Trace) float64 {
	if t.Dropped > 0 && len(t.Gaps) > 0 {
		return t.Ns(t.Gaps[len(t.Gaps)-1].End())
	}
	return t.Ns(t.Length)
}

// legendEntry says what a colour or a mark means.
type legendEntry struct {
	label string
	mark  interface {
		draw(c *draw.Canvas, at vg.Point)
	}
}

const legendMark = vg.Length(12)

func (e legendEntry) width() vg.Length {
	return legendMark + 4 + 1.15*textStyle(textSize).Width(e.label) + 10 // another font may be wider
}

// draw puts the entry on the canvas and says how far it reaches.
func (e legendEntry) draw(c draw.Canvas, at vg.Point) vg.Length {
	e.mark.draw(&c, vg.Point{X: at.X + legendMark/2, Y: at.Y + 7.5})
	c.FillText(textStyle(textSize), vg.Point{X: at.X + legendMark + 4, Y: at.Y}, e.label)
	return e.width()
}

// wrapLegend puts as many entries on a line as there is room for.
func wrapLegend(entries []legendEntry, room vg.Length) [][]legendEntry {
	lines := [][]legendEntry{nil}
	var used vg.Length
	for _, e := range entries {
		if used += e.width(); used > room {
			lines, used = append(lines, nil), e.width()
		}
		last := len(lines) - 1
		lines[last] = append(lines[last], e)
	}
	return lines
}

// swatch is a patch of colour.
type swatch color.RGBA

func (s swatch) draw(c *draw.Canvas, top vg.Point) {
	patch := corners(top.X-legendMark/2, top.Y-7.5, top.X+legendMark/2, top.Y)
	c.FillPolygon(color.RGBA(s), patch)
	c.StrokeLines(draw.LineStyle{Color: lineColor, Width: 0.5}, append(patch, patch[0]))
}

// triangle marks a timer interrupt below the bar: a full one that was seen, an
// empty one that was not.
type triangle bool

func (seen triangle) draw(c *draw.Canvas, top vg.Point) {
	corner := []vg.Point{top, {X: top.X - triangleWidth/2, Y: top.Y - triangleWidth}, {X: top.X + triangleWidth/2, Y: top.Y - triangleWidth}}
	if seen {
		c.FillPolygon(tickColor, corner)
		return
	}
	c.StrokeLines(draw.LineStyle{Color: tickColor, Width: 0.75}, append(corner, top))
}
