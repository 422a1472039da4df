package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	// Subjects are what the record is about: programs, benchmarks, clocks, instructions, or the
	// subjects of a comparison. It is empty if the document names none.
	Subjects []string
	Err      error // why the header can't be read; nil if it can
}

// List returns the records in the archive, in the order of their names, the oldest first. If the
// folder does not exist yet, the list is empty. Files that can't be read are listed with the
// reason.
func (a Archive) List() ([]Entry, error) {
	names, err := a.names()
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(names))
	for _, name := range names {
		e := Entry{Name: name}
		e.Header, e.Subjects, e.Err = readHead(filepath.Join(a.Folder, name))
		entries = append(entries, e)
	}
	return entries, nil
}

// names returns the names of the records, sorted.
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

// readHead decodes only the header of a document, and the names of its subjects. It refuses a pipe
// or a device, from which reading may never end.
func readHead(file string) (Header, []string, error) {
	data, err := readRecord(file)
	if err != nil {
		return Header{}, nil, err
	}
	var d struct {
		Header
		subjectLists
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return Header{}, nil, &MalformedError{What: "a value is not what it has to be", Err: err}
	}
	return d.Header, d.names(), d.Header.check()
}

// readRegular returns the content of a file, up to a size that [CheckExtent] refuses.
func readRegular(file string) ([]byte, error) {
	f, err := OpenRegular(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MostBytes+1))
}

// readRecord returns the content of a file that may be a record.
func readRecord(file string) ([]byte, error) {
	data, err := readRegular(file)
	if err != nil {
		return nil, err
	}
	if err := CheckExtent(data); err != nil {
		return nil, err
	}
	_, err = formOf(data)
	return data, err
}

// subjectLists are the undecoded parts of a document that name its subjects.
type subjectLists struct {
	Results      json.RawMessage `json:"results"`
	Clocks       json.RawMessage `json:"clocks"`
	Instructions json.RawMessage `json:"instructions"`
	Compared     json.RawMessage `json:"subjects"`
}

// names returns the names of the subjects, each once. A list of an unexpected form has none:
// reading the record will report the error.
func (l subjectLists) names() (names []string) {
	for _, list := range []json.RawMessage{l.Results, l.Clocks, l.Instructions} {
		var named []struct{ Command, Name, Mnemonic string }
		if json.Unmarshal(list, &named) == nil {
			for _, n := range named {
				names = append(names, cmp.Or(n.Command, strings.TrimPrefix(n.Name, "Benchmark"), n.Mnemonic))
			}
		}
	}
	var compared []string
	if json.Unmarshal(l.Compared, &compared) == nil {
		names = append(names, compared...)
	}
	var each []string
	for _, name := range names {
		if name != "" && !slices.Contains(each, name) {
			each = append(each, name)
		}
	}
	return each
}

// Names that [Archive.Find] understands: the record that was started last, and the last one before
// it of the same command.
const (
	Latest   = "latest"
	Previous = "previous"
)

// before returns, as a list of one, the newest name before the last one that is of the same command;
// an empty list if there is no such name.
func before(names []string) []string {
	last := len(names) - 1
	for i := last - 1; i >= 0; i-- {
		if commandIn(names[i]) == commandIn(names[last]) {
			return names[i : i+1]
		}
	}
	return nil
}

// commandIn returns the command in a name that [Archive.Keep] has given: the last but one of the
// parts between dashes. For other names it is empty.
func commandIn(name string) string {
	parts := strings.Split(name, "-")
	if len(parts) < 4 {
		return ""
	}
	return parts[len(parts)-2]
}

// Find returns the file of the record that a name stands for: the whole file name, any part of it
// that occurs in no other name, [Latest] or [Previous]. If there is none, the error is
// [fs.ErrNotExist].
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
	case name == Previous && len(names) > 0:
		found = before(names)
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
