package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"chronoscope/record"
	"chronoscope/render"
)

// newReport returns the command that shows records: as one page, or as the commands that made them
// would.
func newReport() *command {
	return &command{Command: &cobra.Command{
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
		Args: takes(1, anyNumber, "%[1]q shows records: name one or more, as written with --format json or --save"),
	}, measuresNothing: true, measure: reportRecords, refused: map[string]string{
		"html": "writes a page and nothing else: name the page's file with -o",
	}}
}

// reportRecords reads records and writes them in the requested format, draws their charts, or
// otherwise makes a page.
func reportRecords(_ context.Context, c *call) (found, error) {
	formatted := c.given("format")
	if len(c.args) > 1 && (c.plot != "" || formatted && c.format != render.TextFormat) {
		return found{}, usagef("--plot and --format json or csv take one record, and got %d: name them one by one", len(c.args))
	}
	var documents []record.Document
	for _, name := range c.args {
		d, err := openRecord("", name)
		if err == nil && formatted {
			err = checkForm(d.Head().Command, c.format)
		}
		if err != nil {
			return found{}, err
		}
		documents = append(documents, d)
	}
	return found{document: documents[0], text: func(w io.Writer, style render.Style) error {
		switch {
		case c.plot != "" && !formatted && c.output == "":
			return nil // only charts were requested
		case !formatted:
			return render.Page(w, documents...)
		}
		for i, d := range documents {
			if i > 0 {
				fmt.Fprintln(w) // a write error would show in the next write, too
			}
			if err := render.Write(w, render.TextFormat, d, style); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}
