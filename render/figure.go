package render

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"chronoscope/record"
	"chronoscope/view"
)

// FigureFormats returns the formats of a figure, which are also the endings of its file.
func FigureFormats() []string { return []string{"svg", "png"} }

// FigureFormat returns the format that the ending of a file's name stands for.
func FigureFormat(file string) (string, error) {
	format := strings.TrimPrefix(filepath.Ext(file), ".")
	if slices.Contains(FigureFormats(), format) {
		return format, nil
	}
	return "", fmt.Errorf("%q names no figure: let it end in .%s", file, strings.Join(FigureFormats(), " or ."))
}

// Figure draws all charts of a document below one another, in the same order as a page, as SVG or
// PNG. Titles and captions are those of the page's sections.
func Figure(w io.Writer, format string, d record.Document) error {
	s, err := view.Of(d)
	if err != nil {
		return err
	}
	figures.Lock()
	defer figures.Unlock()
	f := newFigure(s)
	if format == "png" {
		return f.png(w)
	}
	return f.svg(w)
}

// figures is locked while a figure is drawn: font faces can't be used concurrently.
var figures sync.Mutex

// figure is the layout of several charts, in pixels.
type figure struct {
	Width, Height int
	Style         template.CSS
	Texts         []figureText
	Keys          []figureKey
	Charts        []figureChart
}

type figureText struct {
	X, Y  int
	Class string
	Text  string
}

type figureKey struct {
	X, Y int
	Key  view.Key
}

type figureChart struct {
	X, Y, Width int
	Drawing     *drawing
}

// Sizes of a figure, in pixels.
const (
	figureWidth  = 760
	figureMargin = 18
	figureRoom   = figureWidth - 2*figureMargin
	yAxisWidth   = 58 // room for the labels on the left of a frame
	columnGap    = 28
	keyWidth     = 32
)

func newFigure(s *view.Sheet) *figure {
	f := &figure{Width: figureWidth, Height: figureMargin + 14, Style: template.CSS(figureStyle())}
	f.text("title", s.Title, 24)
	if len(s.Facts) > 0 {
		f.text("caption", strings.Join(s.Facts, ", "), 16)
	}
	for _, section := range s.Sections {
		if section.Trends != nil {
			section.Charts = section.Trends.Charts()
		}
		if len(section.Charts) > 0 && section.In != view.InText {
			f.section(section)
		}
	}
	if len(f.Charts) == 0 {
		f.text("caption", "There is nothing to draw.", 16)
	}
	f.Height += figureMargin
	return f
}

// text adds a text, broken into lines that fit the figure. height is the height of a line, in pixels.
func (f *figure) text(class, text string, height int) {
	for _, line := range wrapTo(text, class, figureRoom) {
		f.Texts = append(f.Texts, figureText{figureMargin, f.Height, class, line})
		f.Height += height
	}
}

func (f *figure) section(s view.Section) {
	f.Height += 22
	f.text("heading", s.Title, 19)
	if s.Lead != "" {
		f.text("caption", s.Lead, 15)
	}
	f.legend(s.Legend)
	columns := 1
	if len(s.Charts) > 1 && s.Charts[0].Lanes == nil {
		columns = 2
	}
	for row := range slices.Chunk(s.Charts, columns) {
		f.row(row, columns)
	}
}

// legend writes keys, as many on a line as there is room for.
func (f *figure) legend(keys []view.Key) {
	if len(keys) == 0 {
		return
	}
	f.Height += 4
	x := 0
	for _, k := range keys {
		width := keyWidth + textWidth(k.Text, "legend") + 16
		if x > 0 && x+width > figureRoom {
			x = 0
			f.Height += 18
		}
		f.Keys = append(f.Keys, figureKey{figureMargin + x, f.Height - 11, k})
		f.Texts = append(f.Texts, figureText{figureMargin + x + keyWidth, f.Height, "legend", k.Text})
		x += width
	}
	f.Height += 18
}

// row places charts next to one another, in columns of equal width.
func (f *figure) row(charts []view.Chart, columns int) {
	width := (figureRoom - (columns-1)*columnGap) / columns
	titled := slices.ContainsFunc(charts, func(c view.Chart) bool { return c.Title != "" })
	if titled {
		f.Height += 16
	}
	high := 0
	for i, c := range charts {
		x := figureMargin + i*(width+columnGap)
		d, own := draw(c), width
		if c.Title != "" {
			f.Texts = append(f.Texts, figureText{x, f.Height - 4, "name", c.Title})
		}
		if d.Framed {
			x, own = x+yAxisWidth, own-yAxisWidth
		}
		f.Charts = append(f.Charts, figureChart{x, f.Height, own, d})
		high = max(high, d.Height)
	}
	f.Height += high + 6
}

// svg writes the figure as an SVG file.
func (f *figure) svg(w io.Writer) error {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "figure.svg", f); err != nil {
		return err
	}
	_, err := w.Write(bytes.Map(inXML, bytes.ToValidUTF8(b.Bytes(), []byte("\uFFFD"))))
	return err
}

// inXML replaces characters that no XML document may contain (XML 1.0, section 2.2).
func inXML(r rune) rune {
	if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
		return '\uFFFD'
	}
	return r
}
