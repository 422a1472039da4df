package record

import (
	"fmt"

	"chronoscope/activity"
	"chronoscope/stats"
)

// Activity is the document of activity traces.
type Activity struct {
	Header
	Traces []Trace `json:"traces"`
	// Switching was measured after the traces, on the first one's CPU; null where
	// that can't be done, for a reason among the caveats.
	Switching *Switching `json:"switching"`
}

// Trace is one CPU's trace with what it says.
type Trace struct {
	CPU         *int             `json:"cpu"` // null where the thread was free to move
	Clock       string           `json:"clock"`
	ThresholdNs float64          `json:"threshold_ns"`
	DurationNs  float64          `json:"duration_ns"`
	ActiveRatio *float64         `json:"active_ratio"`
	Dropped     int              `json:"dropped"`
	Periods     []Period         `json:"periods,omitempty"`
	Interrupts  *Interrupts      `json:"interrupts"` // null where no tick was found
	Accounting  *Accounting      `json:"accounting"` // null where no tick was found
	Combs       []Comb           `json:"combs"`
	Causes      map[string]Total `json:"causes"`
	// OwnInterrupts are the kernel's interrupts beside its tick's; null where it does not
	// tell, and in records of before this was told.
	OwnInterrupts *OwnInterrupts `json:"own_interrupts,omitempty"`
	Undisturbed   []Undisturbed  `json:"undisturbed"`
	SliceNs       *float64       `json:"slice_ns"`  // typical run between two preemptions
	SwitchNs      *float64       `json:"switch_ns"` // of a preemption, beyond the wait
	WaitNs        float64        `json:"runqueue_wait_ns"`
	// ClockHz is the rate of the clock that the kernel's tick implies.
	ClockHz *float64 `json:"clock_hz"`
	Caveats []string `json:"caveats"`
}

// Period is a stretch of activity or inactivity.
type Period struct {
	Label         string  `json:"label"` // A0, I0, A1 ...
	State         string  `json:"state"` // "active" or "inactive"
	StartNs       float64 `json:"start_ns"`
	DurationNs    float64 `json:"duration_ns"`
	StartTicks    int64   `json:"start_ticks"`
	DurationTicks int64   `json:"duration_ticks"`
	Cause         *string `json:"cause"` // null for activity
}

// Interrupts are those of this kernel's timer.
type Interrupts struct {
	PeriodNs     float64        `json:"period_ns"`
	Period       stats.Estimate `json:"period"`
	Count        int            `json:"count"`  // that began a gap
	Hidden       int            `json:"hidden"` // that fell into a gap
	MinCostNs    *float64       `json:"min_cost_ns"`
	MedianCostNs *float64       `json:"median_cost_ns"`
	MaxCostNs    *float64       `json:"max_cost_ns"`
	// Counted is how often the kernel says that this CPU's timer interrupted it, and
	// Sleepers how many gaps are put down to timers that wake who sleeps; null where
	// the kernel does not tell.
	Counted  *int `json:"counted"`
	Sleepers *int `json:"sleepers"`
}

// OwnInterrupts bound the time of this kernel's interrupts beside its tick's: it counts how
// many of the gaps were its own, and not which.
type OwnInterrupts struct {
	Counted int     `json:"counted"` // at most, of the gaps
	Fewest  int     `json:"fewest"`  // at least
	Gaps    int     `json:"gaps"`    // of an interrupt's length that nothing else explains
	LeastNs float64 `json:"least_ns"`
	MostNs  float64 `json:"most_ns"`
	Open    int     `json:"open"` // gaps that stay unexplained
}

// Comb is a regular source of gaps.
type Comb struct {
	PeriodNs     float64  `json:"period_ns"`
	PhaseNs      float64  `json:"phase_ns"`
	Count        int      `json:"count"`
	MinCostNs    *float64 `json:"min_cost_ns"`
	MedianCostNs *float64 `json:"median_cost_ns"`
	MaxCostNs    *float64 `json:"max_cost_ns"`
	Source       string   `json:"source"`
	// Attributed is how many of the gaps are put down to the source: of the others the
	// kernel knows something else that befell the thread then. Null in records of before
	// this was told.
	Attributed *int `json:"attributed"`
}

// Total is what a cause took.
type Total struct {
	Count   int     `json:"count"`
	TotalNs float64 `json:"total_ns"`
	MaxNs   float64 `json:"max_ns"`
}

