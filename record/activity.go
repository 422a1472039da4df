package record

import "chronoscope/activity"

var _ = register[Activity]("activity")

// Activity is the document of activity traces.
type Activity struct {
	Header
	Traces []activity.Analysis `json:"traces"`
	// Switching was measured after the traces, on the first one's CPU; null where
	// that can't be done, for a reason among the caveats.
	Switching *activity.Switching `json:"switching"`
}
