package report

import (
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"chronoscope/activity"
)

// causeColor tells the causes apart; activity is light, as in Figures 9.4 and
// 9.6 of Bryant 2003.
var causeColor = map[activity.Cause]color.RGBA{
	activity.TimerTick:   {0x1f, 0x77, 0xb4, 0xff},
	activity.Hypervisor:  {0xd6, 0x27, 0x28, 0xff},
	activity.Interrupt:   {0x17, 0xbe, 0xcf, 0xff},
	activity.Preempted:   {0xff, 0x7f, 0x0e, 0xff},
	activity.Throttled:   {0x94, 0x67, 0xbd, 0xff},
	activity.PageFault:   {0x2c, 0xa0, 0x2c, 0xff},
	activity.Migrated:    {0xe3, 0x77, 0xc2, 0xff},
	activity.Stopped:     {0x8c, 0x56, 0x4b, 0xff},
	activity.Runtime:     {0xbc, 0xbd, 0x22, 0xff},
	activity.Unexplained: {0x7f, 0x7f, 0x7f, 0xff},
}

var (
	activeColor  = color.RGBA{0xe8, 0xef, 0xe4, 0xff}
	tickMark     = color.RGBA{0x60, 0x60, 0x60, 0xff}
	rowHeight    = 0.6 // of the distance between two rows
	leastVisible = vg.Points(0.4)
)

// PlotFormats are the forms of a figure, by the ending of its file.
func PlotFormats() []string { return []string{"svg", "png"} }

// PlotFormat is the form of a figure in that file.
func PlotFormat(file string) (string, error) {
	format := strings.TrimPrefix(filepath.Ext(file), ".")
	for _, known := range PlotFormats() {
		if format == known {
			return format, nil
		}
	}
	return "", fmt.Errorf("%q names no figure: let it end in .%s", file, strings.Join(PlotFormats(), " or ."))
}

// PlotActivity draws the traces, a bar each: light where the thread ran, in the
// colour of the cause where it didn't, with a triangle below at each timer
// interrupt. Where a gap is narrower than a hair line, it is drawn as one.
func PlotActivity(w io.Writer, format string, traces []*activity.Trace, analyses []*activity.Analysis) error {
	p := plot.New()
	p.Title.Text = "When a thread ran, and what kept it from running"
	p.X.Label.Text = "time (ms)"
	p.Legend.Top, p.Legend.XOffs = true, vg.Points(5)
	seen := map[activity.Cause]bool{}
	names := make([]string, len(traces))
	for i, t := range traces {
		row := &traceRow{trace: t, analysis: analyses[i], y: float64(len(traces) - 1 - i)}
		p.Add(row)
		names[len(traces)-1-i] = cpuName(t)
		p.X.Max = max(p.X.Max, t.Ns(t.Length)/1e6)
		for cause := range analyses[i].Causes {
			seen[cause] = true
		}
	}
	p.NominalY(names...)
	p.X.Min, p.Y.Min, p.Y.Max = 0, -0.7, float64(len(traces))-0.3
	p.Legend.Add("active", swatch(activeColor))
	for _, cause := range activity.Causes() {
		if seen[cause] {
			p.Legend.Add(cause.String(), swatch(causeColor[cause]))
		}
	}
	p.Y.Max += 0.25 * float64(len(seen)+2) // room for the legend
	writer, err := p.WriterTo(25*vg.Centimeter, (6+2*vg.Length(len(traces)))*vg.Centimeter, format)
	if err != nil {
		return err
	}
	_, err = writer.WriteTo(w)
	return err
}

// cpuName names the CPU of a trace.
func cpuName(t *activity.Trace) string {
	if t.CPU < 0 {
		return "some CPU"
	}
	return fmt.Sprintf("CPU %d", t.CPU)
}

// swatch is a patch of colour in the legend.
type swatch color.RGBA

// Thumbnail draws it.
func (s swatch) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(color.RGBA(s), []vg.Point{
		{X: c.Min.X, Y: c.Min.Y}, {X: c.Min.X, Y: c.Max.Y}, {X: c.Max.X, Y: c.Max.Y}, {X: c.Max.X, Y: c.Min.Y},
	})
}

// traceRow draws one trace as a bar.
type traceRow struct {
	trace    *activity.Trace
	analysis *activity.Analysis
	y        float64
}

var _ plot.Plotter = (*traceRow)(nil)

// Plot draws the row.
func (r *traceRow) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	t := r.trace
	low, high := y(r.y-rowHeight/2), y(r.y+rowHeight/2)
	bar := func(fill color.Color, from, to vg.Length) {
		to = max(to, from+leastVisible)
		c.FillPolygon(fill, []vg.Point{{X: from, Y: low}, {X: from, Y: high}, {X: to, Y: high}, {X: to, Y: low}})
	}
	ms := func(ticks int64) vg.Length { return x(t.Ns(ticks) / 1e6) }
	bar(activeColor, ms(0), ms(t.Length))
	for _, g := range t.Gaps {
		bar(causeColor[g.Cause], ms(g.Start), ms(g.End()))
	}
	if r.analysis.Tick != nil {
		for _, i := range r.analysis.Tick.Gaps {
			at := ms(t.Gaps[i].Start)
			c.FillPolygon(tickMark, []vg.Point{
				{X: at, Y: low - vg.Points(1)}, {X: at - vg.Points(2.5), Y: low - vg.Points(6)}, {X: at + vg.Points(2.5), Y: low - vg.Points(6)},
			})
		}
	}
}