// Undisturbed says how likely work of a length is not disturbed, and how many
// trials three such runs take; null where none would be.
type Undisturbed struct {
	LengthNs               float64  `json:"length_ns"`
	Probability            float64  `json:"probability"`
	Trials                 *float64 `json:"trials_for_3"`
	UnpreemptedProbability float64  `json:"unpreempted_probability"`
	UnpreemptedTrials      *float64 `json:"unpreempted_trials_for_3"`
}

// NewTrace puts a trace into the form of a document, with its periods where they
// are asked for.
func NewTrace(t *activity.Trace, a *activity.Analysis, periods bool) Trace {
	d := Trace{
		Clock: t.Clock, ThresholdNs: t.Ns(t.Threshold), DurationNs: t.Ns(t.Length),
		ActiveRatio: stats.Finite(a.ActiveRatio), Dropped: t.Dropped,
		Combs: []Comb{}, Causes: map[string]Total{}, Undisturbed: []Undisturbed{},
		SliceNs: stats.Finite(a.SliceNs), SwitchNs: stats.Finite(a.SwitchNs), WaitNs: a.WaitNs, ClockHz: stats.Finite(a.ClockHz),
		Caveats: append([]string{}, t.Caveats...),
	}
	if t.CPU >= 0 {
		d.CPU = &t.CPU
	}
	for _, c := range a.Combs {
		d.Combs = append(d.Combs, Comb{
			PeriodNs: c.PeriodNs.Value, PhaseNs: c.PhaseNs, Count: len(c.Gaps),
			MinCostNs: stats.Finite(c.LeastNs), MedianCostNs: stats.Finite(c.MedianNs), MaxCostNs: stats.Finite(c.WorstNs),
			Source: c.Source.String(), Attributed: attributed(t, c),
		})
	}
	if a.Tick != nil {
		d.Accounting = newAccounting(t, a)
	}
	if c := a.Tick; c != nil {
		d.Interrupts = &Interrupts{
			PeriodNs: c.PeriodNs.Value, Period: c.PeriodNs, Count: len(c.Gaps), Hidden: c.Hidden,
			MinCostNs: stats.Finite(c.LeastNs), MedianCostNs: stats.Finite(c.MedianNs), MaxCostNs: stats.Finite(c.WorstNs),
		}
		if n := a.Timer; n != nil {
			d.Interrupts.Counted, d.Interrupts.Sleepers = &n.Counted, &n.Sleepers
		}
	}
	if own := a.Own; own != nil {
		d.OwnInterrupts = &OwnInterrupts{own.Counted, own.FewestCounted, own.Gaps, own.LeastNs, own.MostNs, own.Open}
		if own.Open > 0 {
			d.Caveats = append(d.Caveats, fmt.Sprintf("the kernel counted %d to %d interrupts of its own among %d gaps, and not which these were: they took %.3g to %.3g ms together, and %d gaps stay unexplained", own.FewestCounted, own.Counted, own.Gaps, own.LeastNs/1e6, own.MostNs/1e6, own.Open))
		}
	}
	for cause, total := range a.Causes {
		d.Causes[cause.String()] = Total{total.Count, total.TotalNs, total.WorstNs}
	}
	for _, u := range a.Undisturbed {
		d.Undisturbed = append(d.Undisturbed, Undisturbed{
			u.LengthNs, u.Probability, stats.Finite(u.Trials), u.Unpreempted, stats.Finite(u.UnpreemptedTrials),
		})
	}
	if periods {
		d.Periods = periodsOf(t)
	}
	return d
}

// attributed is how many of a comb's gaps are put down to its source.
func attributed(t *activity.Trace, c activity.Comb) *int {
	n := 0
	for _, i := range c.Gaps {
		if t.Gaps[i].Cause == c.Source {
			n++
		}
	}
	return &n
}

func periodsOf(t *activity.Trace) []Period {
	var periods []Period
	for p := range t.Periods {
		d := Period{
			Label: fmt.Sprintf("A%d", p.Number), State: "active",
			StartNs: t.Ns(p.Start), DurationNs: t.Ns(p.Ticks), StartTicks: p.Start, DurationTicks: p.Ticks,
		}
		if !p.Active {
			cause := p.Cause.String()
			d.Label, d.State, d.Cause = fmt.Sprintf("I%d", p.Number), "inactive", &cause
		}
		periods = append(periods, d)
	}
	return periods
}
