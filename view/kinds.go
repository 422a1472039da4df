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
	command string
	holds   func(record.Document) bool
	sheet   func(record.Document) *Sheet
	fields  func(record.Document) Fields   // nil for what is no table
	figures func(record.Document) []Figure // nil for what can't be compared
}

// kinds are all of them, in the order in which a page shows them: the report card first,
// whose command has no name, and the details after it.
var kinds = []kind{
	kindOf("", card, nil, cardFigures),
	kindOf("clocks", clocks, clockFields, rankingFigures),
	kindOf("fidelity", fidelities, fidelityFields, trustFigures),
	kindOf("activity", activities, activityFields, activityFigures),
	kindOf("doctor", doctor, doctorFields, nil),
	kindOf("run", programs, programFields, programFigures),
	kindOf("bench", bench, benchFields, benchFigures),
	kindOf("slowclock", slowClock, slowClockFields, eventFigures),
	kindOf("bytecode", bytecodes, bytecodeFields, instructionFigures),
	kindOf("validate", validation, validationFields, methodFigures),
	kindOf("compare", comparison, comparisonFields, nil),
	kindOf("records", kept, keptFields, nil),
}

func kindOf[D record.Document](command string, sheet func(D) *Sheet, fields func(D) Fields, figures func(D) []Figure) kind {
	k := kind{
		command: command,
		holds:   func(d record.Document) bool { _, ok := d.(D); return ok },
		sheet:   func(d record.Document) *Sheet { return sheet(d.(D)) },
	}
	if fields != nil {
		k.fields = func(document record.Document) Fields { return fields(document.(D)) }
	}
	if figures != nil {
		k.figures = func(d record.Document) []Figure { return figures(d.(D)) }
	}
	return k
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

// Tabular reports whether documents of a command have [FieldsOf].
func Tabular(command string) bool {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.command == command })
	return i >= 0 && kinds[i].fields != nil
}

// FieldsOf are those of a document.
func FieldsOf(d record.Document) (Fields, error) {
	if k, known := kindOfDocument(d); known && k.fields != nil {
		return k.fields(d), nil
	}
	return Fields{}, fmt.Errorf("a document of type %T is no table", d)
}

// InOrder sorts documents as a page shows them.
func InOrder(documents []record.Document) []record.Document {
	place := func(d record.Document) int {
		return slices.IndexFunc(kinds, func(k kind) bool { return k.command == d.Head().Command })
	}
	return slices.SortedStableFunc(slices.Values(documents), func(a, b record.Document) int { return cmp.Compare(place(a), place(b)) })
}
