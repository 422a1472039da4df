package gobench

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"chronoscope/stats"
)

// Visibility says which slowdown of a benchmark the gate would see on this machine.
type Visibility struct {
	Name    string `json:"name"`
	Package string `json:"package"`
	// Pairs is the number of pairs that were measured; PairNs is the time of a pair, by the clock.
	Pairs  int     `json:"pairs"`
	PairNs float64 `json:"pair_ns"`
	// Scatter is an upper bound of the standard deviation of the logarithms of the pairs' ratios.
	Scatter stats.Float `json:"scatter"`
	// Visible is the smallest slowdown, as a share, that this number of pairs shows to be beyond the limit in
	// 95 of 100 measurements.
	Visible stats.Float `json:"visible"`
	// Needed is the number of pairs that show the planned slowdown, and NeededNs the time that they take.
	Needed   int     `json:"needed_pairs"`
	NeededNs float64 `json:"needed_ns"`
}

// GateReport says what a gate would see.
type GateReport struct {
	// Null says that a revision was compared with itself, so that each difference beyond the limit is a false
	// alarm.
	Null bool `json:"null"`
	// Limit is the share by which the time may be longer; missing if the gate judges no times. Visible is empty then.
	Limit       stats.Float `json:"limit"`
	FalseAlarms float64     `json:"false_alarms"`
	// Slowdown is the planned slowdown, as a share. NeededNs is the time after which all benchmarks show it.
	Slowdown float64      `json:"slowdown"`
	NeededNs float64      `json:"needed_ns"`
	Visible  []Visibility `json:"visible"`
}

// NewGateReport returns which slowdowns the gate of the plan would see in a suite, and what it needs to see the
// planned slowdown, a share.
func NewGateReport(all []Comparison, plan Plan, slowdown float64, null bool) *GateReport {
	gate := plan.gate()
	r := &GateReport{Null: null, Limit: stats.FloatOf(gate.Limit), FalseAlarms: gate.FalseAlarms, Slowdown: slowdown, Visible: visible(all, plan, slowdown)}
	for _, v := range r.Visible {
		r.NeededNs += v.NeededNs
	}
	return r
}

// MaxTime returns the time per benchmark with which the whole suite gets the time that it needs, if each
// benchmark takes at most mostOverdrawn times its own.
func (r *GateReport) MaxTime() time.Duration {
	longest := 0.
	for _, v := range r.Visible {
		longest = math.Max(longest, v.NeededNs)
	}
	ns := math.Max(r.NeededNs/float64(max(1, len(r.Visible))), longest/mostOverdrawn) / 2
	return time.Duration(math.Ceil(ns/1e9)) * time.Second
}

// mostPlanned is the largest number of pairs that is planned for.
const mostPlanned = 2000

// visible returns which slowdown the gate of the plan would see in each benchmark of a suite, and how many
// pairs it needs to see the planned slowdown, a share.
func visible(all []Comparison, plan Plan, slowdown float64) []Visibility {
	seen := []Visibility{}
	gate, pairs := plan.gate(), timesAmong(all)
	if math.IsNaN(gate.Limit) {
		return seen
	}
	reach, typical := gate.LooksFor(pairs).Reach(gate.Chance(pairs), mostPlanned), typicalPlacementOf(all)
	for _, c := range all {
		if c.Metric != "" {
			continue
		}
		v := Visibility{Name: c.B.Name, Package: c.B.Package, Pairs: c.pairs.Len(), Needed: mostPlanned}
		v.PairNs = c.pairNs()
		if scatter := c.pairs.Scatter(); !math.IsNaN(scatter) {
			v.Scatter = stats.FloatOf(scatter)
			smallest, wanted := math.Inf(1), math.Log((1+slowdown)/(1+gate.Limit))
			for _, s := range c.placed.stages(c.A.Benchmark) {
				inLayouts := s.reach(typical, gate.Chance(pairs))
				smallest = math.Min(smallest, s.visible(v.Pairs, scatter, reach, inLayouts))
				v.Needed = int(math.Min(float64(v.Needed), s.needed(wanted, scatter, reach, inLayouts)))
			}
			v.Visible = stats.FloatOf((1+gate.Limit)*math.Exp(smallest) - 1)
		}
		v.NeededNs = float64(v.Needed) * v.PairNs
		if n := float64(c.A.first); n > 0 { // pairs in the usual layout come on top
			v.NeededNs *= (n + 1) / n
		}
		if c.duets { // the benchmarks also run by themselves
			v.NeededNs /= 1 - plan.ownShare()
		}
		seen = append(seen, v)
	}
	return seen
}

// stage is a placement as it is, or as it would be with more layouts.
type stage struct {
	placement
	// If the pairs in the first layouts exceed the limit, later more pairs are measured, in further layouts. byFirst is
	// the largest shift of the ratio that the first layouts may cause (one-sided 95 %), as a logarithm.
	later   int
	byFirst float64
}

// stages returns the placement, and what it would be with more layouts, if these can be linked.
func (p placement) stages(b Benchmark) []stage {
	if p.layouts == 0 || !b.grows() || b.grown() {
		return []stage{{p, 0, 0}}
	}
	more := p
	more.layouts, more.looks = b.Orders.most(), looksAtLayouts/grownShare
	return []stage{{p, 0, 0}, {more, b.added(), distuv.UnitNormal.Quantile(0.95) * p.deviationAtMost() / math.Sqrt(float64(b.first))}}
}

// visible returns the smallest difference that n pairs and the layouts show, and needed the number of pairs that show a
// difference. Differences and the scatter of pairs are logarithms.
func (s stage) visible(n int, scatter float64, reach stats.Reach, inLayouts float64) float64 {
	byPairs := scatter * reach.Visible(n-s.later)
	return math.Max(byPairs+s.byFirst, math.Hypot(math.Max(byPairs, scatter*inLayouts/math.Sqrt(float64(n))), s.byLayouts(inLayouts)))
}

func (s stage) needed(wanted, scatter float64, reach stats.Reach, inLayouts float64) float64 {
	byLayouts := s.byLayouts(inLayouts)
	left := math.Min(math.Sqrt(math.Max(0, wanted*wanted-byLayouts*byLayouts)), wanted-s.byFirst) / scatter
	n, ok := reach.Needed(left)
	if !ok {
		return math.Inf(1)
	}
	return math.Max(float64(n+s.later), math.Pow(inLayouts/left, 2))
}

// byLayouts returns the difference that the layouts show, however many pairs there are.
func (s stage) byLayouts(inLayouts float64) float64 {
	return inLayouts * s.deviationAtMost() / math.Sqrt(float64(max(1, s.layouts)))
}

// pairNs returns the mean time of a pair, by the clock.
func (c *Comparison) pairNs() (ns float64) {
	if c.duets {
		n := min(len(c.A.Duets), len(c.B.Duets))
		for i := range n {
			a, b := c.A.Duets[i], c.B.Duets[i]
			ns += float64(wallOf(a.Few, b.Few) + wallOf(a.Many, b.Many))
		}
		return ns / float64(n)
	}
	for _, rep := range slices.Concat(c.A.Repetitions, c.B.Repetitions) {
		ns += processNs(rep.Few) + processNs(rep.Many) + processNs(rep.Least)
	}
	return ns / float64(max(1, len(c.B.Repetitions)))
}
