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

// Rates are how fast this processor's counter and its core run.
type Rates struct {
	// Counter names the counter, Reference the clock that it was held against.
	Counter, Reference string
	// CounterHz is the rate of the counter, which is fixed on any processor of the
	// last fifteen years. CoreHz is that of the core while it is busy, right now, by a
	// chain of instructions of known latency; its bounds and value are NaN where there
	// is none. It changes with load and heat.
	CounterHz, CoreHz stats.Estimate
	// Claims are what the processor, the kernel and a hypervisor say of the counter.
	Claims []clock.CrossCheck
	// Caveats say what to keep in mind.
	Caveats []string
}

// MHz measures both rates over time d: what Figure 9.10 of Bryant 2003 is for. The
// source counts ticks over a sleep and divides by the time that it asked for. A sleep
// lasts longer than asked (homework problem 9.12), so that here the time that it took
// is read from a clock; and the counter is no longer the core's clock. root is the
// root of the file system, os.DirFS("/"), of which the claims are read.
//
// The error says that there is no counter, or that ctx has ended.
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
