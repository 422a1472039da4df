package report

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"chronoscope/validate"
)

// PlotValidation draws the figures of Bryant 2003, sections 9.2 to 9.5, for this machine,
// and those of later methods beside them, on one page. Series have marks and dashes of
// their own, so that they are told apart in black and white.
func PlotValidation(w io.Writer, format string, r *validate.Report) error {
	v := validationPage{report: r, loads: distinct(r.Outcomes, func(o validate.Outcome) int { return o.Load })}
	slices.Sort(v.loads)
	panels := v.panels()
	rows := (len(panels) + 1) / 2
	canvas, err := newCanvas(format, validationHead+vg.Length(rows)*validationPanel)
	if err != nil {
		return err
	}
	c := canvas.area
	title := textStyle(1.3 * textSize)
	title.YAlign = text.YTop
	c.FillText(title, vg.Point{X: c.Min.X, Y: c.Max.Y}, "How far methods of measuring are off, on this machine")
	small := textStyle(0.9 * textSize)
	small.Color, small.YAlign = tickColor, text.YTop
	c.FillText(small, vg.Point{X: c.Min.X, Y: c.Max.Y - 1.3*lineHeight}, "Figures as in Bryant, O'Hallaron: Computer Systems (2003). Joined marks are a chain of multiplications, single ones 2,048 integers written and read.")
	width, top := (c.Max.X-c.Min.X)/2, c.Max.Y-c.Min.Y-2.6*lineHeight
	height := top / vg.Length(max(1, rows))
	for i, p := range panels {
		left, below := vg.Length(i%2)*width, top-height*vg.Length(i/2+1)
		p.Draw(draw.Crop(c, left, left-width, below+4, below+height-4-(c.Max.Y-c.Min.Y)))
	}
	return canvas.write(w)
}

const validationHead, validationPanel = vg.Length(60), vg.Length(210)

// legendInset is how far from the axis a panel's legend is.
const legendInset = vg.Length(6)

// validationPage is the page's content.
type validationPage struct {
	report *validate.Report
	loads  []int
}

// panels are the figures for which there is something to show.
func (v validationPage) panels() []*plot.Plot {
	var shown []*plot.Plot
	add := func(title string, p *plot.Plot, drawn bool) {
		if drawn {
			p.Title.Text = title
			shown = append(shown, p)
		}
	}
	counting := func(title, scheme string, of func(validate.Sample) *float64) {
		p, drawn := v.counting(of)
		if slices.ContainsFunc(v.report.Outcomes, func(o validate.Outcome) bool { return o.Scheme == scheme }) {
			add(title, p, drawn)
		}
	}
	counting("9.8: interval counting by times", validate.Times, func(x validate.Sample) *float64 { return x.TimesNs })
	counting("9.8: interval counting by getrusage", validate.Getrusage, func(x validate.Sample) *float64 { return x.GetrusageNs })
	for _, figure := range []struct {
		title string
		about time.Duration
	}{{"9.11: a long procedure, measured again and again", 30 * time.Millisecond}, {"9.12: a short procedure, measured again and again", time.Millisecond}} {
		p, drawn := v.repeated(figure.about)
		add(figure.title, p, drawn)
	}
	byLoad := func(title, scheme string) {
		p, drawn := v.byLoad(scheme)
		add(title, p, drawn)
	}
	byLoad("9.14: K-best as in the source, K = 3", validate.SourceK3)
	for _, load := range v.ends() {
		p, drawn := v.byK(load)
		add(fmt.Sprintf("9.15: K = 1 to 5, load %d", load), p, drawn)
	}
	byLoad("9.16: K-best, timer interrupts taken off", validate.SourceK3+validate.Compensated)
	byLoad("as 9.17 to 9.19: package kbest", validate.OwnKBest)
	byLoad("the mean of a second, as testing.B", validate.TestingB)
	for _, load := range v.ends() {
		p, drawn := v.compared(load)
		add(fmt.Sprintf("9.22: K-best by gettimeofday, load %d", load), p, drawn)
	}
	byLoad("whole programs: package program", validate.OwnProgram)
	byLoad("whole programs: hyperfine", validate.Hyperfine)
	return shown
}

// ends are the least and the greatest load.
func (v validationPage) ends() []int {
	if len(v.loads) < 2 {
		return v.loads
	}
	return []int{v.loads[0], v.loads[len(v.loads)-1]}
}

// leastError is the least that is drawn: the truth is not known much better. mostError is
// the most.
const leastError, mostError = 1e-4, 30

