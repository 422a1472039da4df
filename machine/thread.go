package machine

import (
	"bytes"
	"errors"
)

// ErrUncounted says that the kernel does not count how long threads wait for a CPU. It writes zeros
// then, also for a thread that has run.
var ErrUncounted = errors.New("the kernel does not count how long threads wait for a CPU: sysctl kernel.task_delayacct=1 turns it on, and so does a kernel with CONFIG_SCHEDSTATS")

// Uncounted reports whether a schedstat file holds zeros only: the thread has not run yet, or the
// kernel does not count.
func Uncounted(schedstat []byte) bool { return string(bytes.TrimSpace(schedstat)) == "0 0 0" }

// ThreadUse holds the kernel's counters of one thread since it started. Only differences are
// meaningful.
type ThreadUse struct {
	// CPUNs is the time that the thread ran on a CPU, according to CLOCK_THREAD_CPUTIME_ID. On a
	// guest that knows of steal it does not include steal.
	CPUNs int64
	// WaitNs is the run-queue wait: the time in which the thread could have run and did not (the
	// second field of /proc/thread-self/schedstat, Documentation/scheduler/sched-stats.rst). It
	// includes the steal during the wait.
	WaitNs int64
	// VoluntarySwitches counts how often the thread gave up its CPU, by waiting or by being
	// stopped; InvoluntarySwitches counts how often it lost its CPU.
	VoluntarySwitches, InvoluntarySwitches int64
	// MinorFaults and MajorFaults are page faults without and with disk input.
	MinorFaults, MajorFaults int64
	// CPU is the CPU on which the thread runs.
	CPU int
}

// Since returns the counts since an earlier look. Its CPU is the present one.
func (u ThreadUse) Since(before ThreadUse) ThreadUse {
	u.CPUNs -= before.CPUNs
	u.WaitNs -= before.WaitNs
	u.VoluntarySwitches -= before.VoluntarySwitches
	u.InvoluntarySwitches -= before.InvoluntarySwitches
	u.MinorFaults -= before.MinorFaults
	u.MajorFaults -= before.MajorFaults
	return u
}
