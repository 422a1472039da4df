package validate_test

import (
	"fmt"

	"chronoscope/validate"
)

// Coverage counts how often a method's interval contained the truth, over the cells whose truth is
// known.
func ExampleCoverageOf() {
	held, missed := true, false
	alone, bursty := validate.Regime{Load: 1, Neighbours: validate.NoNeighbours}, validate.Regime{Load: 4, Neighbours: validate.Bursty}
	for _, c := range validate.CoverageOf([]validate.Outcome{
		{Scheme: "kbest", Regime: alone, Covered: &held}, {Scheme: "kbest", Regime: alone, Covered: &held}, {Scheme: "kbest", Regime: bursty, Covered: &missed},
	}) {
		fmt.Printf("%s, neighbours %s: %d of %d\n", c.Scheme, c.Regime, c.Covered, c.Cells)
	}
	// Output:
	// kbest, neighbours none: 2 of 2
	// kbest, neighbours bursty 4: 0 of 1
}
