package render

import (
	"io"

	"chronoscope/record"
)

// Exports write a document in the formats of other tools, by their names.
func Exports(document record.Document) map[string]func(io.Writer) error {
	switch d := document.(type) {
	case record.Programs:
		return map[string]func(io.Writer) error{
			"hyperfine": func(w io.Writer) error { return Hyperfine(w, d) },
			"markdown":  func(w io.Writer) error { return Markdown(w, d) },
			"gobench":   func(w io.Writer) error { return GoBenchPrograms(w, d) },
		}
	case record.Bench:
		return map[string]func(io.Writer) error{"gobench": func(w io.Writer) error { return GoBench(w, d) }}
	}
	return nil
}
