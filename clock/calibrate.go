package clock

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

const (
	bursts    = 32 // spread over the calibration, with sleep in between
	burstSize = 48 // the first few after a sleep are slow, the tightest are used
)

// Calibrate measures the rate of a counter against a reference clock, over
// time d. Nearly all of it is slept away. A nil reference is CLOCK_MONOTONIC_RAW,
// which nobody disciplines, and where that is missing CLOCK_MONOTONIC, with a
// caveat. With the counter as the kernel's clock source the reference is the
// same counter, scaled by what the kernel believes its rate to be: the
// calibration then finds the kernel's belief, whatever the oscillator does.
//
// It fails where the context ends, where the counter does not follow the
// reference, or where the reference is too coarse for the time.
func Calibrate(ctx context.Context, counter, reference *Clock, d time.Duration) (Rate, error) {
	caveats := []string(nil)
	if reference == nil {
		var err error
		if reference, caveats, err = defaultReference(); err != nil {
			return Rate{}, fmt.Errorf("calibrating %s: %w", counter.Name, err)
		}
		defer reference.Close()
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

// defaultReference is the reference that is best left alone by others.
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

// sandwichesOver takes bursts of sandwiches over time d, the first at its start
// and the last at its end.
func sandwichesOver(ctx context.Context, counter, reference *Clock, d time.Duration) ([]Sandwich, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	taken := make([]Sandwich, 0, bursts*burstSize)
	start := time.Now()
	for i := range bursts {
		due := start.Add(d * time.Duration(i) / (bursts - 1))
		if err := sleepUntil(ctx, due); err != nil {
			return nil, err
		}
		for range burstSize {
			taken = append(taken, TakeSandwich(counter, reference))
		}
	}
	return taken, nil
}

func sleepUntil(ctx context.Context, due time.Time) error {
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
