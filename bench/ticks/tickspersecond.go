package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"

	"chronoscope/activity"
	"chronoscope/clock"
	"chronoscope/stats"
)

// TicksPerSecond counts the clock ticks of times(2), its return value, during a sleep, and divides them by the
// time that passed (Bryant 2003, homework 9.10).
//
// Lo and Hi are what the count implies, whatever the distribution. Counting begins within one tick and ends
// within another, which leaves a doubt of one tick to either side. The kernel updates the count with its own
// timer, which may be as slow as one tick: this leaves a doubt of one more. The time lies between that from the
// end of the first call to the start of the last one, and that from the start of the first call to the end of
// the last one. So two seconds at 100 ticks a second give the rate within 1 %. The rate can be further off only
// if the kernel's timer is delayed, as an overcommitted host may do to a guest.
//
// If ctx ends the sleep, the estimate is of what was counted so far, and comes with the error of ctx.
func TicksPerSecond(ctx context.Context, sleep time.Duration) (stats.Estimate, error) {
	if sleep <= 0 || sleep > activity.LongestDuration {
		return stats.Estimate{}, fmt.Errorf("a sleep of %v: choose one above 0 and up to %v", sleep, activity.LongestDuration)
	}
	origin := time.Now()
	now := func() time.Duration { return time.Since(origin) }
	return ticksPerSecond(now, clockTicks, func() error { clock.Wait(ctx, sleep); return ctx.Err() })
}

// tickReading is a count of ticks that was taken between two moments.
type tickReading struct {
	before, after time.Duration
	ticks         int64
}

// ticksPerSecond counts ticks during the sleep.
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

// tickRate returns the rate that two readings bound.
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

// clockTicks returns the value of times(2): clock ticks since some moment before the system started.
func clockTicks() (int64, error) {
	var unused unix.Tms
	ticks, err := unix.Times(&unused)
	if err != nil {
		return 0, fmt.Errorf("clock ticks: times: %w: allow the system call", err)
	}
	return int64(ticks), nil
}