// errorPanel is an empty panel of errors by expected time, both on log axes.
func (v validationPage) errorPanel() *plot.Plot {
	p := v.timePanel("error (at the foot: 0.01 % or less)")
	p.Y.Tick.Marker = plot.TickerFunc(decadesOfPercent)
	p.Y.Min, p.Y.Max = errorHeight(leastError), errorHeight(mostError)
	return p
}

// errorHeight is where on its axis an error is drawn. The plotting library would misplace
// the label of a logarithmic axis.
func errorHeight(share float64) float64 {
	return math.Log10(math.Min(mostError, math.Max(leastError, math.Abs(share))))
}

// timePanel is an empty panel over expected time.
func (v validationPage) timePanel(y string) *plot.Plot {
	p := newPanel("expected time (ms)", y)
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(decadesOfMilliseconds)
	p.X.Min, p.X.Max = math.Inf(1), 0
	for _, o := range v.report.Outcomes {
		ms := float64(o.Duration) / 1e6
		p.X.Min, p.X.Max = math.Min(p.X.Min, ms/1.3), math.Max(p.X.Max, ms*1.3)
	}
	return dressed(p)
}

// dressed gives a panel its title's style and its legend's place.
func dressed(p *plot.Plot) *plot.Plot {
	align := p.Title.TextStyle
	p.Title.TextStyle = textStyle(1.05 * textSize)
	p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = align.XAlign, align.YAlign
	p.Legend.TextStyle = textStyle(0.85 * textSize)
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.ThumbnailWidth, p.Legend.Padding = 26, 1
	p.Legend.XOffs, p.Legend.YOffs = legendInset, -1.2*lineHeight
	return p
}

// byLoad shows the error of a scheme, a series a load.
func (v validationPage) byLoad(scheme string) (*plot.Plot, bool) {
	p := v.errorPanel()
	drawn := false
	for i, load := range v.loads {
		drawn = v.addErrors(p, fmt.Sprintf("load %d", load), i, scheme, load) || drawn
	}
	return p, drawn
}

// byK shows the error of the source's scheme for each K, up to the durations for which
// its figure does.
func (v validationPage) byK(load int) (*plot.Plot, bool) {
	p := v.errorPanel()
	drawn := false
	for k := 1; k <= 5; k++ {
		drawn = v.addErrors(p, fmt.Sprintf("K = %d", k), k-1, fmt.Sprintf("source-k%d", k), load) || drawn
	}
	return p, drawn
}

// compared shows K-best by gettimeofday, with compensation and without.
func (v validationPage) compared(load int) (*plot.Plot, bool) {
	p := v.errorPanel()
	drawn := v.addErrors(p, "without compensation", 0, validate.Gettimeofday, load)
	return p, v.addErrors(p, "with compensation", 1, validate.Gettimeofday+validate.Compensated, load) || drawn
}

// addErrors adds a series of errors: those of the chain joined, of other work not.
func (v validationPage) addErrors(p *plot.Plot, name string, style int, scheme string, load int) bool {
	joined, single := plotter.XYs{}, plotter.XYs{}
	for _, o := range v.report.Outcomes {
		if o.Scheme != scheme || o.Load != load || o.NoTruth || math.IsNaN(o.Error) {
			continue
		}
		at := plotter.XY{X: o.Expected.Value / 1e6, Y: errorHeight(o.Error)}
		if o.Work == validate.Chain {
			joined = append(joined, at)
		} else {
			single = append(single, at)
		}
	}
	slices.SortFunc(joined, func(a, b plotter.XY) int { return int(math.Copysign(1, a.X-b.X)) })
	return addMarked(p, name, style, joined, single)
}

// counting shows by what share an account is off, for each sample: at most by all of it.
func (v validationPage) counting(of func(validate.Sample) *float64) (*plot.Plot, bool) {
	p := v.timePanel("error (at the edges: beyond ±100 %)")
	p.Y.Min, p.Y.Max = -1.05, 1.05
	p.Y.Tick.Marker = plot.TickerFunc(halvesOfAll)
	p.Legend.Left, p.Legend.XOffs = false, -4
	drawn := false
	for i, load := range v.loads {
		var points plotter.XYs
		for _, s := range v.report.Streams {
			if s.Load != load {
				continue
			}
			for _, x := range s.Samples[:min(len(s.Samples), mostCounted)] {
				if ns := of(x); ns != nil {
					share := (*ns - s.Expected.Value) / s.Expected.Value
					points = append(points, plotter.XY{X: s.Expected.Value / 1e6 * math.Pow(1.12, float64(i)), Y: math.Max(-1, math.Min(1, share))})
				}
			}
		}
		drawn = addMarked(p, fmt.Sprintf("load %d", load), i, nil, points) || drawn
	}
	return p, drawn
}

