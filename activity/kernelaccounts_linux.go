package activity

import (
	"golang.org/x/sys/unix"

	"chronoscope/stats"
)

// readProcess reads what the kernel has charged to the thread and its process, in both modes together.
func (a *Accounts) readProcess() {
	a.ThreadNs = a.usage("thread", unix.RUSAGE_THREAD)
	a.ProcessNs = a.usage("process", unix.RUSAGE_SELF)
	var t unix.Tms
	if _, err := unix.Times(&t); err != nil {
		a.lack("the accounts of the process in ticks: times: %v: allow the system call", err)
		return
	}
	a.TimesNs = stats.FloatOf(float64(t.Utime+t.Stime) * userTickNs)
}

// usage returns the CPU time that getrusage(2) reports.
func (a *Accounts) usage(of string, who int) stats.Float {
	var u unix.Rusage
	if err := unix.Getrusage(who, &u); err != nil {
		a.lack("the accounts of the %s: getrusage: %v: allow the system call", of, err)
		return stats.Float{}
	}
	return stats.FloatOf(float64(u.Utime.Nano() + u.Stime.Nano()))
}

// threadNumber returns the number of the calling thread.
func threadNumber() int { return unix.Gettid() }
