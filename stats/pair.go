package stats

// Pair is a comparison of two named results in the form in which a document holds it.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// Metric is the unit of the compared metric; empty for the time. If the metric is a rate, the ratio
	// is inverted, so that above 1 is always worse.
	Metric string `json:"metric,omitempty"`
	// Ratio is the time, or the metric, of B divided by that of A.
	Ratio Estimate `json:"ratio"`
	// AsMeasured is the ratio on the machine as it was; nil if Ratio is the same. Ratio is that on an idle machine: it allows for
	// what shared cores and cold caches may have cost one of the two more than the other.
	AsMeasured *Estimate `json:"as_measured,omitempty"`
	PValue     Float     `json:"p_value"`
	Outcome    Outcome   `json:"outcome"` // of B
	// FalseDiscoveries is the expected share of false outcomes among all pairs whose P value is at most
	// this one's; missing if the pairs were not judged together.
	FalseDiscoveries Float `json:"false_discoveries,omitzero"`
	// Duets says that the two of each pair of measurements ran at the same time on one CPU, in turns of milliseconds.
	Duets bool `json:"duets,omitempty"`
	// NoDuets says why there were no duets, or no more of them; empty if nothing prevented them, or nobody asked for them.
	NoDuets string `json:"no_duets,omitempty"`
	// Zeros is the number of pairs of measurements in which a value of the metric is 0: see [Pairs.Compare].
	Zeros int `json:"zeros,omitempty"`
	// Placement is the effect of the order of functions in the binaries; nil if only one order was
	// measured.
	Placement *PairPlacement `json:"placement,omitempty"`
	// Why says why the outcome is undecided.
	Why string `json:"why,omitempty"`
	// Joint bounds the ratio so that the bounds of all pairs hold at once; nil in older documents.
	Joint *PairJoint `json:"joint,omitempty"`
}

// Side returns the side of the limit on which the ratio lies; empty if the pairs were not judged together.
func (p Pair) Side() Side {
	if p.Joint == nil {
		return ""
	}
	return p.Joint.Side
}

// Limit returns the slowdown that is allowed, as a share; missing if the pairs were not judged together.
func (p Pair) Limit() Float {
	if p.Side() == "" {
		return Float{}
	}
	return p.Joint.Limit
}

// PairPlacement says how far the ratio depends on the order of functions in memory.
type PairPlacement struct {
	Layouts   int   `json:"layouts"`
	Deviation Float `json:"deviation"` // relative standard deviation of the ratio between layouts
	Own       Float `json:"own"`       // the ratio in the usual layout only
}

// PairJoint bounds a ratio such that the bounds of all pairs hold at once: the probability that any
// lower bound is wrong is at most FalseAlarms, and the same holds for the upper bounds.
type PairJoint struct {
	Lo          Float   `json:"lo"` // missing if there are too few repetitions
	Hi          Float   `json:"hi"`
	FalseAlarms float64 `json:"false_alarms"`
	Comparisons int     `json:"comparisons"`
	// Beyond is the P value of the hypothesis that the ratio is at most 1 + Limit, adjusted for all
	// looks and all pairs. Limit and Beyond are missing if the pairs were not judged together.
	Limit  Float `json:"limit,omitzero"`
	Beyond Float `json:"p_beyond_limit,omitzero"`
	// Side is the side of the limit on which the ratio lies; empty if the pairs were not judged together.
	Side Side `json:"side,omitempty"`
	// Why says why the side is undecided, if the interval of the ratio is not the reason.
	Why string `json:"why,omitempty"`
	// FarBeyond says that the side is undecided, though each pair of times is beyond twice the limit by its lower bound.
	FarBeyond bool `json:"far_beyond,omitempty"`
}

// Side is the side of a limit on which a ratio lies.
type Side string

// The sides. A ratio is beyond the limit if its adjusted P value is at most the suite's probability of false
// alarms. It is within the limit if, at any look, the upper bound of its own 95 % interval is at most the
// limit.
const (
	Within Side = "within"
	Beyond Side = "beyond"
	Open   Side = "undecided"
)

// NewPair returns the comparison of b with a, with the bounds that hold for all pairs. A ratio or bound that is infinite, because
// values are 0, is missing.
func NewPair(a, b string, c Comparison, joint Joint) Pair {
	for _, x := range []*float64{&c.Ratio.Value, &c.Ratio.Lo, &c.Ratio.Hi} {
		*x = FloatOf(*x).Value()
	}
	return Pair{
		A: a, B: b, Ratio: c.Ratio, PValue: FloatOf(c.P), Outcome: c.Outcome, Zeros: c.Zeros,
		Joint: &PairJoint{Lo: FloatOf(joint.Lo), Hi: FloatOf(joint.Hi), FalseAlarms: joint.FalseAlarms, Comparisons: joint.Comparisons},
	}
}
