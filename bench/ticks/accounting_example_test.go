package main

import (
	"fmt"
	"time"
)

// Two processes share a CPU, whose timer ticks every 10 ms. B runs for 8 ms out of
// 30 and is charged nothing, as it never runs when the timer ticks.
func ExampleCharge() {
	const ms = 1e6
	accounts, err := Charge([]Span{
		{Process: "A", StartNs: 0, EndNs: 11 * ms},
		{Process: "B", StartNs: 11 * ms, EndNs: 19 * ms},
		{Process: "A", System: true, StartNs: 19 * ms, EndNs: 21 * ms},
		{Process: "A", StartNs: 21 * ms, EndNs: 30 * ms},
	}, []float64{10 * ms, 20 * ms, 30 * ms}, 10*ms)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, process := range []string{"A", "B"} {
		a := accounts[process]
		above, below := a.Bounds()
		fmt.Printf("%s: charged %.0f ms user and %.0f ms system, used %.0f and %.0f; the ticks say more than %.0f and less than %.0f in all\n",
			process, a.Charged().UserNs/ms, a.Charged().SystemNs/ms, a.Used.UserNs/ms, a.Used.SystemNs/ms, above/ms, below/ms)
	}
	// Output:
	// A: charged 20 ms user and 10 ms system, used 20 and 2; the ticks say more than 10 and less than 50 in all
	// B: charged 0 ms user and 0 ms system, used 8 and 0; the ticks say more than 0 and less than 10 in all
}

// Homework 9.12 of Bryant 2003, part A. The process restarts with the 200th
// interrupt, of which the first may come at once or after 10 ms.
func ExampleSleepRange() {
	above, longest, err := SleepRange(2*time.Second, 10*time.Millisecond)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("more than %v, at most %v\n", above, longest)
	// Output: more than 1.99s, at most 2s
}

// Homework 9.12 of Bryant 2003, part B. A reading of 1000.0 MHz stands for 2,000
// million cycles, which passed in more than 1.99 s and at most 2.
func ExampleTrueRates() {
	slowest, fastest, err := TrueRates(1000.0, 2*time.Second, 10*time.Millisecond)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("at least %.3f MHz, below %.3f MHz\n", slowest, fastest)
	// Output: at least 1000.000 MHz, below 1005.025 MHz
}
