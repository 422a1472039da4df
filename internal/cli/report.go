package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"chronoscope/record"
	"chronoscope/render"
)

// newReport is the command that shows records: as one page, or as the commands that made them
// would.
func newReport(f *flags, s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report RECORD ...",
		Short: "Show records as one page for a browser, as figures, or in another format",
		Long: `Turns what other commands wrote with --format json into one HTML page that needs no
network and no other file: the report card first, then the figures, each with its data.
Activity traces can be zoomed. What --save has kept is named by any part of its name that
no other has, or by "latest". A command that measures writes such a page of its own result
with --html FILE.

With --format the records are written in that format instead, and with --plot the charts
of one record are drawn, as the command that measured it would have done.`,
		Example: `  chronoscope --format json -o card.json
  chronoscope activity --duration 10s --format json -o activity.json
  chronoscope report card.json activity.json -o machine.html
  chronoscope report activity.json --format csv
  chronoscope report activity.json --plot activity.svg`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%q shows records: name one or more, as written with --format json or --save", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, names []string) error {
			return reportRecords(f, s, names, cmd.Flags().Changed("format"))
		},
	}
	f.measuresNothing(cmd)
	f.refuse(cmd, "writes a page and nothing else: name the page's file with -o", "html")
	return cmd
}

// reportRecords reads records and writes them in a format, where one was asked for, or draws
// the charts of one; otherwise it writes a page.
func reportRecords(f *flags, s Streams, names []string, formatted bool) error {
	set, err := f.check()
	if err != nil {
		return err
	}
	if len(names) > 1 && (set.plot != "" || formatted && set.format != render.TextFormat) {
		return usagef("--plot and --format json or csv take one record, and got %d: name them one by one", len(names))
	}
	var documents []record.Document
	for _, name := range names {
		d, err := openRecord("", name)
		if err == nil && formatted {
			err = checkForm(d.Head().Command, set.format)
		}
		if err != nil {
			return err
		}
		documents = append(documents, d)
	}
	if set.plot != "" && !formatted && set.output == "" {
		return set.figure(documents[0])
	}
	return errors.Join(set.figure(documents[0]), set.print(s.Out, func(w io.Writer, style render.Style) error {
		if !formatted {
			return render.Page(w, documents...)
		}
		for i, d := range documents {
			if i > 0 {
				fmt.Fprintln(w) // what goes wrong with it goes wrong below, too
			}
			if err := render.Write(w, set.format, d, style); err != nil {
				return err
			}
		}
		return nil
	}))
}
