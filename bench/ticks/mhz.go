package main

import (
	"context"
	"fmt"
	"time"

	"chronoscope/clock"
	"chronoscope/env"
	"chronoscope/stats"
)

// Rates are the rates of this processor's counter and of its core.
type Rates struct {
	Counter string // its name
	// CounterHz is the rate of the counter, which is fixed on any processor of the last fifteen years. CoreHz
	// is that of the core while it is busy, right now, by a chain of instructions of known latency; it is NaN
	// if there is none. It changes with load and heat.
	CounterHz, CoreHz stats.Estimate
}

// MHz measures both rates for the time d, which is the purpose of Figure 9.10 of Bryant 2003. Bryant counts cycles
// during a sleep and divides by the time that was asked for. A sleep lasts longer than asked (homework problem 9.12),
// so that here a clock tells the time that it took. And the counter is no longer the core's clock.
//
// It returns an error if there is no counter, or if ctx has ended.
func MHz(ctx context.Context, d time.Duration) (*Rates, error) {
	unlock, err := env.Thread()
	if err != nil {
		return nil, err
	}
	defer unlock()
	c, err := env.Open(ctx, d, clock.BareCounters()...)
	if err != nil {
		return nil, fmt.Errorf("the rate of the processor's counter: %w", err)
	}
	defer c.Close()
	rate := c.Rate
	r := &Rates{Counter: c.Name, CounterHz: rate.Hz}
	if r.CoreHz, err = clock.CoreRate(c.Clock, rate); err != nil {
		r.CoreHz = stats.NoEstimate("Hz", "")
	}
	return r, nil
}
