package clock

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

const (
	bursts    = 32 // number of bursts, spread over the calibration with sleep between them
	burstSize = 48 // readings in a burst; the first few after a sleep are slow, so that only the tightest are used
)

// Calibrate measures the rate of a counter against a reference clock over time d, and sleeps for
// nearly all of it. If reference is nil, it is CLOCK_MONOTONIC_RAW, whose rate no daemon
// adjusts, or, where that is missing, CLOCK_MONOTONIC, which the result states in a caveat. If
// the kernel's clock source is the counter itself, the reference is the same counter times the
// rate that the kernel assumes: the calibration then finds the kernel's assumed rate, even if
// the oscillator's true rate differs.
//
// Calibrate returns an error if the context ends, if the counter does not follow the reference,
// if the reference is too coarse for d, or if either counts CPU time, which stands still while the calibration sleeps.
func Calibrate(ctx context.Context, counter, reference *Clock, d time.Duration) (Rate, error) {
	caveats := []string(nil)
	if reference == nil {
		var err error
		if reference, caveats, err = defaultReference(); err != nil {
			return Rate{}, fmt.Errorf("calibrating %s: %w", counter.Name, err)
		}
		defer reference.Close()
	}
	for _, c := range []*Clock{counter, reference} {
		if c.Kind == KindCPU {
			return Rate{}, fmt.Errorf("calibrating %s against %s: %s counts CPU time, which stands still while the calibration sleeps: take a clock of wall time", counter.Name, reference.Name, c.Name)
		}
	}
	sandwiches, err := sandwichesOver(ctx, counter, reference, d)
	if err != nil {
		return Rate{}, fmt.Errorf("calibrating %s: %w", counter.Name, err)
	}
	rate, err := FitRate(sandwiches, reference.UnitNs)
	if err != nil {
		return Rate{}, fmt.Errorf("calibrating %s against %s for %v: %w; try longer", counter.Name, reference.Name, d, err)
	}
	rate.Reference, rate.Caveats = reference.Name, caveats
	return rate, nil
}

// defaultReference opens the reference clock whose rate is least adjusted by others, and returns
// the caveats of using it.
func defaultReference() (*Clock, []string, error) {
	if c, err := Open("monotonic-raw"); err == nil {
		return c, nil, nil
	}
	c, err := Open("monotonic")
	if err != nil {
		return nil, nil, err
	}
	return c, []string{"monotonic-raw can't be read here; the rate is that against monotonic, which may be disciplined"}, nil
}

// sandwichesOver takes bursts of sandwiches over time d: the first at its start, the last at
// its end.
func sandwichesOver(ctx context.Context, counter, reference *Clock, d time.Duration) ([]Sandwich, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	taken := make([]Sandwich, 0, bursts*burstSize)
	start := time.Now()
	for i := range bursts {
		due := start.Add(d * time.Duration(i) / (bursts - 1))
		if Wait(ctx, time.Until(due)); ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for range burstSize {
			taken = append(taken, TakeSandwich(counter, reference))
		}
	}
	return taken, nil
}

// Wait waits for d, or until ctx ends, and returns how long it waited.
func Wait(ctx context.Context, d time.Duration) time.Duration {
	start := time.Now()
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	return time.Since(start)
}
