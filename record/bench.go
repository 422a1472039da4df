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
	// Missing is what could not be measured; empty if nothing is missing. Benchmarks that failed are among Results.
	Missing []BenchMissing `json:"missing,omitempty"`
}

// BenchMissing is a package that could not be measured, a metric with a limit that no benchmark reports, or, with
// neither name, the rest of a measurement that ended early.
type BenchMissing struct {
	Package  string `json:"package,omitempty"`
	Revision string `json:"revision,omitempty"` // of the package; empty for the working tree
	Metric   string `json:"metric,omitempty"`
	Why      string `json:"why"`
}
