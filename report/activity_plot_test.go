package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"chronoscope/activity"
	"chronoscope/stats"
)

// gapsAt is a trace of nanosecond ticks with those gaps.
func gapsAt(lengthNs int64, gaps ...activity.Gap) *activity.Trace {
	return &activity.Trace{Clock: "simulated", TickNs: 1, Length: lengthNs, Gaps: gaps}
}

// analysisOf sums up a trace whose gaps have their causes, as Analyse would do
// after finding them.
func analysisOf(t *activity.Trace) *activity.Analysis {
	a := &activity.Analysis{ActiveRatio: t.ActiveRatio(), Causes: map[activity.Cause]activity.Total{}}
	for _, g := range t.Gaps {
		total := a.Causes[g.Cause]
		total.Count++
		a.Causes[g.Cause] = total
	}
	return a
}

// randomGaps is a trace of that length with gaps of any cause, some of which
// touch.
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

// drawn is the figure of one trace as a picture.
func drawn(t *testing.T, trace *activity.Trace) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := PlotActivity(&b, "png", []*activity.Trace{trace}, []*activity.Analysis{analysisOf(trace)}); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// barOf is the rectangle of the bar: all that is drawn in it lies below its top
// line, which has a colour of its own.
func barOf(t *testing.T, picture image.Image) image.Rectangle {
	t.Helper()
	var bar image.Rectangle
	for y := range picture.Bounds().Max.Y * 2 / 3 { // the legend lies below
		for x := range picture.Bounds().Max.X {
			if near(picture.At(x, y), activeColor) {
				bar = bar.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if bar.Dx() < 300 || bar.Dy() < 20 {
		t.Fatalf("no bar in the picture: %v", bar)
	}
	return bar
}

func near(c color.Color, want color.RGBA) bool {
	r, g, b, _ := c.RGBA()
	off := func(got uint32, want uint8) float64 { return math.Abs(float64(got>>8) - float64(want)) }
	return off(r, want.R)+off(g, want.G)+off(b, want.B) < 3
}

// columnsWith counts the columns of pixels in which the colour shows, and the
// most of it that one holds.
func columnsWith(picture image.Image, bar image.Rectangle, c color.RGBA) (columns, highest int) {
	for x := bar.Min.X; x < bar.Max.X; x++ {
		height := 0
		for y := bar.Min.Y - 1; y <= bar.Max.Y; y++ {
			if near(picture.At(x, y), c) {
				height++
			}
		}
		if height > 0 {
			columns++
		}
		highest = max(highest, height)
	}
	return columns, highest
}

// What each column lost is what counting every nanosecond gives.
func TestLostPerColumn(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		length := 1000 + rng.Int64N(3000)
		trace := randomGaps(rng, length)
		columnNs, offset := 5+rng.Int64N(300), int64(0)
		offset = rng.Int64N(columnNs)
		counted := map[[2]int]int{}
		inside := map[int]int{}
		for ns := range length {
			inside[int((ns+offset)/columnNs)]++
		}
		for _, g := range trace.Gaps {
			for ns := g.Start; ns < g.End(); ns++ {
				counted[[2]int{int((ns + offset) / columnNs), int(g.Cause)}]++
			}
		}
		columns := lostPerColumn(trace, float64(columnNs), float64(offset))
		if want := int((length + offset + columnNs - 1) / columnNs); len(columns) != want {
			t.Fatalf("seed %d: %d columns, want %d", seed, len(columns), want)
		}
		for k, column := range columns {
			for cause, share := range column {
				if want := float64(counted[[2]int{k, cause}]) / float64(inside[k]); math.Abs(share-want) > 1e-9 {
					t.Fatalf("seed %d: column %d lost %v to %v, want %v", seed, k, share, activity.Cause(cause), want)
				}
			}
		}
	}
}

// A gap of 1 µs in 10 s shows, and one of 2 s fills the bar for a fifth of it.
func TestShortAndLongGapsShow(t *testing.T) {
	trace := gapsAt(10e9,
		activity.Gap{Start: 1e9, Ticks: 1e3, Cause: activity.PageFault},
		activity.Gap{Start: 4e9, Ticks: 2e9, Cause: activity.Preempted})
	picture := drawn(t, trace)
	bar := barOf(t, picture)
	if columns, _ := columnsWith(picture, bar, causeColor[activity.PageFault]); columns < 1 || columns > 3 {
		t.Errorf("the short gap shows in %d columns of pixels, want 1 to 3", columns)
	}
	columns, highest := columnsWith(picture, bar, causeColor[activity.Preempted])
	if want := float64(bar.Dx()) / 5; math.Abs(float64(columns)-want) > 4 || highest < bar.Dy()-4 {
		t.Errorf("the long gap shows in %d columns of %d, up to %d of %d pixels", columns, bar.Dx(), highest, bar.Dy())
	}
}

// Gaps too many to be told apart don't fill the bar: 1 % of the time is half its
// height, as the scale beside it says.
func TestMergedGapsShowTheirShare(t *testing.T) {
	trace := gapsAt(10e9)
	for at := int64(0); at < 10e9; at += 100e3 {
		trace.Gaps = append(trace.Gaps, activity.Gap{Start: at, Ticks: 1e3, Cause: activity.TimerTick})
	}
	picture := drawn(t, trace)
	light := barOf(t, picture) // the upper half
	whole := light
	whole.Max.Y += 2 * light.Dy()
	if columns, highest := columnsWith(picture, whole, causeColor[activity.TimerTick]); columns < light.Dx()-4 || math.Abs(float64(highest-light.Dy())) > 3 {
		t.Errorf("1 %% shows in %d columns of %d, %d pixels high under %d", columns, light.Dx(), highest, light.Dy())
	}
}

// What was not recorded is not drawn as active.
func TestFullTraceEndsItsBar(t *testing.T) {
	trace := gapsAt(1e9, activity.Gap{Start: 1e8, Ticks: 1e6, Cause: activity.Interrupt}, activity.Gap{Start: 5e8, Ticks: 1e6, Cause: activity.Interrupt})
	whole := barOf(t, drawn(t, trace))
	trace.Dropped, trace.DroppedTicks = 7, 7e6
	if cut := barOf(t, drawn(t, trace)); math.Abs(float64(cut.Dx())-0.5*float64(whole.Dx())) > 4 {
		t.Errorf("a trace that was full at half its time is %d of %d pixels wide", cut.Dx(), whole.Dx())
	}
}

// svgText is a text in a figure.
type svgText struct {
	X         float64 `xml:"x,attr"`
	Y         float64 `xml:"y,attr"`
	Transform string  `xml:"transform,attr"`
	Style     string  `xml:"style,attr"`
	Text      string  `xml:",chardata"`
}

var fontSize = regexp.MustCompile(`font-size:([0-9.]+)px`)

// However many CPUs, causes and however long: every label lies within the
// figure and clear of its neighbours, also in a font that is a tenth wider.
func TestNoLabelIsCropped(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var traces []*activity.Trace
		var analyses []*activity.Analysis
		for cpu := range 1 + rng.IntN(12) {
			trace := randomGaps(rng, 3000)
			trace.CPU, trace.TickNs = cpu*rng.IntN(100), math.Pow(10, 8*rng.Float64())
			if rng.IntN(4) == 0 {
				trace.Dropped = 1
			}
			a := analysisOf(trace)
			a.Tick = &activity.Comb{PeriodNs: stats.Estimate{Value: trace.Ns(50 + rng.Int64N(1000))}}
			traces, analyses = append(traces, trace), append(analyses, a)
		}
		var b bytes.Buffer
		if err := PlotActivity(&b, "svg", traces, analyses); err != nil {
			t.Fatal(err)
		}
		var figure struct {
			ViewBox string `xml:"viewBox,attr"`
			Groups  []struct {
				Texts []svgText `xml:"text"`
			} `xml:"g"`
		}
		if err := xml.Unmarshal(b.Bytes(), &figure); err != nil {
			t.Fatalf("seed %d: not XML: %v", seed, err)
		}
		var left, low, width, height float64
		if _, err := fmt.Sscan(figure.ViewBox, &left, &low, &width, &height); err != nil {
			t.Fatal(err)
		}
		texts, ends := 0, map[float64]float64{} // where the label before on the same line ends
		for _, g := range figure.Groups {
			for _, label := range g.Texts {
				texts++
				size, _ := strconv.ParseFloat(fontSize.FindStringSubmatch(label.Style)[1], 64)
				wide := 1.1 * float64(textStyle(textSize).Width(label.Text)) * size / float64(textSize)
				up := -label.Y // texts are mirrored against the upright page
				if label.X < 0 || label.X+wide > width || up < 0.25*size || up+size > height {
					t.Errorf("seed %d: %q at %.1f, %.1f, %.1f wide, leaves the figure of %v by %v", seed, label.Text, label.X, up, wide, width, height)
				}
				if label.X < ends[up] {
					t.Errorf("seed %d: %q at %.1f begins before %.1f, where its neighbour ends", seed, label.Text, label.X, ends[up])
				}
				ends[up] = label.X + wide
			}
		}
		if want := 4*len(traces) + 8; texts < want {
			t.Errorf("seed %d: %d labels, want %d or more", seed, texts, want)
		}
		if !strings.Contains(b.String(), "sans-serif") {
			t.Error("no other font is named")
		}
	}
}

// A figure holds columns, not gaps: a million of them make no larger a file.
func TestFigureOfManyGapsIsSmall(t *testing.T) {
	trace := gapsAt(10e9)
	for at := int64(0); at < 10e9; at += 10e3 {
		trace.Gaps = append(trace.Gaps, activity.Gap{Start: at, Ticks: 100 + at/10e3%1000, Cause: activity.Causes()[at/10e3%10]})
	}
	var b bytes.Buffer
	if err := PlotActivity(&b, "svg", []*activity.Trace{trace}, []*activity.Analysis{analysisOf(trace)}); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 2<<20 {
		t.Errorf("%d gaps make %d bytes", len(trace.Gaps), b.Len())
	}
}

// An empty trace, and none at all, are drawn as such.
func TestFigureOfNothing(t *testing.T) {
	for _, traces := range [][]*activity.Trace{nil, {gapsAt(0)}} {
		var analyses []*activity.Analysis
		for _, trace := range traces {
			analyses = append(analyses, analysisOf(trace))
		}
		for _, format := range PlotFormats() {
			var b bytes.Buffer
			if err := PlotActivity(&b, format, traces, analyses); err != nil || b.Len() == 0 {
				t.Errorf("%d traces as %s: %v, %d bytes", len(traces), format, err, b.Len())
			}
		}
	}
}

// Some ten round marks, whatever the length.
func TestEvenTicks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for range 1000 {
		end := math.Pow(10, -6+12*rng.Float64())
		ticks := evenTicks(0, end)
		if n := len(ticks); n < 6 || n > 13 || ticks[0].Value != 0 || ticks[n-1].Value > end*(1+1e-6) {
			t.Fatalf("%d marks up to %v: %v", n, end, ticks)
		}
		digits := strings.TrimRight(strings.ReplaceAll(fmt.Sprintf("%.15f", ticks[1].Value), ".", ""), "0")
		if digits = strings.TrimLeft(digits, "0"); digits != "1" && digits != "2" && digits != "5" {
			t.Fatalf("a step of %v", ticks[1].Value)
		}
	}
}

