package gobench

import (
	"cmp"
	"fmt"
	"math"

	"chronoscope/remedy"
	"chronoscope/stats"
)

// Gate says by how much the second benchmark of a group may be worse than the first one.
type Gate = stats.Gate

// gate returns the gate of the plan. A plan without one has a limit of 0.
func (p Plan) gate() Gate {
	if p.Gate == nil {
		return Gate{FalseAlarms: stats.FalseAlarms}
	}
	return Gate{Limit: p.Gate.Limit, Metrics: p.Gate.Metrics, FalseAlarms: cmp.Or(p.Gate.FalseAlarms, stats.FalseAlarms)}
}

// WithGate returns the plan with a gate, and with runs of shortRunTime at most.
func (p Plan) WithGate(g *Gate) Plan {
	p.Gate, p.RunTime = g, min(p.RunTime, shortRunTime)
	return p
}

// Judged is a comparison that was judged together with all others of its suite.
type Judged struct {
	Comparison
	// Joint bounds the ratio so that the bounds of all comparisons of the suite hold together, whenever the
	// measurement ended; NaN if the pairs are too few.
	Joint stats.Joint
	// Limit is the share by which the gate lets the ratio be above 1. Beyond is the P value of the hypothesis that the
	// true ratio is within Limit, adjusted for all comparisons of the suite. If the gate does not judge this
	// comparison, both are NaN and Side is empty.
	Limit, Beyond float64
	Side          stats.Side
	// WhyOpen says why Side is undecided, if the interval of the ratio is not the reason.
	WhyOpen string
	// FarBeyond says that Side is undecided, although in each pair of times even the lower bound of the ratio is beyond
	// twice the limit.
	FarBeyond bool
	// FalseDiscoveries is the expected share of false discoveries among all comparisons whose P value is at
	// most this one's.
	FalseDiscoveries float64
	// Placement is the standard deviation of the ratio between layouts of the binaries, as a share. Own is the ratio in
	// the usual layout alone. With one layout, Placement is 0 and Own is NaN. A value is also NaN if there are too few
	// pairs to tell it.
	Placement, Own float64
}

// Judge judges the comparisons of a suite together: against the limits of the gate, and for any difference. The
// more comparisons there are, the smaller their P values have to be. The gate's rate of false alarms is also the largest
// expected share of false discoveries among those that are called slower or faster.
func Judge(all []Comparison, plan Plan) (judged []Judged) {
	gate, pairs := plan.gate(), timesAmong(all)
	looks := gate.LooksFor(pairs)
	alone, differs := make([]float64, len(all)), make([]float64, len(all))
	ofTimes := typicalPlacementOf(all)
	for i := range all {
		j := Judged{Comparison: all[i], Limit: gate.LimitOf(all[i].Metric)}
		alone[i], differs[i] = math.NaN(), 1
		typical := ofTimes
		if j.Metric != "" { // what is typical of times tells nothing of it
			typical = typicalPlacement{}
		}
		if !j.unusable() {
			differs[i] = j.differs(looks, typical)
		}
		j.Joint = j.joint(gate, pairs)
		switch {
		case math.IsNaN(j.Limit):
		case j.unusable():
			alone[i] = 1
		default:
			alone[i] = j.beyond(looks, typical, 1+j.Limit)
		}
		j.Placement, j.Own = j.placed.deviation, j.placed.own
		judged = append(judged, j)
	}
	beyond, sides := gate.Sides(alone, pairs, func(i int) bool {
		return judged[i].within(judged[i].Limit, looks) && !judged[i].exceedsLater(judged[i].Limit)
	})
	falseDiscoveries := stats.FalseDiscoveryRates(differs)
	for i := range judged {
		j := &judged[i]
		j.P, j.FalseDiscoveries, j.Beyond, j.Side = differs[i], falseDiscoveries[i], beyond[i], sides[i]
		if j.Side == stats.Open {
			j.explain()
		}
		if (j.Outcome == stats.Slower || j.Outcome == stats.Faster) && j.FalseDiscoveries > gate.FalseAlarms {
			j.Outcome, j.Why = stats.Undecided, fmt.Sprintf("among %d comparisons, each looked at several times, such a difference occurs by chance", len(all))
			if j.placed.layouts > 0 {
				j.Why += ", or by the order of functions"
			}
		}
		if (j.Outcome == stats.Same || j.Outcome == stats.Faster) && j.exceedsLater(2*plan.Precision) {
			j.Outcome, j.Why = stats.Undecided, j.whyLater()
		}
	}
	return judged
}

// A time is far beyond the limit if there are fewestFar pairs or more, and the ratio in each is above farTimes times
// the largest allowed ratio: no noise explains that.
const farTimes, fewestFar = 2, 3

// isFar reports whether the ratio of times is more than farTimes the limit in each pair, by its lower bound.
func (c *Comparison) isFar(limit float64) bool {
	return c.Metric == "" && c.pairs.Least() > farTimes*(1+limit)
}

