package record

import "chronoscope/machine"

var _ = register[Doctor]("doctor")

// Doctor is the document of findings: what disturbs measurements on a machine.
type Doctor struct {
	Header
	// CPUList names the CPUs that were examined, in the kernel's format ("0-3,8").
	CPUList machine.Text `json:"cpu_list"`
	// WatchedNs is how long the kernel's counters were watched.
	WatchedNs int64             `json:"watched_ns"`
	Findings  []machine.Finding `json:"findings"` // worst first
}
