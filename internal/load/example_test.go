package load_test

import (
	"fmt"

	"chronoscope/internal/load"
)

// ParseKind finds a kind of competitor by its name.
func ExampleParseKind() {
	_, err := load.ParseKind("sleep")
	fmt.Println(load.Kinds[0], err != nil)
	// Output: registers true
}
