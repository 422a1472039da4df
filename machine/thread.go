package machine

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
