package machine

// ThreadUse has the kernel's counters of one thread since it started. Only differences mean
// something.
type ThreadUse struct {
	// CPUNs is the time that the thread ran on a CPU, as CLOCK_THREAD_CPUTIME_ID
	// has it: on a guest that knows of steal it holds none.
	CPUNs int64
	// WaitNs is the run-queue wait: time that the thread could have run and did
	// not (the second field of /proc/thread-self/schedstat,
	// Documentation/scheduler/sched-stats.rst). It holds the steal that fell into
	// it.
	WaitNs int64
	// VoluntarySwitches are the times that it gave up its CPU, by waiting or by
	// being stopped; InvoluntarySwitches those that it lost it.
	VoluntarySwitches, InvoluntarySwitches int64
	// MinorFaults and MajorFaults are page faults without and with input.
	MinorFaults, MajorFaults int64
	// CPU is where it runs.
	CPU int
}

// Since returns the counts since an earlier look. CPU is the present one.
func (u ThreadUse) Since(before ThreadUse) ThreadUse {
	u.CPUNs -= before.CPUNs
	u.WaitNs -= before.WaitNs
	u.VoluntarySwitches -= before.VoluntarySwitches
	u.InvoluntarySwitches -= before.InvoluntarySwitches
	u.MinorFaults -= before.MinorFaults
	u.MajorFaults -= before.MajorFaults
	return u
}
