package gobench

import (
	"cmp"
	"fmt"
	"math"

	"chronoscope/stats"
)

// Gate is how much longer the second benchmark of a group may take than the first.
type Gate struct {
	// Limit is the share, such as 0.05.
	Limit float64
	// FalseAlarms is the chance with which a suite in which nothing takes longer than that is failed;
	// 0 is [stats.FalseAlarms].
	FalseAlarms float64
}

// gate is that of the plan. Where it has none, a comparison is held against no slowdown at all.
func (p Plan) gate() Gate {
	if p.Gate == nil {
		return Gate{FalseAlarms: stats.FalseAlarms}
	}
	return Gate{p.Gate.Limit, cmp.Or(p.Gate.FalseAlarms, stats.FalseAlarms)}
}

// looksFor are the looks at each of so many comparisons.
func (g Gate) looksFor(comparisons int) stats.Looks {
	return stats.LooksFor(g.FalseAlarms / float64(max(1, comparisons)))
}

// Judged is a comparison as one of a suite.
type Judged struct {
	Comparison
	// Joint bounds the ratio so that the bounds of the whole suite hold at once, whenever the
	// measurement was ended; NaN where the pairs are too few.
	Joint stats.Joint
	// Limit is that of the gate. Beyond is the chance of what was measured, in any comparison of the
	// suite, if the ratio is within it.
	Limit, Beyond float64
	Side          stats.Side
	// FalseDiscoveries is the share of false ones among those that are found to differ and are as
	// sure as this one.
	FalseDiscoveries float64
}

// mostFalse is the share of the comparisons that are called slower or faster which may be false.
const mostFalse = 1 - stats.Confidence

// Judge holds the comparisons of a suite against a gate, and against one another: the more there
// are, the surer each has to be to count.
func Judge(all []Comparison, plan Plan) (judged []Judged) {
	gate, looks := plan.gate(), plan.gate().looksFor(len(all))
	beyond, differs := make([]float64, len(all)), make([]float64, len(all))
	for i := range all {
		beyond[i], differs[i] = 1, 1
		if pairs := &all[i].pairs; !all[i].unusable() {
			beyond[i] = pairs.Beyond(looks, 1+gate.Limit)
			differs[i] = math.Min(1, 2*math.Min(pairs.Beyond(looks, 1), pairs.Below(looks, 1)))
		}
	}
	allBeyond, falseDiscoveries := stats.Holm(beyond), stats.FalseDiscoveryRates(differs)
	for i, c := range all {
		j := Judged{Comparison: c, Limit: gate.Limit, Beyond: allBeyond[i], FalseDiscoveries: falseDiscoveries[i], Joint: c.joint(gate, len(all)), Side: stats.Open}
		switch {
		case j.Beyond <= gate.FalseAlarms:
			j.Side = stats.Beyond
		case !c.unusable() && c.within(gate, looks):
			j.Side = stats.Within
		}
		j.P = differs[i]
		if (j.Outcome == stats.Slower || j.Outcome == stats.Faster) && j.FalseDiscoveries > mostFalse {
			j.Outcome, j.Why = stats.Undecided, fmt.Sprintf("among %d comparisons, each looked at several times, a difference like this comes by chance", len(all))
		}
		judged = append(judged, j)
	}
	return judged
}

// joint are the bounds that hold for all of so many comparisons.
func (c *Comparison) joint(gate Gate, comparisons int) stats.Joint {
	j := stats.Joint{Lo: math.NaN(), Hi: math.NaN(), FalseAlarms: gate.FalseAlarms, Comparisons: comparisons}
	if !c.unusable() {
		j.Lo, j.Hi = c.pairs.Bounds(gate.looksFor(comparisons), gate.FalseAlarms/float64(max(1, comparisons)))
	}
	return j
}

// within reports whether the ratio is within the limit. That raises no alarm, so that it need not
// hold for the whole suite.
func (c *Comparison) within(gate Gate, looks stats.Looks) bool {
	_, hi := c.pairs.Bounds(looks, (1-stats.Confidence)/2)
	return hi <= 1+gate.Limit
}

// settled reports whether more pairs would change nothing: it is known on which side of the limit
// the ratio lies, or where it lies as closely as the plan asks.
func (c *Comparison) settled(plan Plan, comparisons int) bool {
	gate := plan.gate()
	looks := gate.looksFor(comparisons)
	if c.pairs.Beyond(looks, 1+gate.Limit)*float64(comparisons) <= gate.FalseAlarms {
		return true
	}
	lo, hi := c.pairs.Bounds(looks, (1-stats.Confidence)/2)
	return c.within(gate, looks) || hi-lo <= 2*plan.Precision
}
