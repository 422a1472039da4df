package record

import (
	"math"

	"chronoscope/activity"
	"chronoscope/machine"
	"chronoscope/stats"
)

// Card is the report card of a machine: the document of the command without a
// subcommand.
type Card struct {
	Header
	Ranking
	Trust
	// Traces say how noisy the machine is, without their periods; empty where none
	// could be recorded.
	Traces   []activity.Analysis `json:"traces"`
	Findings []machine.Finding   `json:"findings"`
	Advice   []Advice            `json:"advice"`
}

// Advice says with what to measure durations of a range.
type Advice struct {
	Purpose string `json:"purpose"` // "wall", "cpu" or "timestamp"
	// FromNs and ToNs bound the durations; ToNs is null where nothing limits it.
	FromNs float64  `json:"from_ns"`
	ToNs   *float64 `json:"to_ns"`
	Method string   `json:"method"`
	Clock  string   `json:"clock"`
	// ExpectedError is the most that the clock itself may be off by, as a share of
	// a duration of FromNs; interrupts and preemption come on top.
	ExpectedError float64 `json:"expected_error"`
}

// NewCard makes the report card.
func NewCard(h Header, r Ranking) Card {
	c := Card{Header: h, Ranking: r, Trust: NoTrust(), Traces: []activity.Analysis{}, Findings: h.Machine.Findings(), Advice: []Advice{}}
	for _, best := range []struct {
		purpose string
		name    *string
	}{{"wall", r.Best.Wall}, {"cpu", r.Best.CPU}, {"timestamp", r.Best.Timestamp}} {
		if best.name == nil {
			continue
		}
		for _, clock := range r.Clocks {
			if clock.Name != *best.name {
				continue
			}
			// Of an accuracy without an upper bound nothing can be promised.
			if a := adviceFor(best.purpose, clock); stats.Finite(a.FromNs) != nil {
				c.Advice = append(c.Advice, a)
			}
		}
	}
	return c
}

// goodError is the relative error that advice promises.
const goodError = 0.01

// adviceFor says from which duration on two readings of the clock around the
// work are good to one percent. Each reading may lie one accuracy beside the
// truth, and the cost of calls varies by what p95 lies above the least.
func adviceFor(purpose string, c Clock) Advice {
	errorNs := c.Accuracy.Hi
	if c.Cost.P95Ns != nil && c.Cost.MinNs != nil {
		errorNs += *c.Cost.P95Ns - *c.Cost.MinNs
	}
	return Advice{
		Purpose: purpose, Clock: c.Name, Method: "two readings around the work, less the clock's own cost",
		FromNs: math.Ceil(errorNs / goodError), ExpectedError: goodError,
	}
}
