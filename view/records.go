package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"chronoscope/record"
)

var _ = register(110, "records", kept,
	listing(func(d record.Kept) []record.KeptRecord { return d.Records }, "name command started duration_ns interrupted cpu error subjects"), nil)

// kept lists the records of an archive, the oldest first.
func kept(d record.Kept) *Sheet {
	s := sheet("Records", d.Header)
	s.WithoutHead, s.Caveats = true, nil
	if len(d.Records) == 0 {
		s.add(Section{Lines: []Line{say("No records are kept in %s: let a command that measures save its result.", d.Folder)}})
		return s
	}
	t := table(words("started", "command", "of"), numbers("took"), words("machine", "record"))
	var broken []Line
	for _, r := range d.Records {
		if r.Error != nil {
			t.row("?", "?", "", "?", "can't be read", r.Name)
			broken = append(broken, Line{Strong: r.Name + ":", Text: *r.Error})
			continue
		}
		took := duration(float64(*r.DurationNs))
		if *r.Interrupted {
			took += ", interrupted"
		}
		t.row(r.Started.Local().Format(time.DateTime), commandName(*r.Command), subjects(r), took, cmp.Or(word(r.CPU), "unknown CPU"), strings.TrimSuffix(r.Name, ".json"))
	}
	s.add(Section{Title: "What was kept", Table: t, Notes: broken}, Section{Lines: []Line{say("in %s", d.Folder)}})
	return s
}

// mostSubject is how many letters of a subject are shown, and mostSubjects how many subjects of a
// record are named one by one.
const mostSubject, mostSubjects = 40, 3

// subjects names the subjects of a record, as far as there is room.
func subjects(r record.KeptRecord) string {
	if n := len(r.Subjects); n > mostSubjects {
		return fmt.Sprintf("%s and %d more", Shortened(r.Subjects[0], mostSubject), n-1)
	}
	return Shortened(strings.Join(r.Subjects, ", "), mostSubject)
}

// commandName returns the name of a command for a table. The report card's command has an empty
// name.
func commandName(command string) string { return cmp.Or(command, "report card") }
