package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/color"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"chronoscope/activity"
	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/stats"
	"chronoscope/view"
)

// gapsAt returns a trace with ticks of a nanosecond and those gaps.
func gapsAt(lengthNs int64, gaps ...activity.Gap) *activity.Trace {
	return &activity.Trace{Clock: "simulated", TickNs: 1, Length: lengthNs, Gaps: gaps}
}

// analysisOf sums up a trace whose gaps have their causes already, as Analyse does after finding
// them.
func analysisOf(t *activity.Trace) *activity.Analysis {
	a := &activity.Analysis{ActiveRatio: stats.FloatOf(t.ActiveRatio()), Causes: map[activity.Cause]activity.Total{}}
	for _, g := range t.Gaps {
		total := a.Causes[g.Cause]
		total.Count++
		a.Causes[g.Cause] = total
	}
	return a
}

// randomGaps returns a trace of that length with gaps of any cause, some of which touch.
func randomGaps(rng *rand.Rand, length int64) *activity.Trace {
	t := gapsAt(length)
	for at := rng.Int64N(200); ; {
		g := activity.Gap{Start: at, Ticks: 1 + rng.Int64N(1+rng.Int64N(300)), Cause: activity.Causes()[rng.IntN(len(activity.Causes()))]}
		if g.End() > length {
			return t
		}
		t.Gaps = append(t.Gaps, g)
		at = g.End() + max(0, rng.Int64N(400)-100)
	}
}

// dichromacies say how colours look to people who lack one kind of cone: Machado, Oliveira,
// Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", 2009,
// severity 1, on linear RGB.
var dichromacies = map[string][3][3]float64{
	"usual":        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
}

