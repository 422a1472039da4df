package record

import "chronoscope/slowclock"

var _ = register[SlowClock]("slowclock")

// SlowClock is the document of an event that was timed with slow clocks, or of a plan
// for that.
type SlowClock struct {
	Header
	// EventNs is what was asked for, as nearly as the event could be made to take it.
	EventNs   float64            `json:"event_ns"`
	Estimates []slowclock.Result `json:"estimates"`
	Plan      []slowclock.Row    `json:"plan"`
}
