package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"chronoscope/machine"
	"chronoscope/record"
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
	f.measuresNothing(cmd)
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

// listRecords writes what an archive holds.
func listRecords(f *flags, folder string, s Streams) error {
	set, err := f.check()
	if err != nil {
		return err
	}
	if set.html != "" || set.plot != "" {
		return usagef(`--html, --plot: "records" lists, and only a single record has a page and charts: give them to "records show"`)
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
	return set.show(s.Out, d)
}

// showRecord writes a record in the form of the command that made it.
func showRecord(f *flags, folder, name string, s Streams) error {
	set, err := f.check()
	if err != nil {
		return err
	}
	d, err := openRecord(folder, name)
	if err != nil {
		return err
	}
	if err := checkForm(d.Head().Command, set.format); err != nil {
		return err
	}
	return set.show(s.Out, d)
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
