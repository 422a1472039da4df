package main

import (
	"fmt"
	"math"
	"time"
)

// SleepRange returns how long a sleep of the given time may last: more than above, and at most longest. The system
// counts timer interrupts, an interval apart, and wakes the sleeper when the count is large enough. The call comes anywhere between two interrupts, and the rest of its own interval counts as a
// whole one (Bryant 2003, homework 9.12 A). A time that is no whole number of intervals is rounded up to one.
func SleepRange(sleep, interval time.Duration) (above, longest time.Duration, err error) {
	if sleep <= 0 || interval <= 0 {
		return 0, 0, fmt.Errorf("a sleep of %v at an interval of %v: both have to be above zero", sleep, interval)
	}
	ticks := (sleep-1)/interval + 1
	if ticks > math.MaxInt64/interval {
		return 0, 0, fmt.Errorf("a sleep of %v at an interval of %v is longer than a duration can be: choose a shorter one", sleep, interval)
	}
	return (ticks - 1) * interval, ticks * interval, nil
}

// TrueRates returns the range of true rates that a reading of Bryant's mhz may stand for: at least slowest, and
// below fastest, in the unit of the reading. His program counts cycles during a sleep, as in [SleepRange], and
// divides them by the time asked for (Bryant 2003, Figure 9.10 and homework 9.12 B). If the sleep is a single
// interval, nothing bounds the rate from above, and fastest is +Inf.
func TrueRates(reading float64, sleep, interval time.Duration) (slowest, fastest float64, err error) {
	if !(reading > 0) || math.IsInf(reading, 0) {
		return 0, 0, fmt.Errorf("a clock rate of %v: it has to be above zero and finite", reading)
	}
	above, longest, err := SleepRange(sleep, interval)
	if err != nil {
		return 0, 0, err
	}
	cycles := reading * float64(sleep)
	return cycles / float64(longest), cycles / float64(above), nil
}