// mostCounted samples of a cell are drawn.
const mostCounted = 20

// repeated shows the samples of the cell of that length, or of the nearest longer one,
// for the two least loads and for load 4.
func (v validationPage) repeated(about time.Duration) (*plot.Plot, bool) {
	p := dressed(newPanel("measurement", "measured time (ms)"))
	p.X.Min, p.X.Max, p.Y.Min = 0, 19, 0
	drawn := false
	for i, load := range v.loads {
		if load > 4 && i > 1 {
			continue
		}
		s := v.streamOf(load, about)
		if s == nil {
			continue
		}
		var points plotter.XYs
		for n, x := range s.Samples[:min(len(s.Samples), 18)] {
			points = append(points, plotter.XY{X: float64(n + 1), Y: x.WallNs / 1e6})
			p.Y.Max = math.Max(p.Y.Max, 1.45*x.WallNs/1e6)
		}
		drawn = addMarked(p, fmt.Sprintf("load %d, %s of %s", load, duration(s.Expected.Value), s.Work), i, points, nil) || drawn
	}
	return p, drawn
}

func (v validationPage) streamOf(load int, about time.Duration) *validate.Stream {
	var best *validate.Stream
	for _, s := range v.report.Streams {
		if s.Load == load && s.Duration >= about && (best == nil || s.Duration < best.Duration || s.Duration == best.Duration && s.Work == validate.Ints) {
			best = s
		}
	}
	return best
}

// seriesShapes and seriesDashes tell series apart without colour.
var (
	seriesShapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.TriangleGlyph{}, draw.SquareGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.PlusGlyph{}}
	seriesDashes = [][]vg.Length{nil, {6, 2}, {2, 2}, {8, 2, 2, 2}, {1, 3}, {12, 3}}
	seriesColors = []color.RGBA{{0, 0, 0, 0xff}, {0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x7a, 0x5a, 0xff}, {0xa0, 0x40, 0x80, 0xff}, {0x70, 0x70, 0x70, 0xff}}
)

// addMarked adds a series to a panel and its legend: points that are joined and points
// that are not. It reports whether there are any.
func addMarked(p *plot.Plot, name string, style int, joined, single plotter.XYs) bool {
	style %= len(seriesShapes)
	glyph := draw.GlyphStyle{Color: seriesColors[style], Radius: 2.4, Shape: seriesShapes[style]}
	var keys []plot.Thumbnailer
	if line, err := plotter.NewLine(joined); err == nil && len(joined) > 0 {
		line.Color, line.Width, line.Dashes = seriesColors[style], 0.9, seriesDashes[style]
		p.Add(line)
		keys = append(keys, line)
	}
	for _, points := range []plotter.XYs{joined, single} {
		if dots, err := plotter.NewScatter(points); err == nil && len(points) > 0 {
			dots.GlyphStyle = glyph
			p.Add(dots)
			keys = append(keys, dots)
		}
	}
	if len(keys) == 0 {
		return false
	}
	p.Legend.Add(name, keys[:min(2, len(keys))]...)
	return true
}

// decades are the powers of ten within a range, with the marks between them.
func decades(from, to float64, label func(float64) string) []plot.Tick {
	var ticks []plot.Tick
	for power := math.Floor(math.Log10(from)); power <= math.Ceil(math.Log10(to)); power++ {
		for times := 1.0; times < 10; times++ {
			value := times * math.Pow(10, power)
			if value < from*(1-1e-9) || value > to*(1+1e-9) {
				continue
			}
			tick := plot.Tick{Value: value}
			if times == 1 {
				tick.Label = label(value)
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

func decadesOfMilliseconds(from, to float64) []plot.Tick {
	return decades(from, to, func(v float64) string { return fmt.Sprintf("%.6g", v) })
}

// decadesOfPercent are those of errors, which stand there as logarithms.
func decadesOfPercent(from, to float64) []plot.Tick {
	ticks := decades(math.Pow(10, from), math.Pow(10, to), func(v float64) string { return fmt.Sprintf("%.6g %%", 100*v) })
	for i := range ticks {
		ticks[i].Value = math.Log10(ticks[i].Value)
	}
	return ticks
}

func halvesOfAll(_, _ float64) []plot.Tick {
	var ticks []plot.Tick
	for percent := -100.0; percent <= 100; percent += 50 {
		ticks = append(ticks, plot.Tick{Value: percent / 100, Label: fmt.Sprintf("%.0f %%", percent)})
	}
	return ticks
}
