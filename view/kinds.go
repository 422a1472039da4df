package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"chronoscope/record"
)

// kind describes a kind of document: how it is shown, which of its fields make a table, and which
// figures can be compared.
type kind struct {
	place   int // position on a page
	command string
	holds   func(record.Document) bool
	sheet   func(record.Document) *Sheet
	fields  func(record.Document) Fields   // nil if it has no table
	figures func(record.Document) []Figure // nil if it can't be compared
}

// kinds are all registered kinds; each kind's file registers it.
var kinds []kind

// register adds a kind: its place on a page among other documents, its command (empty for the
// report card), and functions that return its sheet, the fields of its table and the figures that
// are compared. fields and figures may be nil.
func register[D record.Document](place int, command string, sheet func(D) *Sheet, fields func(D) Fields, figures func(D) []Figure) struct{} {
	k := kind{
		place: place, command: command,
		holds: func(d record.Document) bool { _, ok := d.(D); return ok },
		sheet: func(d record.Document) *Sheet { return sheet(d.(D)) },
	}
	if fields != nil {
		k.fields = func(document record.Document) Fields { return fields(document.(D)) }
	}
	if figures != nil {
		k.figures = func(d record.Document) []Figure { return figures(d.(D)) }
	}
	kinds = append(kinds, k)
	return struct{}{}
}

func kindOfDocument(d record.Document) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.holds(d) })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

// Of returns the sheet that shows a document of package record. The document's texts are passed
// through [Shown].
func Of(d record.Document) (*Sheet, error) {
	if k, known := kindOfDocument(d); known {
		return k.sheet(Shown(d)), nil
	}
	return nil, fmt.Errorf("there is no view of a document of type %T: give one of package record", d)
}

// Fields is a document's data as a table: a row for each element of a list, a column for each of
// its fields. Columns are the fields' paths in JSON, with dots between the parts.
type Fields struct {
	Columns []string
	Element any   // an empty element
	Rows    []any // elements, each with the fields of all columns
}

// fieldsOf returns the fields of a list of elements; columns is separated by blanks.
func fieldsOf[E any](elements []E, columns string) Fields {
	var empty E
	f := Fields{Columns: strings.Fields(columns), Element: empty}
	for _, e := range elements {
		f.Rows = append(f.Rows, e)
	}
	return f
}

// listing returns a function that makes a table of a list in a document, with a row for each
// element.
func listing[D record.Document, E any](of func(D) []E, columns string) func(D) Fields {
	return func(d D) Fields { return fieldsOf(of(d), columns) }
}

// Tabular reports whether [FieldsOf] works for documents of a command.
func Tabular(command string) bool {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.command == command })
	return i >= 0 && kinds[i].fields != nil
}

// FieldsOf returns the fields of a document's table.
func FieldsOf(d record.Document) (Fields, error) {
	if k, known := kindOfDocument(d); known && k.fields != nil {
		return k.fields(d), nil
	}
	return Fields{}, fmt.Errorf("a document of type %T is no table", d)
}

// InOrder returns the documents in the order in which a page shows them.
func InOrder(documents []record.Document) []record.Document {
	place := func(d record.Document) int {
		k, _ := kindOfDocument(d)
		return k.place
	}
	return slices.SortedStableFunc(slices.Values(documents), func(a, b record.Document) int { return cmp.Compare(place(a), place(b)) })
}
