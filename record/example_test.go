package record_test

import (
	"fmt"
	"strings"
	"time"

	"chronoscope/record"
)

// Import reads records of this program, and files of other tools.
func ExampleImport() {
	file := `{"results": [{"command": "sleep 0.1", "times": [0.101, 0.102, 0.101, 0.103, 0.102, 0.101]}]}`
	d, err := record.Import(strings.NewReader(file), time.Now())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range d.(record.Programs).Results {
		fmt.Println(p.Command, p.Wall)
	}
	// Output: sleep 0.1 101.5 ms (101.0 to 103.0 ms), median of 6
}
