package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"chronoscope/record"
)

// Kept lists records for people, the oldest first.
func Kept(w io.Writer, d record.Kept, s Style) {
	if len(d.Records) == 0 {
		fmt.Fprintf(w, "No records are kept in %s: give --save to a command that measures.\n", d.Folder)
		return
	}
	out := newTable(w, 4)
	out.AppendHeader(table.Row{"started", "command", "of", "took", "machine", "record"})
	for _, r := range d.Records {
		if r.Error != nil {
			out.AppendRow(table.Row{"?", "?", "", "?", "can't be read", printable(r.Name)})
			continue
		}
		took := duration(float64(*r.DurationNs))
		if *r.Interrupted {
			took += ", interrupted"
		}
		out.AppendRow(table.Row{
			r.Started.Local().Format(time.DateTime), commandName(*r.Command), subjectsOf(r), took, printable(or(word(r.CPU), "unknown CPU")), strings.TrimSuffix(printable(r.Name), ".json"),
		})
	}
	out.Render()
	for _, r := range d.Records {
		if r.Error != nil {
			fmt.Fprintf(w, "\n%s %s\n", s.bold(printable(r.Name)+":"), printable(*r.Error))
		}
	}
	fmt.Fprintf(w, "\n%s\n", s.dim("in "+d.Folder))
}

// mostSubject is how many letters of what a record is of are shown.
const mostSubject = 40

// subjectsOf names what a record is of, as far as there is room.
func subjectsOf(r record.KeptRecord) string {
	if n := len(r.Subjects); n > mostSubjects {
		return fmt.Sprintf("%s and %d more", shortened(printable(r.Subjects[0]), mostSubject), n-1)
	}
	return shortened(printable(strings.Join(r.Subjects, ", ")), mostSubject)
}

// mostSubjects of a record are named one by one.
const mostSubjects = 3

// commandName is what a command is called in a table: the report card's has no name.
func commandName(command string) string { return or(printable(command), "report card") }

// KeptCSV writes one row a record; columns are named as the JSON fields.
func KeptCSV(w io.Writer, d record.Kept) error {
	out := csv.NewWriter(w)
	out.Write([]string{"name", "command", "started", "duration_ns", "interrupted", "cpu", "error", "subjects"})
	for _, r := range d.Records {
		row := []string{r.Name, word(r.Command), "", whole(r.DurationNs), "", word(r.CPU), word(r.Error), strings.Join(r.Subjects, "; ")}
		if r.Started != nil {
			row[2] = r.Started.Format(time.RFC3339Nano)
		}
		if r.Interrupted != nil {
			row[4] = strconv.FormatBool(*r.Interrupted)
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}
