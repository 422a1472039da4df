package view_test

import (
	"fmt"
	"strings"
	"time"

	"chronoscope/record"
	"chronoscope/view"
)

// A sheet describes, as data, what is shown of a document.
func ExampleOf() {
	d, err := record.Import(strings.NewReader(`{"results": [{"command": "sleep 0.1", "times": [0.101, 0.102, 0.101, 0.103, 0.102, 0.101]}]}`), time.Now())
	if err != nil {
		fmt.Println(err)
		return
	}
	sheet, err := view.Of(d)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sheet.Title)
	for _, section := range sheet.Sections {
		fmt.Println("-", section.Title)
	}
	// Output:
	// sleep 0.1
	// - In words
	// - How long the programs take
}
