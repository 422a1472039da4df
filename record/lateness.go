package record

import "chronoscope/lateness"

var _ = register[Lateness]("lateness")

// Lateness is the document of how late timers wake threads that wait for them.
type Lateness struct {
	Header
	lateness.Report
	// Load is the number of threads that wanted the CPU, including the waiting one.
	Load int `json:"load"`
}
