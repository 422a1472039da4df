package env_test

import (
	"context"
	"fmt"
	"time"

	"chronoscope/env"
)

// The example times a piece of work with the best clock of this machine, on a thread that stays on
// its CPU while no garbage is collected.
func Example() {
	c, err := env.Open(context.Background(), 5*time.Millisecond, env.Clocks()...)
	if err != nil {
		fmt.Println(err) // says what is unavailable, and what would help
		return
	}
	defer c.Close()
	release, err := env.Hold()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer release()
	start := c.Start()
	time.Sleep(time.Millisecond)
	elapsedNs := c.Ns(c.End() - start)
	fmt.Println(elapsedNs >= 0.99e6)
	// Output: true
}
