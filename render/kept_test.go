package render

import (
	"strings"
	"testing"
	"time"

	"chronoscope/machine"
	"chronoscope/record"
)

// The list names the subjects of each record in one line, whatever the names contain.
func TestKeptNamesSubjects(t *testing.T) {
	command, started, took, stopped := "run", time.Unix(0, 0), int64(1), false
	one := func(subjects ...string) record.KeptRecord {
		return record.KeptRecord{Name: "x.json", Command: &command, Started: &started, DurationNs: &took, Interrupted: &stopped, Subjects: subjects}
	}
	d := record.Kept{Header: record.Header{Machine: &machine.Machine{}}, Records: []record.KeptRecord{
		one("sleep 0.1", "true"), one("a", "b", "c", "d"), one(strings.Repeat("long ", 40)), one("es\x1b[2Jcape"), one(),
	}}
	var text, table strings.Builder
	showText(&text, d, Style{})
	for _, want := range []string{"run      sleep 0.1, true ", " a and 3 more ", "long long long long …ong long long long ", "es\uFFFD[2Jcape"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if err := CSV(&table, d); err != nil || !strings.Contains(table.String(), ",sleep 0.1; true\n") {
		t.Errorf("%v\n%s", err, table.String())
	}
}
