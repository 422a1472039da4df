package cli

import (
	"fmt"

	"chronoscope/record"
	"chronoscope/view"
)

// defaultSave is what --save means without a folder. It stands in the help text, too:
// --save folder[=default].
const defaultSave = "default"

// registerSave adds the flag that keeps what a command measures.
func (f *flags) registerSave() {
	f.set.StringVar(&f.saveIn, "save", "", "keep the result as a record, in this `folder` (give it as --save=FOLDER; default is chronoscope/records among the user's data)")
	f.set.Lookup("save").NoOptDefVal = defaultSave
}

// archive is where the result is to be kept; nil where it is not. That nothing can be
// written there is found out before a long measurement.
func (f *flags) archive() (*record.Archive, error) {
	if !f.set.Changed("save") {
		return nil, nil
	}
	a, err := archiveIn(f.saveIn)
	if err == nil {
		err = a.Prepare()
	}
	if err != nil {
		return nil, fmt.Errorf("--save: %w", err)
	}
	return &a, nil
}

// archiveIn is the archive in a folder that the user named, or else the default one.
func archiveIn(folder string) (record.Archive, error) {
	if folder == "" || folder == defaultSave {
		return record.DefaultArchive()
	}
	return record.ArchiveIn(folder), nil
}

// keep keeps a document where that was asked for. It says so only when the record is on
// the disk.
func (s settings) keep(d record.Document) error {
	if s.archive == nil || d == nil {
		return nil
	}
	file, err := s.archive.Keep(d)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.notes, "chronoscope: kept as %s\n", view.OneLine(file))
	return nil
}
