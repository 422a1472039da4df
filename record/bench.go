package record

import (
	"chronoscope/gobench"
	"chronoscope/stats"
)

var _ = register[Bench]("bench")

// Bench is the document of a module's Go benchmarks.
type Bench struct {
	Header
	Results []gobench.Report `json:"results"`
	Pairs   []stats.Pair     `json:"pairs"` // of two revisions, if requested
	// Gate says which slowdowns the gate can see on this machine, if requested.
	Gate *gobench.GateReport `json:"gate,omitempty"`
}
