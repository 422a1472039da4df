package process

import "errors"

var errUnasked = errors.New("that was not asked for")

// Snapshot is what the kernel has counted of a process that runs, and of all its threads.
type Snapshot struct {
	UserNs, SystemNs                       int64
	VoluntarySwitches, InvoluntarySwitches int64
	MinorFaults, MajorFaults               int64
	MaxRSSBytes                            int64
	Threads                                []Thread
}

// Since returns the counts from an earlier look to this one as a run without a wall time. Threads that have
// ended in between are only in its CPU time.
func (s Snapshot) Since(before Snapshot) Run {
	r := Run{
		UserNs: s.UserNs - before.UserNs, SystemNs: s.SystemNs - before.SystemNs,
		VoluntarySwitches: s.VoluntarySwitches - before.VoluntarySwitches, InvoluntarySwitches: s.InvoluntarySwitches - before.InvoluntarySwitches,
		MinorFaults: s.MinorFaults - before.MinorFaults, MajorFaults: s.MajorFaults - before.MajorFaults,
		MaxRSSBytes: s.MaxRSSBytes, WaitOf: AllThreads, Untraced: errUnasked, Unwatched: errUnasked, Unnoted: errUnasked,
	}
	known := map[int]Thread{}
	for _, t := range before.Threads {
		known[t.ID] = t
	}
	for _, t := range s.Threads {
		was := known[t.ID]
		delete(known, t.ID)
		r.Threads = append(r.Threads, Thread{ID: t.ID, CPUNs: t.CPUNs - was.CPUNs, WaitNs: t.WaitNs - was.WaitNs})
	}
	if len(known) > 0 {
		r.WaitOf = FirstThread
	}
	return r
}
