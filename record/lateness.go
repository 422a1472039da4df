package record

import "chronoscope/lateness"

var _ = register[Lateness]("lateness")

// Lateness is the document of how late timers wake those who wait for them.
type Lateness struct {
	Header
	lateness.Report
	// Load is how many threads wanted the CPU, the one that waited among them.
	Load int `json:"load"`
}
