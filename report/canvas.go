package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// PlotFormats are the forms of a figure, by the ending of its file.
func PlotFormats() []string { return []string{"svg", "png"} }

// PlotFormat is the form of a figure in that file.
func PlotFormat(file string) (string, error) {
	format := strings.TrimPrefix(filepath.Ext(file), ".")
	if slices.Contains(PlotFormats(), format) {
		return format, nil
	}
	return "", fmt.Errorf("%q names no figure: let it end in .%s", file, strings.Join(PlotFormats(), " or ."))
}

// canvas is a white page for a figure.
type canvas struct {
	page vg.CanvasWriterTo
	area draw.Canvas // within the margins
}

func newCanvas(format string, height vg.Length) (*canvas, error) {
	page, err := draw.NewFormattedCanvas(figureWidth, height, format)
	if err != nil {
		return nil, err
	}
	all := draw.New(page)
	all.FillPolygon(color.White, corners(all.Min.X, all.Min.Y, all.Max.X, all.Max.Y))
	return &canvas{page, draw.Crop(all, figureMargin, -figureMargin, figureMargin, -figureMargin)}, nil
}

// write writes the figure. A viewer without its fonts has others of the same
// widths.
func (c *canvas) write(w io.Writer) error {
	var out bytes.Buffer
	if _, err := c.page.WriteTo(&out); err != nil {
		return err
	}
	_, err := w.Write(bytes.ReplaceAll(out.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")))
	return err
}
