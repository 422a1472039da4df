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
	Pairs   []stats.Pair     `json:"pairs"` // of two revisions, where that was asked for
	// Gate is what the gate sees on this machine, where that was asked for.
	Gate *gobench.GateReport `json:"gate,omitempty"`
}