// lab returns a colour in CIE L*a*b* (D65) as people with that sight see it.
func lab(c color.NRGBA, sight [3][3]float64) [3]float64 {
	linear := func(v uint8) float64 {
		if s := float64(v) / 255; s > 0.04045 {
			return math.Pow((s+0.055)/1.055, 2.4)
		} else {
			return s / 12.92
		}
	}
	rgb := times(sight, [3]float64{linear(c.R), linear(c.G), linear(c.B)})
	for i := range rgb {
		rgb[i] = min(max(rgb[i], 0), 1)
	}
	xyz := times([3][3]float64{{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}, rgb)
	f := func(v float64) float64 {
		if v > 216.0/24389 {
			return math.Cbrt(v)
		}
		return (24389.0/27*v + 16) / 116
	}
	x, y, z := f(xyz[0]/0.95047), f(xyz[1]), f(xyz[2]/1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func times(m [3][3]float64, v [3]float64) (out [3]float64) {
	for i := range m {
		out[i] = m[i][0]*v[0] + m[i][1]*v[1] + m[i][2]*v[2]
	}
	return out
}

// Every cause has a colour. No two of them look alike, nor like the paper, to people who are red-
// or green-blind: they differ by at least 10 in L*a*b*, which distinguishes patches at a glance.
func TestColorsForTheColorBlind(t *testing.T) {
	colors := map[string]color.NRGBA{}
	paper, _ := lookOf("rect", "paper").color("fill")
	colors["paper"] = paper
	for _, cause := range activity.Causes() {
		c, ok := lookOf("rect", "cause "+cause.String()).color("fill")
		if other, _ := lookOf("rect", "cause").color("fill"); !ok || c == other {
			t.Errorf("%v has no colour", cause)
		}
		colors[cause.String()] = c
	}
	for sight, m := range dichromacies {
		for name, c := range colors {
			for other, d := range colors {
				p, q := lab(c, m), lab(d, m)
				if far := math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2]); name < other && far < 10 {
					t.Errorf("%s: %s and %s look alike: %.1f apart", sight, name, other, far)
				}
			}
		}
	}
}

// Practice problem 9.2 of Bryant 2003: in Figure 9.5 timer interrupts come every 10 ms from 358.93
// ms on; five begin a gap and four fall into one.
func TestTimerTicksOfFigure95(t *testing.T) {
	f, err := os.Open("../testdata/papers/bryant2003-figure9.5.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	trace, err := activity.ReadList(f, 1e3/548.1)
	if err != nil {
		t.Fatal(err)
	}
	trace.Kernel.TickHz = 100
	analysis := activity.Analyse(trace)
	ticks := timerTicks(trace, analysis)
	hidden := []bool{false, false, true, false, true, false, true, false, true}
	if len(ticks) != len(hidden) {
		t.Fatalf("%d interrupts, want %d: %+v", len(ticks), len(hidden), ticks)
	}
	const firstPeriodMs = 349.40
	for i, tick := range ticks {
		want := 358.93 - firstPeriodMs + 9.983*float64(i) // the source's milliseconds are 0.17 % too short
		if got := tick.AtNs / 1e6; tick.Hidden() != hidden[i] || math.Abs(got-want) > 0.05 {
			t.Errorf("interrupt %d at %.2f ms, hidden %v; want %.2f, %v", i, got, tick.Hidden(), want, hidden[i])
		}
	}
	// In Figure 9.6 each timer interrupt is a triangle.
	analysis.Periods = trace.TimedPeriods()
	sheet, err := view.Of(record.Activity{Traces: []activity.Analysis{*analysis}})
	if err != nil {
		t.Fatal(err)
	}
	lanes := sheet.Sections[0].Charts[0]
	triangles := slices.DeleteFunc(draw(lanes).Points, func(p drawPoint) bool { return p.Mark != "triangle" })
	if len(triangles) != len(ticks) {
		t.Fatalf("%d triangles for %d interrupts", len(triangles), len(ticks))
	}
	for i, tick := range ticks {
		if at := float64(triangles[i].X) * float64(lanes.Lanes.EndNs); math.Abs(at-tick.AtNs) > 1e4 {
			t.Errorf("triangle %d at %.0f ns, and its interrupt at %.0f", i, at, tick.AtNs)
		}
	}
}

// A gap beyond the end of its trace, as in a prepared record, once made drawing panic.
func TestFigureOfAPreparedTrace(t *testing.T) {
	gap := activity.TimedPeriod{State: "inactive", StartNs: 9e18, DurationNs: 5}
	d := record.Activity{Header: record.Header{Machine: &machine.Machine{}}, Traces: []activity.Analysis{{DurationNs: 1, Periods: []activity.TimedPeriod{gap}}}}
	for _, format := range []string{"svg", "png"} {
		if err := Figure(io.Discard, format, d); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// barsOf returns the bars of a cause's lane, in the figure of a trace of that length.
func barsOf(t *testing.T, endNs int64, cause string, gaps ...int64) (columns int, highest float64) {
	t.Helper()
	d := draw(view.Chart{Lanes: &view.Lanes{EndNs: endNs, Causes: []string{"page-fault", "preempted"}, Gaps: gaps}})
	for _, b := range d.Bars {
		if strings.HasSuffix(b.Class, cause) {
			columns += int(math.Round(float64(b.Width) * laneColumns))
			highest = max(highest, b.Height)
		}
	}
	return columns, highest
}

// A gap of 1 µs in 10 s is visible, and one of 2 s fills a fifth of its lane.
func TestShortAndLongGapsShow(t *testing.T) {
	gaps := []int64{1e9, 1e3, 0, 3e9 - 1e3, 2e9, 1}
	if columns, highest := barsOf(t, 10e9, "page-fault", gaps...); columns != 1 || highest != leastLoss {
		t.Errorf("the short gap shows in %d columns, %v high", columns, highest)
	}
	if columns, highest := barsOf(t, 10e9, "preempted", gaps...); columns != laneColumns/5 || highest != laneHeight-4 {
		t.Errorf("the long gap shows in %d columns of %d, %v high", columns, laneColumns, highest)
	}
}

// Gaps too close to be told apart don't fill the lane: 1 % of the time is half its height, since
// the lane's logarithmic scale goes from 0.01 % to 100 %.
func TestMergedGapsShowTheirShare(t *testing.T) {
	var gaps []int64
	for range 100_000 {
		gaps = append(gaps, 99e3, 1e3, 0)
	}
	if columns, highest := barsOf(t, 10e9, "page-fault", gaps...); columns != laneColumns || highest != (laneHeight-4)/2 {
		t.Errorf("1 %% shows in %d columns of %d, %v high", columns, laneColumns, highest)
	}
}

// A figure contains columns, not gaps: a million gaps make the file no larger.
func TestFigureOfManyGapsIsSmall(t *testing.T) {
	var b bytes.Buffer
	if err := Figure(&b, "svg", record.Activity{Traces: []activity.Analysis{aTrace(100_000)}}); err != nil || b.Len() > 2<<20 {
		t.Errorf("%d bytes: %v", b.Len(), err)
	}
}

// An empty trace, and documents without any values, can be drawn.
func TestFigureOfNothing(t *testing.T) {
	for _, d := range append(emptyDocuments(), record.Activity{Traces: []activity.Analysis{{}}}) {
		for _, format := range FigureFormats() {
			var b bytes.Buffer
			if err := Figure(&b, format, d); err != nil || b.Len() == 0 {
				t.Errorf("%T as %s: %v, %d bytes", d, format, err, b.Len())
			}
		}
	}
}

// Each kind of document is drawn in both formats. The SVG file is well formed and all its positions
// are numbers, and no text of the PNG extends beyond the picture.
func TestFiguresOfEachKind(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for _, d := range append(documentsOfEachKind(t), hostileDocuments()...) {
		var svg, png bytes.Buffer
		if err := Figure(&svg, "svg", d); err != nil {
			t.Fatal(err)
		}
		if err := wellFormed(svg.Bytes()); err != nil {
			t.Errorf("%T: %v", d, err)
		}
		for _, bad := range []string{"NaN", "Inf", "ZgotmplZ", "<script", "<img"} {
			if strings.Contains(svg.String(), bad) {
				t.Errorf("%T: %q stands in the figure", d, bad)
			}
		}
		if err := Figure(&png, "png", d); err != nil || !bytes.HasPrefix(png.Bytes(), []byte("\x89PNG")) {
			t.Errorf("%T: %v, %d bytes", d, err, png.Len())
		}
		sheet, err := view.Of(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range newFigure(sheet).Texts {
			if width := textWidth(text.Text, text.Class); text.X+width > figureWidth && strings.Contains(text.Text, " ") {
				t.Errorf("%T: %q is %d wide, at %d of %d", d, text.Text, width, text.X, figureWidth)
			}
		}
	}
}

func wellFormed(data []byte) error {
	for decoder := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
