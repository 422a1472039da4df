package clock_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"chronoscope/clock"
)

// A calibration tells how many nanoseconds a number of the counter's ticks is.
func ExampleCalibrate() {
	var c *clock.Clock
	for _, name := range []string{"tsc", "cntvct"} { // amd64, arm64
		opened, err := clock.Open(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err) // says why not, and what would help
			continue
		}
		defer opened.Close()
		c = opened
		break
	}
	if c == nil {
		return
	}
	rate, err := clock.Calibrate(context.Background(), c, nil, 20*time.Millisecond)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	start := c.Start()
	clock.Spin(1000)
	elapsed := c.End() - start
	fmt.Fprintf(os.Stderr, "%d ticks are %d ns, within %.2g ppm\n", elapsed, rate.Ns(elapsed), rate.PPM())
	// Output:
}

// The length of a tick of the kernel's clocks is known.
func ExampleOpen() {
	c, err := clock.Open("monotonic")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer c.Close()
	start := c.Start()
	clock.Spin(1000)
	fmt.Fprintln(os.Stderr, float64(c.End()-start)*c.UnitNs, "ns")
	// Output:
}
