package record

import (
	"cmp"
	"slices"
	"time"

	"chronoscope/machine"
)

var _ = register[Doctor]("doctor")

// Doctor is the document of what about a machine will disturb measurements.
type Doctor struct {
	Header
	// CPUList names the CPUs that were looked at, in the kernel's form ("0-3,8").
	CPUList machine.Text `json:"cpu_list"`
	// WatchedNs is how long the kernel's counters were watched.
	WatchedNs int64             `json:"watched_ns"`
	Findings  []machine.Finding `json:"findings"` // worst first
}

// NewDoctor makes the document. The caveats are added to those of the header.
func NewDoctor(h Header, cpus []int, watched time.Duration, findings []machine.Finding, caveats []string) Doctor {
	h.Caveats = append(slices.Clone(h.Caveats), caveats...)
	findings = append([]machine.Finding{}, findings...)
	slices.SortStableFunc(findings, func(a, b machine.Finding) int { return cmp.Compare(rank(a.Severity), rank(b.Severity)) })
	return Doctor{
		Header: h, CPUList: machine.Text(machine.FormatCPUList(cpus)),
		WatchedNs: watched.Nanoseconds(), Findings: findings,
	}
}

// rank orders severities, the worst first.
func rank(s machine.Severity) int {
	return slices.Index([]machine.Severity{machine.Warning, machine.Note, machine.OK}, s)
}
