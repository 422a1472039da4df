package cli

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"chronoscope/machine"
	"chronoscope/record"
	"chronoscope/report"
)

// newRecords is the command that lists and shows what was kept.
func newRecords(f *flags, s Streams) *cobra.Command {
	folder := ""
	list := func(cmd *cobra.Command, _ []string) error { return listRecords(f, folder, s) }
	cmd := &cobra.Command{
		Use:   "records",
		Short: "List and show what was kept with --save",
		Long: `Lists the records that --save has kept, the oldest first, or shows one as the command
that wrote it would. A record is named by any part of its name that no other has, by
"latest", or by its file.`,
		Example: `  chronoscope clocks --save            measure, and keep the result
  chronoscope records                  what was kept
  chronoscope records show latest
  chronoscope records show 20261121T04 --format json | jq .best
  chronoscope records --folder results`,
		Args: takesOnly("list and show"),
		RunE: list,
	}
	cmd.PersistentFlags().StringVar(&folder, "folder", "", "look in this `folder` (default: in the one of --save)")
	cmd.AddCommand(&cobra.Command{
		Use:     "list",
		Short:   "List the records, the oldest first",
		Example: "  chronoscope records list --format csv",
		Args:    takesOnly(""),
		RunE:    list,
	}, &cobra.Command{
		Use:   "show RECORD",
		Short: "Show a record as the command that wrote it would",
		Example: `  chronoscope records show latest
  chronoscope records show card.json --format json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%q shows one record, and got %d: name it by its file, by a part of its name, or as %s", cmd.CommandPath(), len(args), record.Latest)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return showRecord(f, folder, args[0], s)
		},
	})
	return cmd
}

// takesOnly refuses arguments, other than the named subcommands.
func takesOnly(subcommands string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return nil
		case subcommands == "":
			return usagef("%q takes no arguments, and got %q", cmd.CommandPath(), args)
		}
		return usagef("%q has no command %q: use %s", cmd.CommandPath(), args[0], subcommands)
	}
}

// checkReader is [flags.check] for commands that measure nothing.
func (f *flags) checkReader(command string) (settings, error) {
	for _, name := range []string{"save", "require", "cpu", "quick", "thorough"} {
		if f.set.Changed(name) {
			return settings{}, usagef("--%s: %q measures nothing: give it to a command that does", name, command)
		}
	}
	return f.check()
}

// listRecords writes what an archive holds.
func listRecords(f *flags, folder string, s Streams) error {
	set, err := f.checkReader("records")
	if err != nil {
		return err
	}
	if set.html != "" {
		return usagef(`--html: "records" lists, and only a single record has a page: give it to "records show"`)
	}
	a, err := archiveIn(folder)
	if err != nil {
		return err
	}
	entries, err := a.List()
	if err != nil {
		return err
	}
	header := record.NewHeader("records", machine.Identify(), set.seed)
	header.Finish(false)
	d := record.NewKept(header, a.Folder, entries)
	return set.write(s.Out, d, func(w io.Writer, style report.Style) error {
		return form(report.Kept, report.KeptCSV)(w, set.format, d, style)
	})
}

// showRecord writes a record in the form of the command that made it.
func showRecord(f *flags, folder, name string, s Streams) error {
	set, err := f.checkReader("records show")
	if err != nil {
		return err
	}
	d, err := openRecord(folder, name)
	if err != nil {
		return err
	}
	if _, isCard := d.(record.Card); isCard && set.format == report.CSV {
		return usagef("--format: the report card is no table: use text or json")
	}
	return set.write(s.Out, d, func(w io.Writer, style report.Style) error {
		return show(w, set.format, d, style)
	})
}

// openRecord opens the file of that name, or else the record in the archive.
func openRecord(folder, name string) (record.Document, error) {
	if isFile(name) {
		return record.Open(name)
	}
	a, err := archiveIn(folder)
	if err != nil {
		return nil, err
	}
	file, err := a.Find(name)
	if err != nil {
		return nil, fmt.Errorf("%w; nor is there a file of that name: list the records with chronoscope records", err)
	}
	return record.Open(file)
}

// shows are the forms of the documents, each with its reader's type.
var shows = map[string]func(io.Writer, report.Format, record.Document, report.Style) error{
	"":          form(report.Card, nil),
	"clocks":    form(report.Clocks, report.ClocksCSV),
	"fidelity":  form(report.Fidelity, report.FidelityCSV),
	"activity":  form(report.Activity, report.ActivityCSV),
	"doctor":    form(report.Doctor, report.DoctorCSV),
	"bench":     form(report.Bench, report.BenchCSV),
	"run":       form(report.Programs, report.ProgramsCSV),
	"slowclock": form(report.SlowClock, report.SlowClockCSV),
	"validate":  form(report.Validation, report.ValidationCSV),
	"bytecode":  form(report.Bytecode, report.BytecodeCSV),
	"compare":   form(report.Comparison, report.ComparisonCSV),
}

// form joins the ways in which a document of one type is written.
func form[D record.Document](text func(io.Writer, D, report.Style), csv func(io.Writer, D) error) func(io.Writer, report.Format, record.Document, report.Style) error {
	return func(w io.Writer, format report.Format, document record.Document, style report.Style) error {
		d := document.(D)
		switch format {
		case report.JSON:
			return report.WriteJSON(w, d)
		case report.CSV:
			return csv(w, d)
		}
		text(w, d, style)
		return nil
	}
}

// show writes a document that came from outside: nothing in its texts may steer the
// terminal.
func show(w io.Writer, format report.Format, d record.Document, style report.Style) error {
	write, ok := shows[d.Head().Command]
	if !ok {
		return fmt.Errorf("records of %q can't be shown as %s: use --format json, or chronoscope report", d.Head().Command, format)
	}
	if format != report.Text {
		return write(w, format, d, style)
	}
	var b bytes.Buffer
	if err := write(&b, format, d, style); err != nil {
		return err
	}
	_, err := io.WriteString(w, harmless(b.String()))
	return err
}

// colours are the sequences with which reports set colours (ECMA-48, select graphic
// rendition).
var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// harmless is a text in which nothing but colours steers a terminal.
func harmless(text string) string {
	var b strings.Builder
	end := 0
	for _, at := range colours.FindAllStringIndex(text, -1) {
		b.WriteString(withoutControls(text[end:at[0]]))
		b.WriteString(text[at[0]:at[1]])
		end = at[1]
	}
	return b.String() + withoutControls(text[end:])
}

func withoutControls(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
