package record

import (
	"chronoscope/slowclock"
	"chronoscope/stats"
)

// SlowClock is the document of an event that was timed with slow clocks, or of a plan
// for that.
type SlowClock struct {
	Header
	// EventNs is what was asked for, as nearly as the event could be made to take it.
	EventNs   float64        `json:"event_ns"`
	Estimates []SlowEstimate `json:"estimates"`
	Plan      []PlanRow      `json:"plan"`
}

// SlowEstimate is what one method found. What could not be had is null, for a reason
// that stands in Reasons or among the caveats.
type SlowEstimate struct {
	Method    string         `json:"method"`
	Clock     string         `json:"clock"`
	TickNs    float64        `json:"tick_ns"`
	Trials    int64          `json:"trials"`
	Edges     int64          `json:"edges"` // of the clock, seen within events
	ElapsedNs float64        `json:"elapsed_ns"`
	Estimate  stats.Estimate `json:"estimate"`
	Overhead  stats.Estimate `json:"overhead"`  // taken off
	Equation2 stats.Estimate `json:"equation2"` // with the interval of independent trials
	Truth     stats.Estimate `json:"truth"`     // of the same executions, by a finer clock
	Locked    bool           `json:"phase_locked"`
	Verdict   stats.Verdict  `json:"verdict"`
	Reasons   []string       `json:"reasons"`
}

// PlanRow is what so many significant digits take.
type PlanRow struct {
	Digits      int      `json:"digits"`
	EpsilonNs   float64  `json:"epsilon_ns"`
	Trials      *float64 `json:"trials"`       // by equation (3)
	SourceNs    *float64 `json:"source_ns"`    // if a trial is the event alone
	BernoulliNs *float64 `json:"bernoulli_ns"` // with what surrounds the event here
	DiscreteNs  *float64 `json:"discrete_ns"`  // until enough ticks have gone by
	CounterNs   *float64 `json:"counter_ns"`
}

// NewSlowEstimate puts a result into the form of a document.
func NewSlowEstimate(r slowclock.Result) SlowEstimate {
	return SlowEstimate{
		Method: string(r.Method), Clock: r.Clock, TickNs: r.TickNs, Trials: r.Trials, Edges: r.Edges, ElapsedNs: r.ElapsedNs,
		Estimate: r.Estimate, Overhead: r.Overhead, Equation2: r.Equation2, Truth: r.Truth, Locked: r.Locked,
		Verdict: r.Verdict, Reasons: r.Reasons,
	}
}

// NewPlan puts a plan into the form of a document.
func NewPlan(rows []slowclock.Row) []PlanRow {
	plan := make([]PlanRow, 0, len(rows))
	for _, r := range rows {
		plan = append(plan, PlanRow{
			Digits: r.Digits, EpsilonNs: r.EpsilonNs, Trials: stats.Finite(r.Trials), SourceNs: stats.Finite(r.SourceNs),
			BernoulliNs: stats.Finite(r.BernoulliNs), DiscreteNs: stats.Finite(r.DiscreteNs), CounterNs: stats.Finite(r.CounterNs),
		})
	}
	return plan
}
