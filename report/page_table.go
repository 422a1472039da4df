package report

import (
	"unicode/utf8"

	"chronoscope/stats"
)

// dataTable holds what a figure shows, or stands for itself.
type dataTable struct {
	Columns []dataColumn
	Rows    [][]dataCell
}

type dataColumn struct {
	Name   string
	Number bool // set flush right
}

type dataCell struct {
	Text    string
	Number  bool
	Verdict stats.Verdict // that the cell gives
}

// longText is how many letters are a text to read rather than a name.
const longText = 30

// Class is how the cell is set: numbers flush right, and texts to read in lines of some
// words, however narrow the screen.
func (c dataCell) Class() string {
	switch {
	case c.Number:
		return "number"
	case utf8.RuneCountInString(c.Text) > longText:
		return "long"
	}
	return ""
}

// words and figuresOf are columns of text and of numbers.
func words(names ...string) []dataColumn     { return columnsOf(false, names) }
func figuresOf(names ...string) []dataColumn { return columnsOf(true, names) }

func columnsOf(number bool, names []string) []dataColumn {
	var all []dataColumn
	for _, name := range names {
		all = append(all, dataColumn{name, number})
	}
	return all
}

// tableOf is a table with columns of several kinds.
func tableOf(columns ...[]dataColumn) *dataTable {
	t := &dataTable{}
	for _, group := range columns {
		t.Columns = append(t.Columns, group...)
	}
	return t
}

// row adds a row: texts, and verdicts as what they are.
func (t *dataTable) row(values ...any) {
	var row []dataCell
	for i, v := range values {
		cell := dataCell{Number: t.Columns[i].Number}
		switch v := v.(type) {
		case stats.Verdict:
			cell.Verdict = v
		case string:
			cell.Text = v
		}
		row = append(row, cell)
	}
	t.Rows = append(t.Rows, row)
}
