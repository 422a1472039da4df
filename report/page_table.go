package report

import "chronoscope/stats"

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
