package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// List returns the records in a store, in the order of their names, the oldest first. Files that can't
// be read are listed with the reason.
func List(s Store) ([]KeptRecord, error) {
	files, err := s.Files()
	if err != nil {
		return nil, err
	}
	records, place := make([]KeptRecord, len(files)), map[string]int{}
	for i, f := range files {
		place[f.Name] = i
	}
	err = s.ReadFiles(files, func(f StoredFile, content []byte, err error) {
		records[place[f.Name]] = keptRecord(f.Name, content, err)
	})
	return records, err
}

// keptRecord returns what is listed of a file that was read, or could not be read.
func keptRecord(name string, content []byte, err error) KeptRecord {
	var h Header
	var subjects []string
	if err == nil {
		h, subjects, err = headOf(content)
	}
	r := KeptRecord{Name: name, Subjects: append([]string{}, subjects...)}
	if err != nil {
		r.Error = known(err.Error())
		return r
	}
	r.Command, r.Started, r.DurationNs, r.Interrupted = &h.Command, &h.Started, &h.DurationNs, &h.Interrupted
	r.CPU = known(string(h.Machine.CPU))
	return r
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

// before returns, as a list of one, the newest record before the last one that is of the same command;
// an empty list if there is none.
func before(files []StoredFile) []StoredFile {
	last := len(files) - 1
	for i := last - 1; i >= 0; i-- {
		if commandIn(files[i].Name) == commandIn(files[last].Name) {
			return files[i : i+1]
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
	var found []StoredFile
	at := slices.IndexFunc(files, func(f StoredFile) bool { return f.Name == name })
	switch {
	case at >= 0:
		found = files[at : at+1]
	case name == Latest && len(files) > 0:
		found = files[len(files)-1:]
	case name == Previous && len(files) > 0:
		found = before(files)
	case name != "":
		found = slices.DeleteFunc(files, func(f StoredFile) bool { return !strings.Contains(f.Name, name) })
	}
	switch len(found) {
	case 0:
		return StoredFile{}, fmt.Errorf("no record in %s is called %q: %w", s.Place(), name, fs.ErrNotExist)
	case 1:
		return found[0], nil
	}
	return StoredFile{}, fmt.Errorf("%d records in %s are called %q, the last of them %s: give more of the name", len(found), s.Place(), name, found[len(found)-1].Name)
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
