package record

import "chronoscope/offcpu"

var _ = register[Why]("why")

// Why is the document that says how threads spent their time: running, or waiting, and what for.
type Why struct {
	Header
	// Subject names the threads: a command, a process, a control group.
	Subject string `json:"subject"`
	// Method is "tracepoints", or "accounts" if tracepoints are unavailable.
	Method string `json:"method"`
	// LateNs is the length of the wait that ended the recording; null if none did.
	LateNs *int64 `json:"late_ns"`
	// Late is the wait that ended the recording; nil in documents that are older than this field.
	Late *offcpu.Period `json:"late,omitempty"`
	offcpu.Result
}
