package render

import (
	"io"

	"chronoscope/record"
)

// showText writes a document as text, a format that every kind has.
func showText(w io.Writer, d record.Document, s Style) {
	if err := Write(w, TextFormat, d, s); err != nil {
		panic(err)
	}
}
