package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"chronoscope/record"
)

// kind is a kind of document: how it is shown, and which of its fields make a table for other
// programs.
type kind struct {
	place   int // on a page
	command string
	holds   func(record.Document) bool
	sheet   func(record.Document) *Sheet
	fields  func(record.Document) Fields   // nil for what is no table
	figures func(record.Document) []Figure // nil for what can't be compared
}

// kinds are all of them; the file of each registers it.
var kinds []kind

// register adds a kind: its place on a page among other documents, its command (that of the
// report card has no name), its sheet, the fields that make a table and the figures that are
// compared; nil where it has none.
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

// Of is the sheet that shows a document of package record. Texts of the document are shown as
// [Harmless] and [OneLine] have them.
func Of(d record.Document) (*Sheet, error) {
	if k, known := kindOfDocument(d); known {
		return k.sheet(Shown(d)), nil
	}
	return nil, fmt.Errorf("there is no view of a document of type %T: give one of package record", d)
}

// Fields are the fields of a document's elements that make a table: their paths in JSON, with
// dots between the parts.
type Fields struct {
	Columns []string
	Element any   // an empty one
	Rows    []any // each with the fields of all columns
}

// fieldsOf are the elements of a list, with columns that blanks set apart.
func fieldsOf[E any](elements []E, columns string) Fields {
	var empty E
	f := Fields{Columns: strings.Fields(columns), Element: empty}
	for _, e := range elements {
		f.Rows = append(f.Rows, e)
	}
	return f
}

// listing is the table of a list in a document, a row for each element.
func listing[D record.Document, E any](of func(D) []E, columns string) func(D) Fields {
	return func(d D) Fields { return fieldsOf(of(d), columns) }
}

// Tabular reports whether documents of a command have [FieldsOf].
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

// InOrder sorts documents as a page shows them.
func InOrder(documents []record.Document) []record.Document {
	place := func(d record.Document) int {
		k, _ := kindOfDocument(d)
		return k.place
	}
	return slices.SortedStableFunc(slices.Values(documents), func(a, b record.Document) int { return cmp.Compare(place(a), place(b)) })
}
