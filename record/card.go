package record

import (
	"chronoscope/activity"
	"chronoscope/machine"
	"chronoscope/timermeter"
)

var _ = register[Card]("")

// Card is the report card of a machine: the document of the command without a
// subcommand.
type Card struct {
	Header
	timermeter.Ranking
	Trust
	// Traces say how noisy the machine is, without their periods; empty if none could be recorded.
	Traces   []activity.Analysis `json:"traces"`
	Findings []machine.Finding   `json:"findings"`
	Advice   []timermeter.Advice `json:"advice"`
}
