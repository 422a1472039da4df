package record

import (
	"chronoscope/clock/check"
	"chronoscope/fidelity"
)

var _ = register[Fidelity]("fidelity")

// Fidelity is the document that says whether counters can be trusted.
type Fidelity struct {
	Header
	Trust
}

// Trust is the part of a document that says whether counters can be trusted.
type Trust struct {
	Sandwiches []fidelity.Result `json:"sandwiches"`
	Checks     []check.Finding   `json:"checks"`
}

// NoTrust returns a Trust without results; its lists are empty, and not null in JSON.
func NoTrust() Trust { return Trust{Sandwiches: []fidelity.Result{}, Checks: []check.Finding{}} }
