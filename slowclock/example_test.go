package slowclock_test

import (
	"context"
	"fmt"
	"time"

	"chronoscope/clock"
	"chronoscope/clock/clocktest"
	"chronoscope/slowclock"
)

// An event of 10 µs is timed with a clock that ticks once a millisecond. Clock and machine are
// simulated here; for a real clock, call [slowclock.FindTick].
func ExampleLab_Bernoulli() {
	m := clocktest.NewMachine(1)
	simulated := &clocktest.Clock{Machine: m, QuantumNs: 1e6, UnitNs: 1e6, Cost: clocktest.Constant(20)}
	slow, err := slowclock.NewClock(clock.New(clock.Clock{Name: "slow", UnitNs: 1e6}, simulated.Read), 1e6)
	if err != nil {
		fmt.Println(err)
		return
	}
	lab := slowclock.Lab{Clock: slow, Event: func() { m.Run(10_000) }, Dither: true, Seed: 1, Delay: m.Run}
	results, err := lab.Bernoulli(context.Background(), slowclock.Plan{Duration: 500 * time.Millisecond})
	discrete := results[1]
	fmt.Println(discrete.Estimate.Covers(10_000), discrete.Verdict, err)
	// Output: true trusted <nil>
}

// The plan says how many trials give the event's duration with one and with two significant digits:
// by the source's equation (3), 1.96² p (1-p) / ε², where the event takes p = 0.01 of a tick.
func ExampleMakePlan() {
	for _, row := range slowclock.MakePlan(10_000, 1e6, 2, slowclock.Costs{}) {
		fmt.Printf("± %.0f ns: %.0f trials\n", row.EpsilonNs, row.Trials.Value())
	}
	// Output:
	// ± 10000 ns: 380 trials
	// ± 1000 ns: 38032 trials
}
