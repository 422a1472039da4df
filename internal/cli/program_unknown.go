package cli

import (
	"slices"

	"chronoscope/record"
)

// unknownOfRuns are fields of a run that may be null, and why.
var unknownOfRuns = []struct {
	is  func(record.ProgramRun) bool
	why string
}{
	{func(r record.ProgramRun) bool { return r.RunqueueWaitNs == nil }, "runqueue_wait_ns is null where the system does not tell how long threads waited for a CPU"},
	{func(r record.ProgramRun) bool { return r.BlockedNs == nil }, "blocked_ns is null where the system does not tell when threads gave up their CPU"},
	{func(r record.ProgramRun) bool { return r.StealNs == nil }, "steal_ns is null of runs during which the system's account was not looked at: it is, every few milliseconds"},
	{func(r record.ProgramRun) bool { return r.ThrottledNs == nil }, "throttled_ns is null of runs during which the control groups were not looked at (every few milliseconds), or where they only tell that they were throttled"},
	{func(r record.ProgramRun) bool { return r.InterruptsNs == nil }, "interrupts_ns is null where what interrupts the CPUs is not known"},
	{func(r record.ProgramRun) bool { return r.MaxRSSBytes == nil }, "max_rss_bytes is null of runs that were not traced: it would hold the memory of this command, too"},
	{func(r record.ProgramRun) bool { return r.CoreHz == nil }, "core_hz is null where the core's rate can't be measured"},
	{func(r record.ProgramRun) bool { return r.LowNs == nil || r.HighNs == nil }, "low_ns and high_ns are null where too little is known of a run to bound its time"},
}

// unknowns are the caveats on what is null in the runs of a document.
func unknowns(d record.Programs) (caveats []string) {
	results := slices.Clone(d.Results)
	if d.Shell != nil {
		results = append(results, *d.Shell)
	}
	for _, field := range unknownOfRuns {
		for _, p := range results {
			if slices.ContainsFunc(p.Runs, field.is) {
				caveats = append(caveats, field.why)
				break
			}
		}
	}
	return caveats
}
