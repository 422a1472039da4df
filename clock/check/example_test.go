package check_test

import (
	"fmt"

	"chronoscope/clock/check"
)

// A clock must never step back. The second of these three readings is less than the first.
func ExampleOrder() {
	steps := check.Order([]int64{100, 97, 105})
	fmt.Printf("%d of %d readings stepped back, by %d at most\n", steps.Count, steps.Readings, steps.Worst)
	// Output: 1 of 2 readings stepped back, by 3 at most
}
