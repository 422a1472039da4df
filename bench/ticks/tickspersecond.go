package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"chronoscope/activity"
	"chronoscope/stats"
)

// TicksPerSecond counts the clock ticks of times(2), its return value, during a
// sleep, and divides them by the time that passed (Bryant 2003, homework 9.10).
//
// Lo and Hi are what the count implies, whatever the distribution. A tick has
// begun when the counting does, and another when it ends: that leaves one of doubt
// to either side. The kernel brings the count up to date with its own timer, which
// may be as slow as one tick, and so leaves another. The time lies between that
// from the first call's end to the last one's start and that from the first one's
// start to the last one's end. Two seconds at 100 ticks a second thus give the rate
// within 1 %. Only a kernel whose timer is held up, as an overcommitted host may do
// to a guest, can be further off.
//
// Where ctx ends the sleep, the estimate is of what was counted so far, and comes
// with the error of ctx. Elsewhere than on Linux the error is a
// *clock.Unavailable.
func TicksPerSecond(ctx context.Context, sleep time.Duration) (stats.Estimate, error) {
	if sleep <= 0 || sleep > activity.LongestDuration {
		return stats.Estimate{}, fmt.Errorf("a sleep of %v: choose one above 0 and up to %v", sleep, activity.LongestDuration)
	}
	origin := time.Now()
	now := func() time.Duration { return time.Since(origin) }
	return ticksPerSecond(now, clockTicks, func() error { return pause(ctx, sleep) })
}

// tickReading is a count of ticks, taken between two moments.
type tickReading struct {
	before, after time.Duration
	ticks         int64
}

// ticksPerSecond counts during the sleep.
func ticksPerSecond(now func() time.Duration, count func() (int64, error), sleep func() error) (stats.Estimate, error) {
	first, err := readTicks(now, count)
	if err != nil {
		return stats.Estimate{}, err
	}
	slept := sleep()
	last, err := readTicks(now, count)
	if err != nil {
		return stats.Estimate{}, err
	}
	e := tickRate(first, last)
	if math.IsNaN(e.Value) {
		return e, errors.Join(slept, errors.New("the clock did not move during the sleep: sleep longer"))
	}
	return e, slept
}

func readTicks(now func() time.Duration, count func() (int64, error)) (r tickReading, err error) {
	r.before = now()
	r.ticks, err = count()
	r.after = now()
	return r, err
}

// tickRate is the rate that two readings bound.
func tickRate(first, last tickReading) stats.Estimate {
	const doubt = 2
	n := last.ticks - first.ticks
	shortest, longest := (last.before - first.after).Seconds(), (last.after - first.before).Seconds()
	e := stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), Unit: "Hz", Statistic: "count", N: int(n)}
	if shortest > 0 && n >= 0 {
		e.Value = float64(n) / ((shortest + longest) / 2)
		e.Lo, e.Hi = math.Max(0, float64(n-doubt))/longest, float64(n+doubt)/shortest
	}
	return e
}

// pause sleeps, or returns early with the error of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
