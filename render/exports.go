package render

import (
	"io"

	"chronoscope/record"
)

// Exports returns functions that write a document in the formats of other tools, by their names.
func Exports(document record.Document) map[string]func(io.Writer) error {
	switch d := document.(type) {
	case record.Programs:
		return exportsOf(d, map[string]func(io.Writer, record.Programs) error{
			"hyperfine": Hyperfine, "csv": HyperfineCSV, "markdown": Markdown, "asciidoc": AsciiDoc, "orgmode": OrgMode, "gobench": GoBenchPrograms,
		})
	case record.Bench:
		return exportsOf(d, map[string]func(io.Writer, record.Bench) error{
			"gobench": GoBench, "summary": BenchSummary, "junit": JUnit, "codequality": CodeQuality,
			"benchmark-action": BenchmarkAction, "bmf": BencherMetrics,
		})
	}
	return nil
}

// exportsOf returns the functions that write d.
func exportsOf[D record.Document](d D, formats map[string]func(io.Writer, D) error) map[string]func(io.Writer) error {
	exports := map[string]func(io.Writer) error{}
	for name, write := range formats {
		exports[name] = func(w io.Writer) error { return write(w, d) }
	}
	return exports
}
