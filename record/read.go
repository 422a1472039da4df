package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// These limits apply to a document. A trace with 100,000 periods takes some 20 MB.
const (
	MostBytes    = 128 << 20
	mostElements = 1 << 20 // of all lists together, or fields of one object
	mostDepth    = 32
)

// MalformedError says that some data are not a document of this program, or contain invalid values.
type MalformedError struct {
	Where string // the place of the error, such as ".clocks[3].spread"; empty for the whole document
	What  string // what is wrong there
	Err   error  // the JSON decoder's error; nil if the JSON is valid
}

func (e *MalformedError) Error() string {
	text := e.What
	if e.Where != "" {
		text = strings.TrimPrefix(e.Where, ".") + ": " + text
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *MalformedError) Unwrap() error { return e.Err }

func malformed(format string, args ...any) error {
	return &MalformedError{What: fmt.Sprintf(format, args...)}
}

// Open reads a document from a file. Its errors are those of [Read], with the file's name.
func Open(file string) (Document, error) {
	f, err := OpenRegular(file)
	if err != nil {
		return nil, fmt.Errorf("reading a record: %w", err)
	}
	defer f.Close()
	d, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("reading the record %s: %w", file, err)
	}
	return d, nil
}

// Read reads the output of a command with --format json. It returns one of the documents of this
// package, as a value.
//
// Unknown fields are ignored, since later versions may add some. Known fields must have the right
// type and range: a document that is cut short, of another schema, of an unknown command, too
// large, or that contains a negative duration, a share beyond 1 or an unknown verdict gives a
// [MalformedError].
func Read(r io.Reader) (Document, error) {
	data, err := io.ReadAll(io.LimitReader(r, MostBytes+1))
	if err != nil {
		return nil, err
	}
	return Parse(data)
}

// Parse is like [Read], for data that are in memory.
func Parse(data []byte) (Document, error) {
	if err := CheckExtent(data); err != nil {
		return nil, err
	}
	form, err := formOf(data)
	if err != nil {
		return nil, err
	}
	d, err := form(data)
	if err != nil {
		return nil, &MalformedError{What: "a value is not what it has to be", Err: err}
	}
	return d, checkDocument(d)
}

// formOf returns the function that reads documents of the command that data names.
func formOf(data []byte) (func([]byte) (Document, error), error) {
	var h struct{ Schema, Command *string }
	var otherData *json.UnmarshalTypeError // a list, or a schema that is no text
	switch err := json.Unmarshal(data, &h); {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return nil, malformed("it is text in UTF-16, as PowerShell's > may write it: write it with -o FILE")
	case err != nil && !errors.As(err, &otherData):
		return nil, &MalformedError{What: "it is no JSON document, or is cut short", Err: err}
	}
	switch {
	case h.Schema == nil || h.Command == nil:
		return nil, malformed("it is JSON, but has no schema and command: give what a command wrote as JSON, or kept as a record")
	case *h.Schema != Schema && strings.HasPrefix(*h.Schema, "chronoscope/"):
		return nil, malformed("its schema is %.40q, and this version reads %q: use the version that wrote it, or a later one", *h.Schema, Schema)
	case *h.Schema != Schema:
		return nil, malformed("its schema is %.40q, which is not of this program", *h.Schema)
	}
	form, known := forms[*h.Command]
	if !known {
		return nil, malformed("it is of the command %.40q, which this version does not know: use the version that wrote it, or a later one", *h.Command)
	}
	return form, nil
}

// CheckExtent refuses size, nesting and lists beyond those of any document, before memory is
// allocated for them: an element that takes 5 bytes of JSON may take 500 once it is decoded. The
// error is a [MalformedError].
func CheckExtent(data []byte) error {
	if len(data) > MostBytes {
		return malformed("it is larger than %d MiB, as no record is", MostBytes>>20)
	}
	type level struct {
		list     bool
		elements int
	}
	var open []level
	listed := 0 // elements of all lists
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = endOfString(data, i)
			continue
		case '[', '{':
			open = append(open, level{list: data[i] == '['})
			if len(open) > mostDepth {
				return malformed("it nests deeper than %d levels, as no record does", mostDepth)
			}
		case ']', '}':
			open = open[:max(0, len(open)-1)]
			continue
		case ',':
		default:
			continue
		}
		if len(open) == 0 {
			continue
		}
		innermost := &open[len(open)-1]
		innermost.elements++
		if innermost.list {
			listed++
		}
		if max(listed, innermost.elements) > mostElements {
			return malformed("it has lists of more than %d elements, as no record has", mostElements)
		}
	}
	return nil
}

// endOfString returns the index at which the string that starts at i ends.
func endOfString(data []byte, i int) int {
	for i++; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++ // skips the escaped character
		}
	}
	return i
}