// explain says why the side is undecided, if the interval is not the reason. What a benchmark reports itself may differ by any
// factor from run to run, so that only times are far beyond.
func (j *Judged) explain() {
	n := j.pairs.Len()
	if enough := n >= fewestFar || j.A.ranOnce() && j.B.ranOnce(); enough && j.isFar(j.Limit) {
		j.FarBeyond = true
		j.WhyOpen = fmt.Sprintf("the ratio is %.4g or more in all pairs measured (%d), far beyond the limit, but they are too few, or too disturbed, to rule out chance: give more %s",
			j.pairs.Least(), n, remedy.Of(remedy.MaxTime))
		return
	}
	if j.exceedsLater(j.Limit) {
		j.WhyOpen = j.whyLater()
	}
}

// beyond returns the chance of what was measured, in this comparison alone, if the true ratio is no more than
// the limit. Both have to be improbable: that the pairs lie beyond it by chance, and that the layouts do.
func (c *Comparison) beyond(looks stats.Looks, typical typicalPlacement, limit float64) float64 {
	if c.counts != nil {
		return c.counts.beyond(looks, limit)
	}
	return math.Max(c.pairs.Beyond(looks, limit), c.placed.beyond(typical, limit))
}

// differs returns the chance of what was measured, in this comparison alone, if both are equal.
func (c *Comparison) differs(looks stats.Looks, typical typicalPlacement) float64 {
	if c.counts != nil { // either test allows for the other side already
		return math.Min(looks.AboveUnpaired(c.counts.first, c.counts.second), looks.AboveUnpaired(c.counts.second, c.counts.first))
	}
	below := math.Max(c.pairs.Below(looks, 1), c.placed.below(typical, 1))
	return math.Min(1, 2*math.Min(c.beyond(looks, typical, 1), below))
}

// timesAmong counts the comparisons of times.
func timesAmong(all []Comparison) (n int) {
	for _, c := range all {
		if c.Metric == "" {
			n++
		}
	}
	return n
}

// joint returns the bounds that hold for all comparisons at once, for this number of pairs of
// benchmarks.
func (c *Comparison) joint(gate Gate, pairs int) stats.Joint {
	j := stats.Joint{Lo: math.NaN(), Hi: math.NaN(), FalseAlarms: gate.FalseAlarms, Comparisons: gate.Family(pairs)}
	if !c.unusable() {
		lo, hi := c.placed.bounds(gate.Chance(pairs) / max(1, c.placed.looks))
		j.Lo, j.Hi = c.pairs.Bounds(gate.LooksFor(pairs), gate.Chance(pairs))
		j.Lo, j.Hi = math.Min(j.Lo, lo), math.Max(j.Hi, hi)
	}
	return j
}

// within reports whether the comparison is within the limit: all of its exact counts are, if it has any, or the
// upper end of its 95 % interval is. The interval holds for this comparison alone, not for all comparisons of the
// suite together: a comparison that is within its limit raises no alarm, so that it can't raise a false one.
func (c *Comparison) within(limit float64, looks stats.Looks) bool {
	switch {
	case c.unusable():
		return false
	case c.counts != nil && c.counts.within(1+limit):
		return true
	}
	const chance = (1 - stats.Confidence) / 2
	_, hi := c.pairs.Bounds(looks, chance)
	_, inLayouts := c.placed.bounds(chance)
	return math.Max(hi, inLayouts) <= 1+limit
}

// side returns the side of the limit on which the comparison lies, judged alone, by the latest look; empty without a
// limit. Pairs after that look don't count yet, or there would be more looks than share the chance of an error.
func (c Comparison) side(plan Plan, pairs int) stats.Side {
	gate := plan.gate()
	limit, looks := gate.LimitOf(c.Metric), gate.LooksFor(pairs)
	seen := looks.Last(c.pairs.Len())
	c.pairs = c.pairs.First(seen)
	if c.counts != nil {
		c.counts = &counts{c.counts.first[:seen], c.counts.second[:seen], c.counts.strays}
	}
	switch {
	case math.IsNaN(limit):
		return ""
	case c.beyond(looks, typicalPlacement{}, 1+limit) <= gate.Chance(pairs):
		return stats.Beyond
	case c.within(limit, looks):
		return stats.Within
	}
	return stats.Open
}

// beyondInPairs reports whether the pairs alone, whatever the layouts say, are beyond the limit.
func (c *Comparison) beyondInPairs(plan Plan, pairs int) bool {
	gate := plan.gate()
	return c.counts == nil && !c.unusable() && c.pairs.Beyond(gate.LooksFor(pairs), 1+gate.LimitOf(c.Metric)) <= gate.Chance(pairs)
}

// seemsWithin is the confidence with which a comparison seems to be within its limit.
const seemsWithin = 0.8

// quiet reports whether the comparison seems to be within its limit, so that other comparisons need its time more.
// This does not raise the rate of false alarms: a sequence of pairs may end for any reason.
func (c *Comparison) quiet(plan Plan) bool {
	_, hi := stats.SignedRankBounds(c.pairs.Logs(), 1-seemsWithin)
	if c.Zeros > 0 {
		_, hi = c.pairs.LogBounds(1 - seemsWithin)
	}
	return hi <= math.Log1p(plan.gate().LimitOf(c.Metric))
}
