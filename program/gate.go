package program

import (
	"math"

	"chronoscope/stats"
)

// Gated makes a measurement go on after each command is known precisely enough, until comparisons with limits are
// settled. It holds the gate's limits, and the pairs of commands to compare, each by the indices of both.
type Gated struct {
	stats.Gate
	Pairs [][2]int
}

// openCommands reports for each command whether a comparison of it needs more runs. A comparison ends as soon as one of
// its commands can't be run any more.
func (m *measurement) openCommands() []bool {
	gated, open := m.plan.Gated, make([]bool, len(m.all))
	results := make([]*Result, len(m.all))
	for i, s := range m.all {
		results[i] = m.concluded(s)
	}
	for _, pair := range gated.Pairs {
		if m.spent(m.all[pair[0]]) || m.spent(m.all[pair[1]]) {
			continue
		}
		if m.hasDuets(m.all[pair[0]]) && m.hasDuets(m.all[pair[1]]) && len(m.duets.runs[0]) < m.fewestDuets() {
			open[pair[0]], open[pair[1]] = true, true // a look at other pairs would spend the chance of an error twice
			continue
		}
		a, b := results[pair[0]], results[pair[1]]
		all := []Comparison{Compare(a, b, 2*m.plan.Precision, m.plan.Seed)}
		for i := range a.Command.Metrics {
			all = append(all, CompareMetric(a, b, i, 2*m.plan.Precision, m.plan.Seed))
		}
		for i := range all {
			if !all[i].settled(gated.Gate, len(gated.Pairs)) {
				open[pair[0]], open[pair[1]] = true, true
			}
		}
	}
	return open
}

// settled reports whether the comparison needs no more runs: by its last look it is known on which side of the limit
// the ratio is. A metric that the runs lack needs no more runs either.
func (c *Comparison) settled(gate stats.Gate, times int) bool {
	limit, looks := gate.LimitOf(c.Metric), gate.LooksFor(times)
	if math.IsNaN(limit) || c.Metric != "" && c.pairs.Len() < fewestChosen {
		return true
	}
	then := *c
	then.pairs = c.pairs.First(looks.Last(c.pairs.Len()))
	if then.undecidable() {
		return false
	}
	return then.beyond(looks, limit) <= gate.Chance(times) || then.within(looks, limit)
}

// Judge judges the comparisons of a suite together by the limits of a gate ([stats.Gate.Sides]).
func Judge(all []Comparison, gate stats.Gate) (judged []stats.Pair) {
	times := 0
	for _, c := range all {
		if c.Metric == "" {
			times++
		}
	}
	looks := gate.LooksFor(times)
	var alone []float64
	for i := range all {
		alone = append(alone, all[i].beyond(looks, gate.LimitOf(all[i].Metric)))
	}
	beyond, sides := gate.Sides(alone, times, func(i int) bool {
		return all[i].within(looks, gate.LimitOf(all[i].Metric))
	})
	for i := range all {
		c := &all[i]
		joint := stats.Joint{Lo: math.NaN(), Hi: math.NaN(), FalseAlarms: gate.FalseAlarms, Comparisons: gate.Family(times)}
		if !c.undecidable() {
			joint.Lo, joint.Hi = c.widened(c.pairs.Bounds(looks, gate.Chance(times)))
		}
		p := c.pair(joint)
		p.Joint.Limit, p.Joint.Beyond, p.Joint.Side = stats.FloatOf(gate.LimitOf(c.Metric)), stats.FloatOf(beyond[i]), sides[i]
		judged = append(judged, p)
	}
	return judged
}

// beyond returns the P value, of this comparison alone, of the hypothesis that the ratio is within the limit; NaN
// without a limit.
func (c *Comparison) beyond(looks stats.Looks, limit float64) float64 {
	switch {
	case math.IsNaN(limit):
		return math.NaN()
	case c.undecidable(), c.isBounded() && c.Ratio.Lo <= 1+limit:
		return 1
	}
	return c.pairs.Beyond(looks, 1+limit)
}

// within reports whether the 95 % interval lies within the limit.
func (c *Comparison) within(looks stats.Looks, limit float64) bool {
	if c.undecidable() {
		return false
	}
	_, hi := c.widened(c.pairs.Bounds(looks, (1-stats.Confidence)/2))
	return hi <= 1+limit
}
