package clocktest_test

import (
	"fmt"

	"chronoscope/clock/clocktest"
)

// The clock changes every 100 ns, on a machine where a reading takes 30 ns. The whole simulation
// follows from the seed and takes no real time.
func ExampleClock() {
	m := clocktest.NewMachine(1)
	c := &clocktest.Clock{Machine: m, QuantumNs: 100, UnitNs: 1, Cost: clocktest.Constant(30)}
	start := c.Read()
	m.Run(1e6)
	fmt.Println(c.Read()-start, "ns by the clock, after", m.NowNs(), "ns")
	// Output: 1000000 ns by the clock, after 1.00006e+06 ns
}

// If one competitor wants the same CPU, work takes about twice as long.
func ExampleShare() {
	m := clocktest.NewMachine(1)
	clocktest.Share(m, clocktest.Sharing{Load: 2, SliceNs: 4e6})
	m.Run(100e6)
	fmt.Printf("%.1f s\n", m.NowNs()/1e9)
	// Output: 0.2 s
}
