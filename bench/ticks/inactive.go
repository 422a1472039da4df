package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"chronoscope/activity"
	"chronoscope/clock"
)

// The length of a watch in time is only found by trying, since a watch is given in ticks whose length is
// unknown. The next watch is longer if this one took less than shortWatch, and shorter if it took more than
// longestWatch.
const shortWatch, longestWatch = 100 * time.Microsecond, time.Millisecond

// InactiveDuration reads the clock without pause until two successive readings differ by more than the
// threshold, and returns their difference in ticks: for that time the thread was inactive (Bryant 2003,
// homework 9.11). Lock the goroutine to its thread to tell the thread's inactivity from the Go scheduler's.
//
// The readings are taken in watches of up to a millisecond. A gap between two watches does not count, as it
// includes the return to Go code.
//
// It ends with the error of ctx, and after [activity.LongestDuration] at the latest. It refuses a threshold
// that the clock's own cost can reach.
func InactiveDuration(ctx context.Context, c *clock.Clock, thresholdTicks int64) (int64, error) {
	if least := activity.LeastThreshold(c); thresholdTicks < least {
		return 0, fmt.Errorf("a threshold of %d ticks: reading %s takes up to %d ticks itself: choose that or more", thresholdTicks, c.Name, least)
	}
	ctx, cancel := context.WithTimeout(ctx, activity.LongestDuration)
	defer cancel()
	gaps := make([]clock.Gap, 2) // one may be between two watches
	last, length := c.Read(), int64(1)
	for ctx.Err() == nil {
		begun := time.Now()
		n, now := c.Gaps(last, clock.Watch{Threshold: thresholdTicks, Long: math.MaxInt64, Until: last + length}, gaps)
		for _, g := range gaps[:n] {
			if g.Before != last {
				return g.Ticks(), nil
			}
		}
		last, length = now, nextWatch(length, time.Since(begun))
	}
	return 0, fmt.Errorf("no two readings of %s differed by more than %d ticks: %w", c.Name, thresholdTicks, ctx.Err())
}

// nextWatch returns how many ticks to watch next, given how long the last watch took.
func nextWatch(ticks int64, took time.Duration) int64 {
	switch {
	case took > longestWatch:
		return max(ticks/2, 1)
	case took < shortWatch && ticks < 1<<40:
		return 2 * ticks
	}
	return ticks
}
