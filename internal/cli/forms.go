package cli

import (
	"io"

	"chronoscope/record"
	"chronoscope/render"
	"chronoscope/view"
)

// checkForm refuses a format that a command's documents don't have, before a long
// measurement.
func checkForm(command string, format render.Format) error {
	if format == render.CSVFormat && !view.Tabular(command) {
		return usagef("--format: the report card is no table: use text or json, or csv with a subcommand")
	}
	return nil
}

// show writes a result as is usual for its command, and to what else was asked for.
func (s settings) show(stdout io.Writer, d record.Document) error {
	return s.write(stdout, d, func(w io.Writer, style render.Style) error { return render.Write(w, s.format, d, style) })
}

// showWith is show with a text of the caller's.
func (s settings) showWith(stdout io.Writer, d record.Document, text func(io.Writer, render.Style) error) error {
	if s.format != render.TextFormat {
		return s.show(stdout, d)
	}
	return s.write(stdout, d, text)
}
