package main

import (
	"fmt"

	"golang.org/x/sys/unix"

	"chronoscope/activity"
)

// clockTicks returns the value of times(2): clock ticks since some moment before the system started.
func clockTicks() (int64, error) {
	var unused unix.Tms
	ticks, err := unix.Times(&unused)
	if err != nil {
		return 0, fmt.Errorf("clock ticks: times: %w: allow the system call", err)
	}
	return int64(ticks), nil
}

// usageOfThread returns the CPU time of the calling thread by getrusage(2).
func usageOfThread() (activity.CPUTime, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		return activity.CPUTime{}, fmt.Errorf("getrusage: %w: allow the system call", err)
	}
	return activity.CPUTime{UserNs: float64(u.Utime.Nano()), SystemNs: float64(u.Stime.Nano())}, nil
}
