package record

import "chronoscope/slowclock"

var _ = register[SlowClock]("slowclock")

// SlowClock is the document of an event that was timed with slow clocks, or of a plan to do so.
type SlowClock struct {
	Header
	// EventNs is the requested length of the event; the event comes as close to it as possible.
	EventNs   float64            `json:"event_ns"`
	Estimates []slowclock.Result `json:"estimates"`
	Plan      []slowclock.Row    `json:"plan"`
}
