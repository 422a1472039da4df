//go:build !linux

package main

import (
	"chronoscope/activity"
	"chronoscope/clock"
)

// clockTicks returns an error: a Go program can't read clock ticks on this system.
func clockTicks() (int64, error) {
	return 0, &clock.Unavailable{
		Name: "times", Reason: clock.OtherSystem,
		Detail: "times(2) is read on Linux only",
		Remedy: "use a wall clock",
	}
}

// usageOfThread returns an error: a Go program can't read the thread's CPU time on this system.
func usageOfThread() (activity.CPUTime, error) {
	_, err := clockTicks()
	return activity.CPUTime{}, err
}
