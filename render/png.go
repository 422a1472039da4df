package render

import (
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"

	"chronoscope/view"
)

// density is the number of dots per pixel, in each direction, of a PNG: text stays sharp on
// high-resolution screens and on paper.
const density = 2

// fonts are the fonts of figures. Their letters are as wide as those of Arial and Helvetica.
var fonts = sync.OnceValue(func() [2]*opentype.Font {
	var both [2]*opentype.Font
	for i, data := range [][]byte{liberationsansregular.TTF, liberationsansbold.TTF} {
		f, err := opentype.Parse(data)
		if err != nil {
			panic(err) // the font is part of this program
		}
		both[i] = f
	}
	return both
})

type faceSize struct {
	size float64
	bold bool
}

var faces sync.Map // font.Face by faceSize

// faceOf returns the font face for a look, enlarged by the factor times.
func faceOf(l look, times float64) font.Face {
	key := faceSize{l.number("font-size", 13) * times, l.number("font-weight", 400) >= 600}
	if face, ok := faces.Load(key); ok {
		return face.(font.Face)
	}
	f := fonts()[0]
	if key.bold {
		f = fonts()[1]
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: key.size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic(err) // the fonts are valid
	}
	faces.Store(key, face)
	return face
}

// widerFont is the factor by which a text may be wider than in the figure's fonts: a viewer of an
// SVG file that lacks these fonts uses another one.
const widerFont = 1.15

// textWidth returns the greatest width of a text of a class, in pixels.
func textWidth(text, class string) int {
	return int(math.Ceil(widerFont * float64(font.MeasureString(faceOf(lookOf("text", class), 1), text)) / 64))
}

// wrapTo breaks a text between words, into lines that are no wider than the room.
func wrapTo(text, class string, room int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && textWidth(longer, class) > room {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	return append(lines, line)
}

// png writes the figure as a PNG file.
func (f *figure) png(w io.Writer) error {
	p := painter{gg.NewContext(f.Width*density, f.Height*density)}
	p.rect(0, 0, float64(f.Width), float64(f.Height), lookOf("rect", "paper"))
	for _, t := range f.Texts {
		p.text(t.Text, float64(t.X), float64(t.Y), "start", lookOf("text", t.Class))
	}
	for _, k := range f.Keys {
		p.key(float64(k.X), float64(k.Y), k.Key)
	}
	for _, c := range f.Charts {
		p.chart(c)
	}
	return png.Encode(w, p.to.Image())
}

// painter draws on a picture that has density dots for each pixel; positions are in pixels.
type painter struct{ to *gg.Context }

func (p painter) key(x, y float64, k view.Key) {
	if k.Line {
		p.line(x+1, y+7, x+25, y+7, lookOf("line", "series "+k.Look))
	}
	if k.Bar {
		p.rect(x+3, y+2, 20, 10, lookOf("rect", k.Look))
	}
	if k.Mark != "" {
		p.mark(x+13, y+7, k.Mark, k.Look)
	}
}

// chart draws in the same order as the page's template.
func (p painter) chart(c figureChart) {
	x := func(at part) float64 { return float64(c.X) + float64(at)*float64(c.Width) }
	top, d := float64(c.Y), c.Drawing
	for _, l := range d.Grid {
		p.line(x(l.X1), top+l.Y1, x(l.X2), top+l.Y2, lookOf("line", l.Class))
	}
	for _, b := range d.Bars {
		p.rect(x(b.X), top+b.Y, float64(b.Width)*float64(c.Width), b.Height, lookOf("rect", b.Class))
	}
	for _, l := range d.Lines {
		p.line(x(l.X1), top+l.Y1, x(l.X2), top+l.Y2, lookOf("line", l.Class))
	}
	for _, t := range d.Texts {
		p.text(t.Text, x(t.X)+float64(t.DX), top+t.Y, t.Anchor, lookOf("text", t.Class))
	}
	for _, m := range d.Points {
		p.mark(x(m.X), top+m.Y, m.Mark, m.Class)
	}
}

// stroke draws the path with the stroke of the look.
func (p painter) stroke(l look, property string) {
	c, painted := l.color(property)
	if !painted {
		p.to.ClearPath()
		return
	}
	p.to.SetColor(c)
	p.to.SetLineWidth(density * l.number("stroke-width", 1))
	p.to.SetLineCapButt()
	dashes := l.dashes()
	for i := range dashes {
		dashes[i] *= density
	}
	p.to.SetDash(dashes...)
	p.to.Stroke()
}

func (p painter) line(x1, y1, x2, y2 float64, l look) {
	p.to.DrawLine(density*x1, density*y1, density*x2, density*y2)
	p.stroke(l, "stroke")
}

// hatched is the SVG pattern of hatched bars.
const hatched = "url(#hatch)"

func (p painter) rect(x, y, width, height float64, l look) {
	rectangle := func() { p.to.DrawRectangle(density*x, density*y, density*width, density*height) }
	if c, painted := l.color("fill"); painted {
		rectangle()
		p.to.SetColor(c)
		p.to.Fill()
	}
	if l["fill"] == hatched {
		p.hatch(x, y, width, height, l)
	}
	if _, painted := l.color("stroke"); painted {
		rectangle()
		p.stroke(l, "stroke")
	}
}

// hatch draws slanted lines within a rectangle.
func (p painter) hatch(x, y, width, height float64, l look) {
	p.to.Push()
	p.to.DrawRectangle(density*x, density*y, density*width, density*height)
	p.to.Clip()
	l = look{"stroke": l["stroke"], "stroke-width": "2.2"}
	for at := x - height; at < x+width; at += 7 {
		p.line(at, y+height, at+height, y, l)
	}
	p.to.ResetClip()
	p.to.Pop()
}

func (p painter) mark(x, y float64, name, class string) {
	i := slices.IndexFunc(marks, func(m mark) bool { return m.Name == name })
	if i < 0 {
		return
	}
	m := marks[i]
	l := lookOf("use", "mark "+class)
	if m.Radius > 0 {
		p.to.DrawCircle(density*x, density*y, density*m.Radius)
	}
	for _, line := range m.Lines {
		p.to.MoveTo(density*(x+line[0][0]), density*(y+line[0][1]))
		for _, at := range line[1:] {
			p.to.LineTo(density*(x+at[0]), density*(y+at[1]))
		}
	}
	if m.Class != "" {
		l["stroke-width"] = lookOf("path", m.Class)["stroke-width"]
		p.stroke(l, "stroke")
		return
	}
	if c, painted := l.color("fill"); painted {
		p.to.ClosePath()
		p.to.SetColor(c)
		p.to.Fill()
	}
}

// text draws a text with a rim of the background's colour, over what was drawn before.
func (p painter) text(text string, x, y float64, anchor string, l look) {
	face := faceOf(l, density)
	x *= density
	width := float64(font.MeasureString(face, text)) / 64
	switch anchor {
	case "middle":
		x -= width / 2
	case "end":
		x -= width
	}
	p.to.SetFontFace(face)
	if rim, painted := l.color("stroke"); painted {
		p.to.SetColor(rim)
		for _, d := range [][2]float64{{-2, 0}, {2, 0}, {0, -2}, {0, 2}, {-1.5, -1.5}, {1.5, 1.5}, {-1.5, 1.5}, {1.5, -1.5}} {
			p.to.DrawString(text, x+d[0]*density/2, y*density+d[1]*density/2)
		}
	}
	if c, painted := l.color("fill"); painted {
		p.to.SetColor(c)
		p.to.DrawString(text, x, y*density)
	}
}