// dichromacies are how colours look to people who lack one kind of cone: Machado,
// Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color
// Vision Deficiency", 2009, severity 1, on linear RGB.
var dichromacies = map[string][3][3]float64{
	"usual":        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
}

// lab is a colour in CIE L*a*b* (D65) as seen with that sight.
func lab(c color.RGBA, sight [3][3]float64) [3]float64 {
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

// Every cause has a colour, and no two of them, nor activity, look alike to
// people who are red- or green-blind: 10 in L*a*b* is what tells patches apart
// at a glance.
func TestColorsForTheColorBlind(t *testing.T) {
	colors := map[string]color.RGBA{"active": activeColor}
	for _, cause := range activity.Causes() {
		c, ok := causeColor[cause]
		if !ok {
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

// Practice problem 9.2 of Bryant 2003: in Figure 9.5 timer interrupts come every
// 10 ms from 358.93 ms on; five begin a gap and four fall into one.
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
	ticks := timerTicks(trace, activity.Analyse(trace))
	hidden := []bool{false, false, true, false, true, false, true, false, true}
	if len(ticks) != len(hidden) {
		t.Fatalf("%d interrupts, want %d: %+v", len(ticks), len(hidden), ticks)
	}
	const firstPeriodMs = 349.40
	for i, tick := range ticks {
		want := 358.93 - firstPeriodMs + 9.983*float64(i) // the milliseconds are 0.17 % short
		if got := tick.AtNs / 1e6; tick.Hidden() != hidden[i] || math.Abs(got-want) > 0.05 {
			t.Errorf("interrupt %d at %.2f ms, hidden %v; want %.2f, %v", i, got, tick.Hidden(), want, hidden[i])
		}
	}
}
