// Package report shows documents to people and to other programs.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Format is a form in which a document is written.
type Format string

// The formats.
const (
	Text Format = "text"
	JSON Format = "json"
	CSV  Format = "csv"
)

// Formats lists all of them.
func Formats() []string { return []string{string(Text), string(JSON), string(CSV)} }

// ParseFormat is the format of that name.
func ParseFormat(name string) (Format, error) {
	if !slices.Contains(Formats(), name) {
		return "", fmt.Errorf("no format is called %q: use one of %s", name, strings.Join(Formats(), ", "))
	}
	return Format(name), nil
}

// WriteJSON writes a document as indented JSON.
func WriteJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

// Style is how text is set.
type Style struct {
	Color bool // the reader is a terminal that shows colours
}

func (s Style) paint(c text.Colors, format string, args ...any) string {
	t := fmt.Sprintf(format, args...)
	if !s.Color {
		return t
	}
	return c.Sprint(t)
}

func (s Style) bold(t string) string { return s.paint(text.Colors{text.Bold}, "%s", t) }
func (s Style) dim(t string) string  { return s.paint(text.Colors{text.Faint}, "%s", t) }

// ns writes nanoseconds with the unit that suits them and three significant
// digits or more; "?" for a value that is not known.
func ns(v *float64) string {
	if v == nil {
		return "?"
	}
	return duration(*v)
}

func duration(ns float64) string { return durationTo(ns, 3) }

func durationTo(ns float64, digits int) string {
	value, unit := ns, "ns"
	switch abs := math.Abs(ns); {
	case abs >= 999.5e6:
		value, unit = ns/1e9, "s"
	case abs >= 999.5e3:
		value, unit = ns/1e6, "ms"
	case abs >= 999.5:
		value, unit = ns/1e3, "µs"
	}
	return significant(value, digits) + " " + unit
}

// significant writes v with that many significant digits, and without an
// exponent; whole digits are never cut.
func significant(v float64, digits int) string {
	if v == 0 {
		return "0"
	}
	decimals := digits - 1 - int(math.Floor(math.Log10(math.Abs(v))))
	return fmt.Sprintf("%.*f", max(0, decimals), v)
}

// relative writes a share as percent or as parts per million.
func relative(share float64) string {
	switch percent := 100 * share; {
	case percent == 0:
		return "0"
	case percent < 0.01:
		return significant(1e6*share, 2) + " ppm"
	default:
		return significant(percent, 2) + " %"
	}
}
