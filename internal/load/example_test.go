package load_test

import (
	"fmt"

	"chronoscope/internal/load"
)

// Kinds of competitors are known by name.
func ExampleParseKind() {
	_, err := load.ParseKind("sleep")
	fmt.Println(load.Kinds[0], err != nil)
	// Output: registers true
}
