package report

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"chronoscope/fidelity"
)

// PlotFidelity draws the first workload as Figure 1 of Kuperberg 2011b does: what
// the counter counted over the time that was asked for, a line through the samples
// in their order, with the reference as a straight line. Below it, for all
// workloads, are the differences between counter and reference, and how large they
// may be; on the scale of the upper part a sound counter shows none.
func PlotFidelity(w io.Writer, format string, results []fidelity.Result) error {
	canvas, err := newCanvas(format, 2*panelHeight+headAndAxis)
	if err != nil {
		return err
	}
	c := canvas.area
	title := textStyle(1.3 * textSize)
	title.YAlign = text.YTop
	c.FillText(title, vg.Point{X: c.Min.X, Y: c.Max.Y}, fidelityTitle(results))
	legend, panels := seriesLegend(results)
	c.Max.Y -= 1.7 * lineHeight
	for _, line := range legend {
		at := vg.Point{X: c.Min.X, Y: c.Max.Y - 0.8*lineHeight}
		for _, entry := range line {
			at.X += entry.draw(c, at)
		}
		c.Max.Y -= lineHeight
	}
	middle := (c.Max.Y - c.Min.Y) * 0.45
	panels.counted().Draw(draw.Crop(c, 0, 0, middle+6, -6))
	panels.differences().Draw(draw.Crop(c, 0, 0, 0, -(c.Max.Y-c.Min.Y-middle)-6))
	return canvas.write(w)
}

const panelHeight = vg.Length(230)

// fidelityTitle names the two clocks.
func fidelityTitle(results []fidelity.Result) string {
	if len(results) == 0 {
		return "No samples"
	}
	return fmt.Sprintf("%s beside %s: the same durations, read from both", results[0].Counter, results[0].Reference)
}

// workloadColors tell workloads apart, also for the colour-blind (Okabe and Ito).
var workloadColors = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0x56, 0xb4, 0xe9, 0xff}, {0x00, 0x00, 0x00, 0xff}, {0xf0, 0xe4, 0x42, 0xff}, {0x90, 0x60, 0x30, 0xff},
	{0x80, 0x80, 0x80, 0xff}, {0x60, 0x30, 0x90, 0xff},
}

var referenceColor = color.RGBA{0xd5, 0x5e, 0x00, 0xff}

// workloadPanels are the two parts of the figure.
type workloadPanels struct {
	results []fidelity.Result
}

// seriesLegend is a legend of the workloads.
func seriesLegend(results []fidelity.Result) ([][]legendEntry, workloadPanels) {
	entries := []legendEntry{{"reference", swatch(referenceColor)}}
	for i, r := range results {
		entries = append(entries, legendEntry{r.Workload, swatch(workloadColors[i%len(workloadColors)])})
	}
	return wrapLegend(entries, figureWidth-2*figureMargin), workloadPanels{results}
}

// counted shows the ticks of the first workload over requested time.
func (p workloadPanels) counted() *plot.Plot {
	if len(p.results) == 0 {
		return newPanel("requested (ms)", "counted (million ticks)")
	}
	r := p.results[0]
	pl := newPanel(fmt.Sprintf("requested of %s (ms)", r.Workload), "counted (million ticks)")
	var points plotter.XYs
	longest := 0.0
	for _, s := range r.Samples {
		points = append(points, plotter.XY{X: s.RequestedNs / 1e6, Y: float64(s.CounterTicks) / 1e6})
		longest = math.Max(longest, s.RequestedNs/1e6)
	}
	if ticksPerMs := r.Rate.Value / 1e9; ticksPerMs > 0 {
		if line, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 0}, {X: longest, Y: longest * ticksPerMs}}); err == nil {
			line.Color, line.Width = referenceColor, 1
			pl.Add(line)
		}
	}
	addSeries(pl, points, workloadColors[0], true)
	return pl
}

// differences shows counter less reference, with the bounds that steps and pairing
// permit.
func (p workloadPanels) differences() *plot.Plot {
	pl := newPanel("time by the reference (ms)", "counter less reference (ns)")
	permitted, longest := 0.0, 0.0
	for i, r := range p.results {
		var points plotter.XYs
		for _, s := range r.Samples {
			if off := float64(s.CounterTicks)/r.Rate.Value*1e9 - s.ReferenceNs; !math.IsNaN(off) && !math.IsInf(off, 0) {
				points = append(points, plotter.XY{X: s.ReferenceNs / 1e6, Y: off})
			}
			permitted, longest = math.Max(permitted, s.ErrorNs), math.Max(longest, s.ReferenceNs/1e6)
		}
		addSeries(pl, points, workloadColors[i%len(workloadColors)], false)
	}
	for _, bound := range []float64{-permitted, permitted} {
		if line, err := plotter.NewLine(plotter.XYs{{X: 0, Y: bound}, {X: longest, Y: bound}}); err == nil {
			line.Color, line.Width, line.Dashes = referenceColor, 1, []vg.Length{4, 3}
			pl.Add(line)
		}
	}
	return pl
}

// addSeries adds points, joined in their order where they are to be.
func addSeries(pl *plot.Plot, points plotter.XYs, c color.RGBA, joined bool) {
	if len(points) == 0 {
		return
	}
	if joined {
		if line, err := plotter.NewLine(points); err == nil {
			line.Color, line.Width = c, 0.6
			pl.Add(line)
		}
	}
	if dots, err := plotter.NewScatter(points); err == nil {
		dots.GlyphStyle = draw.GlyphStyle{Color: c, Radius: 1.4, Shape: draw.CircleGlyph{}}
		pl.Add(dots)
	}
}

// newPanel is an empty part of a figure with labelled axes.
func newPanel(x, y string) *plot.Plot {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, style := range []*text.Style{&p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		at := *style
		*style = textStyle(textSize)
		style.XAlign, style.YAlign, style.Rotation = at.XAlign, at.YAlign, at.Rotation
	}
	p.X.Min, p.X.Tick.Marker = 0, plot.TickerFunc(evenTicks)
	p.Y.Tick.Marker = plot.TickerFunc(plainTicks)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = lineColor, lineColor
	p.Add(grid)
	return p
}

// plainTicks are the usual ticks without zeros behind the point.
func plainTicks(from, to float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(from, to)
	for i := range ticks {
		if !ticks[i].IsMinor() {
			ticks[i].Label = fmt.Sprintf("%.6g", ticks[i].Value)
		}
	}
	return ticks
}
