package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Entry is a record in an archive.
type Entry struct {
	Name   string // of the file
	Header Header
	Err    error // why the header can't be read; nil where it can
}

// List is what the archive holds, in the order of the names, the oldest first. An archive
// that nothing was kept in is empty. Files that can't be read are listed with the reason.
func (a Archive) List() ([]Entry, error) {
	names, err := a.names()
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(names))
	for _, name := range names {
		e := Entry{Name: name}
		e.Header, e.Err = readHeader(filepath.Join(a.Folder, name))
		entries = append(entries, e)
	}
	return entries, nil
}

// names are those of the records, sorted.
func (a Archive) names() ([]string, error) {
	files, err := os.ReadDir(a.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing records: %w", err)
	}
	var names []string
	for _, f := range files {
		if !f.IsDir() && strings.HasSuffix(f.Name(), ".json") && !strings.HasPrefix(f.Name(), ".") {
			names = append(names, f.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// readHeader decodes no more of a document than its head. A pipe or a device, from which
// reading may never end, is no record.
func readHeader(file string) (Header, error) {
	var h Header
	info, err := os.Stat(file)
	if err != nil {
		return h, err
	}
	if !info.Mode().IsRegular() {
		return h, malformed("it is no regular file")
	}
	if info.Size() > MostBytes {
		return h, malformed("it is larger than %d MiB, as no record is", MostBytes>>20)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return h, err
	}
	if err := CheckExtent(data); err != nil {
		return h, err
	}
	if _, err := formOf(data); err != nil {
		return h, err
	}
	if err := json.Unmarshal(data, &h); err != nil {
		return h, &MalformedError{What: "a value is not what it has to be", Err: err}
	}
	return h, h.check()
}

// What asks [Archive.Find] for the record that was started last, and for the one before it.
const (
	Latest   = "latest"
	Previous = "previous"
)

// Find is the file of the record that a name means: its whole name, any part of the name
// that no other has, [Latest] or [Previous]. The error is [fs.ErrNotExist] where there is none.
func (a Archive) Find(name string) (string, error) {
	names, err := a.names()
	if err != nil {
		return "", err
	}
	var found []string
	switch {
	case slices.Contains(names, name):
		found = []string{name}
	case name == Latest && len(names) > 0:
		found = names[len(names)-1:]
	case name == Previous && len(names) > 1:
		found = names[len(names)-2 : len(names)-1]
	case name != "":
		for _, n := range names {
			if strings.Contains(n, name) {
				found = append(found, n)
			}
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("no record in %s is called %q: %w", a.Folder, name, fs.ErrNotExist)
	case 1:
		return filepath.Join(a.Folder, found[0]), nil
	}
	return "", fmt.Errorf("%d records in %s are called %q, the last of them %s: give more of the name", len(found), a.Folder, name, found[len(found)-1])
}
