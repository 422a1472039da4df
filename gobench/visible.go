package gobench

import (
	"math"
	"time"

	"chronoscope/stats"
)

// Visibility is which slowdown of a benchmark the gate sees, on this machine.
type Visibility struct {
	Name    string `json:"name"`
	Package string `json:"package"`
	// Pairs were measured; PairNs is what one takes, by the clock.
	Pairs  int     `json:"pairs"`
	PairNs float64 `json:"pair_ns"`
	// Scatter is the standard deviation of the logarithms of the pairs' ratios, at most.
	Scatter stats.Float `json:"scatter"`
	// Visible is the least slowdown beyond the limit that as many pairs as were measured show in 95 of
	// 100 runs, as a share.
	Visible stats.Float `json:"visible"`
	// Needed is how many pairs show the slowdown that was planned for, and NeededNs what they take.
	Needed   int     `json:"needed_pairs"`
	NeededNs float64 `json:"needed_ns"`
}

// GateReport is what a gate sees, as a document holds it.
type GateReport struct {
	// Null says that a revision was compared with itself, so that whatever is beyond the limit is a
	// false alarm.
	Null        bool    `json:"null"`
	Limit       float64 `json:"limit"`
	FalseAlarms float64 `json:"false_alarms"`
	// Slowdown is that which NeededNs shows in each benchmark, all in turn.
	Slowdown float64      `json:"slowdown"`
	NeededNs float64      `json:"needed_ns"`
	Visible  []Visibility `json:"visible"`
}

// NewGateReport says what the gate of the plan sees in a suite, and what it takes to see a
// slowdown, a share.
func NewGateReport(all []Comparison, plan Plan, slowdown float64, null bool) *GateReport {
	gate := plan.gate()
	r := &GateReport{Null: null, Limit: gate.Limit, FalseAlarms: gate.FalseAlarms, Slowdown: slowdown, Visible: visible(all, plan, slowdown)}
	for _, v := range r.Visible {
		r.NeededNs += v.NeededNs
	}
	return r
}

// MaxTime is how long a benchmark may be measured, so that the suite has the time that it needs,
// and none needs more than it may take of what others leave.
func (r *GateReport) MaxTime() time.Duration {
	longest := 0.
	for _, v := range r.Visible {
		longest = math.Max(longest, v.NeededNs)
	}
	ns := math.Max(r.NeededNs/float64(max(1, len(r.Visible))), longest/mostOverdrawn) / 2
	return time.Duration(math.Ceil(ns/1e9)) * time.Second
}

// mostPlanned pairs are planned.
const mostPlanned = 2000

// visible says which slowdown the gate of the plan sees in each comparison of a suite, and how
// many pairs it takes to see one, a share.
func visible(all []Comparison, plan Plan, slowdown float64) []Visibility {
	seen := []Visibility{}
	gate, pairs := plan.gate(), timesAmong(all)
	reach := gate.looksFor(pairs).Reach(gate.chance(pairs), mostPlanned)
	for _, c := range all {
		if c.Metric != "" {
			continue
		}
		v := Visibility{Name: c.B.Name, Package: c.B.Package, Pairs: c.pairs.Len(), Needed: mostPlanned}
		for _, rep := range append(c.A.Repetitions[:len(c.A.Repetitions):len(c.A.Repetitions)], c.B.Repetitions...) {
			v.PairNs += (rep.Few.WallNs + rep.Many.WallNs + rep.Least.WallNs) / float64(max(1, len(c.B.Repetitions)))
		}
		if scatter := c.pairs.Scatter(); !math.IsNaN(scatter) {
			v.Scatter = stats.FloatOf(scatter)
			v.Visible = stats.FloatOf((1+gate.Limit)*math.Exp(scatter*reach.Visible(v.Pairs)) - 1)
			if needed, ok := reach.Needed(math.Log((1+slowdown)/(1+gate.Limit)) / scatter); ok {
				v.Needed = needed
			}
		}
		v.NeededNs = float64(v.Needed) * v.PairNs
		seen = append(seen, v)
	}
	return seen
}
