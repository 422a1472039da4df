package render_test

import (
	"fmt"
	"os"
	"strings"
	"time"

	"chronoscope/record"
	"chronoscope/render"
)

// The example writes a document as a table for a README, in hyperfine's format.
func ExampleMarkdown() {
	d, err := record.Import(strings.NewReader(`{"results": [{"command": "sleep 0.1", "times": [0.101, 0.102, 0.101, 0.103, 0.102, 0.101]}]}`), time.Now())
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := render.Markdown(os.Stdout, d.(record.Programs)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// | Command | Mean [ms] | Min [ms] | Max [ms] | Relative | Alone [ms] | CPU [ms] | Waited [ms] | Verdict |
	// |:---|---:|---:|---:|---:|---:|---:|---:|:---|
	// | `sleep 0.1` | 101.7 ± 0.8 | 101.0 | 103.0 | 1.00 | ? | ? | ? | suspect |
}
