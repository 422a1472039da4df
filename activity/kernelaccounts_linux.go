package activity

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// readProcess reads what the kernel has charged to the thread and its process.
func (a *Accounts) readProcess() {
	if thread, err := usage(unix.RUSAGE_THREAD); err == nil {
		a.Thread = &thread
	} else {
		a.lack("the accounts of the thread: %v", err)
	}
	if process, err := usage(unix.RUSAGE_SELF); err == nil {
		a.Process = &process
	} else {
		a.lack("the accounts of the process: %v", err)
	}
	var t unix.Tms
	if _, err := unix.Times(&t); err != nil {
		a.lack("the accounts of the process in ticks: times: %v: allow the system call", err)
		return
	}
	a.Times = &CPUTime{UserNs: float64(t.Utime) * userTickNs, SystemNs: float64(t.Stime) * userTickNs}
}

// usage returns the CPU time that getrusage(2) reports.
func usage(who int) (CPUTime, error) {
	var u unix.Rusage
	if err := unix.Getrusage(who, &u); err != nil {
		return CPUTime{}, fmt.Errorf("getrusage: %w: allow the system call", err)
	}
	return CPUTime{UserNs: float64(u.Utime.Nano()), SystemNs: float64(u.Stime.Nano())}, nil
}

// threadNumber returns the number of the calling thread.
func threadNumber() int { return unix.Gettid() }
