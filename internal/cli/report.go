package cli

import (
	"io"

	"github.com/spf13/cobra"

	"chronoscope/record"
	"chronoscope/report"
)

// newReport is the command that shows records as a page.
func newReport(f *flags, s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report RECORD ...",
		Short: "Show records as one page for a browser",
		Long: `Turns what other commands wrote with --format json into one HTML page that needs no
network and no other file: the report card first, then the figures, each with its data.
Activity traces can be zoomed. What --save has kept is named by any part of its name that
no other has, or by "latest". A command that measures writes such a page of its own result
with --html FILE.`,
		Example: `  chronoscope --format json -o card.json
  chronoscope activity --duration 10s --format json -o activity.json
  chronoscope report card.json activity.json -o machine.html`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%q shows records: name one or more, as written with --format json or --save", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, names []string) error {
			return writePage(f, s, names)
		},
	}
	f.measuresNothing(cmd)
	f.refuse(cmd, "writes a page and nothing else: name the page's file with -o", "format", "html")
	return cmd
}

// writePage reads records and writes the page.
func writePage(f *flags, s Streams, names []string) error {
	set, err := f.check()
	if err != nil {
		return err
	}
	var documents []record.Document
	for _, name := range names {
		d, err := openRecord("", name)
		if err != nil {
			return err
		}
		documents = append(documents, d)
	}
	return set.print(s.Out, func(w io.Writer, _ report.Style) error { return report.Page(w, documents...) })
}
