package cli

import (
	"slices"

	"chronoscope/program"
	"chronoscope/record"
)

// unknownOfRuns holds the fields of a run that may be null, and why.
var unknownOfRuns = []struct {
	is  func(program.RunReport) bool
	why string
}{
	{func(r program.RunReport) bool { return !r.RunqueueWaitNs.Known() }, "runqueue_wait_ns is null where the system does not tell how long threads waited for a CPU"},
	{func(r program.RunReport) bool { return !r.BlockedNs.Known() }, "blocked_ns is null where the system does not tell when threads gave up their CPU"},
	{func(r program.RunReport) bool { return !r.StealNs.Known() }, "steal_ns is null of runs during which the system's account was not looked at: it is, every few milliseconds"},
	{func(r program.RunReport) bool { return !r.ThrottledNs.Known() }, "throttled_ns is null of runs during which the control groups were not looked at (every few milliseconds), or where they only tell that they were throttled, or /proc does not tell which they are"},
	{func(r program.RunReport) bool { return !r.InterruptsNs.Known() }, "interrupts_ns is null where what interrupts the CPUs is not known"},
	{func(r program.RunReport) bool { return r.MinorFaults == nil }, "voluntary_switches, involuntary_switches, minor_faults and major_faults are null where the system counts none of them, as in gVisor"},
	{func(r program.RunReport) bool { return r.MaxRSSBytes == nil }, "max_rss_bytes is null of runs that were not traced and used less than twice the memory of this command: the system may then tell this command's"},
	{func(r program.RunReport) bool { return !r.CoreHz.Known() }, "core_hz is null where the core's rate can't be measured"},
	{func(r program.RunReport) bool { return !r.LowNs.Known() || !r.HighNs.Known() }, "low_ns and high_ns are null where too little is known of a run to bound its time"},
}

// unknowns returns the caveats on the fields that are null in the runs of a document.
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
