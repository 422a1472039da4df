package activity_test

import (
	"fmt"

	"chronoscope/activity"
)

// Practice problem 9.4 of Bryant 2003: 70 ms were recorded in one segment, with a tick every 10 ms.
// The example prints the bounds on the time that was used.
func ExampleTimeBounds() {
	above, below := activity.TimeBounds(7, 1, 10e6)
	fmt.Printf("more than %.0f ms, less than %.0f ms\n", above/1e6, below/1e6)
	// Output: more than 60 ms, less than 80 ms
}
