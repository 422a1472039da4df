package compare_test

import (
	"fmt"
	"strings"
	"time"

	"chronoscope/compare"
	"chronoscope/record"
)

// Two documents are compared: a figure that both have makes a row.
func ExampleSubjects() {
	timed := func(name, times string) compare.Subject {
		d, err := record.Import(strings.NewReader(`{"results": [{"command": "work", "times": [`+times+`]}]}`), time.Now())
		if err != nil {
			panic(err)
		}
		return compare.Subject{Name: name, Document: d}
	}
	d, err := compare.Subjects(record.Header{}, []compare.Subject{
		timed("before", "0.101, 0.102, 0.101, 0.103, 0.102, 0.101"), timed("after", "0.051, 0.052, 0.051, 0.053, 0.052, 0.051"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range d.Rows {
		fmt.Printf("%s of %s: %s, %.2f times\n", row.Quantity, row.Name, row.Outcome, row.Change.Value)
	}
	// Output: wall time of work: faster, 0.51 times
}
