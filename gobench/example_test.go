package gobench_test

import (
	"fmt"

	"chronoscope/gobench"
)

// A series that was never repeated has no usable result, and says why.
func ExampleConclude() {
	r := gobench.Conclude(&gobench.Series{Failure: &gobench.FailedError{Why: "exit status 2"}}, gobench.DefaultPlan, gobench.Setting{})
	fmt.Println(r.Verdict, len(r.Reasons) > 0)
	// Output: unusable true
}
