package main

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"time"

	"chronoscope/clock"
	"chronoscope/env"
	"chronoscope/stats"
)

// Rates are the rates of this processor's counter and of its core.
type Rates struct {
	// Counter names the counter, Reference the clock that it was compared with.
	Counter, Reference string
	// CounterHz is the rate of the counter, which is fixed on any processor of the last fifteen years. CoreHz
	// is that of the core while it is busy, right now, by a chain of instructions of known latency; it is NaN
	// if there is none. It changes with load and heat.
	CounterHz, CoreHz stats.Estimate
	// Claims are what the processor, the kernel and a hypervisor say about the counter's rate.
	Claims []clock.CrossCheck
	// Caveats say what to keep in mind.
	Caveats []string
}

// MHz measures both rates for the time d, which is the purpose of Figure 9.10 of Bryant 2003. Bryant counts cycles
// during a sleep and divides by the time that was asked for. A sleep lasts longer than asked (homework problem 9.12),
// so that here a clock tells the time that it took. And the counter is no longer the core's clock. MHz reads what the
// processor, the kernel and a hypervisor say about the rate (Rates.Claims) from files below root, os.DirFS("/").
//
// It returns an error if there is no counter, or if ctx has ended.
func MHz(ctx context.Context, root fs.FS, d time.Duration) (*Rates, error) {
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
	r := &Rates{Counter: c.Name, Reference: rate.Reference, CounterHz: rate.Hz, Claims: clock.CrossChecks(root, rate), Caveats: rate.Caveats}
	if r.CoreHz, err = clock.CoreRate(c.Clock, rate); err != nil {
		r.CoreHz = stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), Unit: "Hz"}
		r.Caveats = append(r.Caveats, fmt.Sprintf("the rate of the core: %v", err))
	}
	return r, nil
}
