package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"chronoscope/record"
)

// newRecords returns the command that lists and shows records.
func newRecords() *command {
	folder := ""
	list := func(ctx context.Context, c *call) (found, error) { return listRecords(ctx, c, folder) }
	c := &command{Command: &cobra.Command{
		Use:   "records",
		Short: "List and show what was kept with --save",
		Long: `Lists the records that --save has kept, the oldest first, or shows one as the command
that wrote it would. A record is named by any part of its name that no other has, by
"latest", or by its file.`,
		Example: `  chronoscope clocks --save            measure, and keep the result
  chronoscope records                  what was kept
  chronoscope records show latest
  chronoscope records show 20261121T04 --format json | jq .best
  chronoscope records --folder results
  chronoscope records --folder git     what --save=git kept`,
		Args: takes(0, 0, "%[1]q has no command %[4]q: use list and show"),
	}, measuresNothing: true, measure: list, sub: []*command{
		{Command: &cobra.Command{
			Use:     "list",
			Short:   "List the records, the oldest first",
			Example: "  chronoscope records list --format csv",
		}, measure: list},
		{Command: &cobra.Command{
			Use:   "show RECORD",
			Short: "Show a record as the command that wrote it would",
			Example: `  chronoscope records show latest
  chronoscope records show card.json --format json`,
			Args: takes(1, 1, "%[1]q shows one record, and got %[2]d: name it by its file, by a part of its name, or as "+record.Latest),
		}, measure: func(_ context.Context, c *call) (found, error) { return showRecord(c, folder) }},
	}}
	c.PersistentFlags().StringVar(&folder, "folder", "", "look in this `folder`, or in git or git:BRANCH (default: in the folder of --save)")
	return c
}

// listRecords lists the records of a store.
func listRecords(ctx context.Context, c *call, folder string) (found, error) {
	if c.html != "" || c.plot != "" {
		return found{}, usagef(`--html, --plot: "records" lists, and only a single record has a page and charts: give them to "records show"`)
	}
	store, err := storeIn(folder)
	if err != nil {
		return found{}, err
	}
	records, err := record.List(store)
	if err != nil {
		return found{}, err
	}
	if len(records) == 0 {
		fmt.Fprintf(c.notes, "chronoscope: give %s to a command that measures\n", savesIn(folder))
	}
	return found{document: record.Kept{Header: c.finish(ctx), Folder: store.Place(), Records: records}}, nil
}

// savesIn returns the flag that keeps records in a place; empty means the usual folder.
func savesIn(place string) string {
	if place == "" {
		return "--save"
	}
	return "--save=" + place
}

// showRecord returns a record, in the form of the command that made it.
func showRecord(c *call, folder string) (found, error) {
	d, err := openRecord(folder, c.args[0])
	if err != nil {
		return found{}, err
	}
	return found{document: d}, checkForm(d.Head().Command, c.format)
}

// openRecord opens the file of that name, or else the record in a store. BRANCH:NAME, as --save=git says where it kept a
// record, names one in a branch.
func openRecord(folder, name string) (record.Document, error) {
	if isFile(name) {
		return record.Open(name)
	}
	asked := name
	branch, inBranch, is := strings.Cut(name, ":")
	isOfBranch := is && filepath.VolumeName(name) == "" && slices.Contains([]string{"", inGit, inGit + ":" + branch}, folder)
	if isOfBranch {
		folder, name = inGit+":"+branch, inBranch
	}
	store, err := storeIn(folder)
	if err != nil && isOfBranch {
		return nil, fmt.Errorf("there is no file %s, nor can a record of that name be looked for in a branch: %w", asked, err)
	}
	if err != nil {
		return nil, err
	}
	d, err := record.OpenIn(store, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; nor is there a file of that name: list the records with chronoscope records", err)
	}
	return d, err
}
