//go:build !linux

package main

import (
	"chronoscope/activity"
	"chronoscope/clock"
)

// clockTicks says that this system does not count them for a Go program.
func clockTicks() (int64, error) {
	return 0, &clock.Unavailable{
		Name: "times", Reason: clock.OtherSystem,
		Detail: "times(2) is read on Linux only",
		Remedy: "use a wall clock",
	}
}

// usageOfThread says that this system does not count it for a Go program.
func usageOfThread() (activity.CPUTime, error) {
	_, err := clockTicks()
	return activity.CPUTime{}, err
}
