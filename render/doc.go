// Package render turns a view of a document into what people and other programs read: text, CSV, a
// page for a browser, figures, and other tools' formats.
package render

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"chronoscope/record"
	"chronoscope/view"
)

// Format is a format in which a document is written.
type Format string

const (
	TextFormat Format = "text"
	JSONFormat Format = "json"
	CSVFormat  Format = "csv"
)

// Formats lists all formats.
func Formats() []string { return []string{string(TextFormat), string(JSONFormat), string(CSVFormat)} }

// ParseFormat returns the format with the given name.
func ParseFormat(name string) (Format, error) {
	if !slices.Contains(Formats(), name) {
		return "", fmt.Errorf("no format is called %q: use one of %s", name, strings.Join(Formats(), ", "))
	}
	return Format(name), nil
}

// Write writes a document in a format.
func Write(w io.Writer, format Format, d record.Document, style Style) error {
	switch format {
	case JSONFormat:
		return JSON(w, d)
	case CSVFormat:
		return CSV(w, d)
	}
	sheet, err := view.Of(d)
	if err != nil {
		return err
	}
	return Text(w, sheet, style)
}

// JSON writes a document as indented JSON.
func JSON(w io.Writer, d record.Document) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(d)
}
