package record

import "chronoscope/activity"

var _ = register[Activity]("activity")

// Activity is the document of activity traces.
type Activity struct {
	Header
	Traces []activity.Analysis `json:"traces"`
	// Switching is the cost of a context switch, measured after the traces on the CPU of the first;
	// null if it could not be measured, for a reason among the caveats.
	Switching *activity.Switching `json:"switching"`
}
