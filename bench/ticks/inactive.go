package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"chronoscope/activity"
	"chronoscope/clock"
)

// A watch for one gap holds its thread for as long as it takes, so that its
// length in ticks, of unknown worth, is found by trying.
const shortWatch, longestWatch = 100 * time.Microsecond, time.Millisecond

// InactiveDuration reads the clock without pause until two readings in succession
// differ by more than the threshold, and returns by how much, in ticks: for so
// long the thread was inactive (Bryant 2003, homework 9.11). Lock the goroutine
// to its thread to tell the thread's inactivity from the Go scheduler's.
//
// The readings are taken in watches of up to a millisecond. What falls between
// two of them is passed over, as it holds the way through Go.
//
// It ends with the error of ctx, and after [activity.LongestDuration] at the latest. A
// threshold that the clock's own cost can reach is refused.
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

// nextWatch is how many ticks to watch next, given how long the watch before
// took.
func nextWatch(ticks int64, took time.Duration) int64 {
	switch {
	case took > longestWatch:
		return max(ticks/2, 1)
	case took < shortWatch && ticks < 1<<40:
		return 2 * ticks
	}
	return ticks
}
