package render

import (
	"io"

	"chronoscope/record"
)

// Exports returns functions that write a document in the formats of other tools, by their names.
func Exports(document record.Document) map[string]func(io.Writer) error {
	switch d := document.(type) {
	case record.Programs:
		return map[string]func(io.Writer) error{
			"hyperfine": func(w io.Writer) error { return Hyperfine(w, d) },
			"markdown":  func(w io.Writer) error { return Markdown(w, d) },
			"gobench":   func(w io.Writer) error { return GoBenchPrograms(w, d) },
		}
	case record.Bench:
		formats := map[string]func(io.Writer, record.Bench) error{
			"gobench": GoBench, "summary": BenchSummary, "junit": JUnit, "codequality": CodeQuality,
			"benchmark-action": BenchmarkAction, "bmf": BencherMetrics,
		}
		exports := map[string]func(io.Writer) error{}
		for name, write := range formats {
			exports[name] = func(w io.Writer) error { return write(w, d) }
		}
		return exports
	}
	return nil
}
