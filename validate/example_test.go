package validate_test

import (
	"fmt"

	"chronoscope/validate"
)

// Coverage is how often a method's interval held the truth, where there is one.
func ExampleCoverageOf() {
	held, missed := true, false
	for _, c := range validate.CoverageOf([]validate.Outcome{
		{Scheme: "kbest", Load: 1, Covered: &held}, {Scheme: "kbest", Load: 1, Covered: &held}, {Scheme: "kbest", Load: 1, Covered: &missed},
	}) {
		fmt.Printf("%s at load %d: %d of %d\n", c.Scheme, c.Load, c.Covered, c.Cells)
	}
	// Output: kbest at load 1: 2 of 3
}
