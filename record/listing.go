package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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

// List returns the records in a store, in the order of their names, the oldest first. Files that can't
// be read are listed with the reason.
func List(s Store) ([]Entry, error) {
	files, err := s.Files()
	if err != nil {
		return nil, err
	}
	entries, place := make([]Entry, len(files)), map[string]int{}
	for i, f := range files {
		entries[i].Name, place[f.Name] = f.Name, i
	}
	err = s.ReadFiles(files, func(f StoredFile, content []byte, err error) {
		e := &entries[place[f.Name]]
		if e.Err = err; err == nil {
			e.Header, e.Subjects, e.Err = headOf(content)
		}
	})
	return entries, err
}

// names returns the names of the records, sorted; none if the folder does not exist yet.
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

// headOf decodes only the header of a document, and the names of its subjects.
func headOf(data []byte) (Header, []string, error) {
	if err := CheckExtent(data); err != nil {
		return Header{}, nil, err
	}
	if _, err := formOf(data); err != nil {
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

// readRegular returns the content of a file, up to a size that [CheckExtent] refuses. It refuses a pipe or a device,
// from which reading may never end.
func readRegular(file string) ([]byte, error) {
	f, err := OpenRegular(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MostBytes+1))
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

// Names that [Find] understands: the record that was started last, and the last one before
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

// Find returns the record in a store that a name stands for: the whole file name, any part of it
// that occurs in no other name, [Latest] or [Previous]. If there is none, the error is
// [fs.ErrNotExist].
func Find(s Store, name string) (StoredFile, error) {
	files, err := s.Files()
	if err != nil {
		return StoredFile{}, err
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
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
		return StoredFile{}, fmt.Errorf("no record in %s is called %q: %w", s.Place(), name, fs.ErrNotExist)
	case 1:
		return files[slices.Index(names, found[0])], nil
	}
	return StoredFile{}, fmt.Errorf("%d records in %s are called %q, the last of them %s: give more of the name", len(found), s.Place(), name, found[len(found)-1])
}

// OpenIn reads the record in a store that a name stands for, as [Find] understands it.
func OpenIn(s Store, name string) (d Document, err error) {
	file, err := Find(s, name)
	if err != nil {
		return nil, err
	}
	failed := s.ReadFiles([]StoredFile{file}, func(_ StoredFile, content []byte, unread error) {
		if err = unread; err == nil {
			d, err = Parse(content)
		}
	})
	if err = errors.Join(failed, err); err != nil {
		return nil, fmt.Errorf("reading the record %s in %s: %w", file.Name, s.Place(), err)
	}
	return d, nil
}
