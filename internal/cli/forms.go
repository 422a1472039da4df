package cli

import (
	"bytes"
	"fmt"
	"io"

	"chronoscope/record"
	"chronoscope/report"
)

// A form writes documents of one command in each format.
type form func(w io.Writer, format report.Format, d record.Document, style report.Style) error

// forms are those of the commands, each with the type of its documents.
var forms = map[string]form{
	"":          formOf(report.Card, nil),
	"clocks":    formOf(report.Clocks, report.ClocksCSV),
	"fidelity":  formOf(report.Fidelity, report.FidelityCSV),
	"activity":  formOf(report.Activity, report.ActivityCSV),
	"doctor":    formOf(report.Doctor, report.DoctorCSV),
	"bench":     formOf(report.Bench, report.BenchCSV),
	"run":       formOf(report.Programs, report.ProgramsCSV),
	"slowclock": formOf(report.SlowClock, report.SlowClockCSV),
	"validate":  formOf(report.Validation, report.ValidationCSV),
	"bytecode":  formOf(report.Bytecode, report.BytecodeCSV),
	"compare":   formOf(report.Comparison, report.ComparisonCSV),
	"records":   formOf(report.Kept, report.KeptCSV),
}

// formOf joins the ways in which a document of one type is written; csv is nil for what is
// no table.
func formOf[D record.Document](text func(io.Writer, D, report.Style), csv func(io.Writer, D) error) form {
	return func(w io.Writer, format report.Format, document record.Document, style report.Style) error {
		d, ok := document.(D)
		switch {
		case !ok:
			return fmt.Errorf("a document of %q holds %T: this is a fault of chronoscope", document.Head().Command, document)
		case format == report.JSON:
			return report.WriteJSON(w, d)
		case format == report.CSV:
			return csv(w, d)
		}
		var b bytes.Buffer
		text(&b, report.Shown(d), style)
		_, err := w.Write(b.Bytes())
		return err
	}
}

// checkForm refuses a format that a command's documents don't have, before a long
// measurement.
func checkForm(command string, format report.Format) error {
	if command == "" && format == report.CSV {
		return usagef("--format: the report card is no table: use text or json, or csv with a subcommand")
	}
	return nil
}

// show writes a document in the form of its command.
func show(w io.Writer, format report.Format, d record.Document, style report.Style) error {
	command := d.Head().Command
	write, ok := forms[command]
	if !ok {
		return fmt.Errorf("records of %q can't be shown as %s: use --format json, or chronoscope report", command, format)
	}
	return write(w, format, d, style)
}

// show writes a result as is usual for its command, and to what else was asked for.
func (s settings) show(stdout io.Writer, d record.Document) error { return s.showAs(stdout, d, show) }

// showAs is show in a form of the caller's.
func (s settings) showAs(stdout io.Writer, d record.Document, write form) error {
	return s.write(stdout, d, func(w io.Writer, style report.Style) error { return write(w, s.format, d, style) })
}
