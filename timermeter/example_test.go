package timermeter_test

import (
	"context"
	"fmt"
	"time"

	"chronoscope/timermeter"
)

// Any function can be rated as a clock, such as one that counts whole milliseconds. Its readings
// alone show how often its value changes.
func ExampleMeasure() {
	started := time.Now()
	milliseconds := func() int64 { return time.Since(started).Milliseconds() }

	rating, err := timermeter.Measure(context.Background(), milliseconds, 1e6)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("its value changes every %.0f ms\n", rating.Accuracy.Value/1e6)
	// Output: its value changes every 1 ms
}
