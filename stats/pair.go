package stats

// Pair is a comparison of two named results, as a document holds it.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// Metric is the unit of the metric that is compared; empty for the time. The ratio of a rate is
	// inverted, so that above 1 is worse.
	Metric string `json:"metric,omitempty"`
	// Ratio is the time, or the metric, of B over that of A.
	Ratio   Estimate `json:"ratio"`
	PValue  Float    `json:"p_value"`
	Outcome Outcome  `json:"outcome"` // of B
	// FalseDiscoveries is the expected share of false outcomes among all pairs whose P value is at most
	// this one's; missing if the pairs were not judged together.
	FalseDiscoveries Float `json:"false_discoveries,omitzero"`
	// Placement is the effect of the order of functions in the binaries; nil if there was one order only.
	Placement *PairPlacement `json:"placement,omitempty"`
	// Why says why the outcome is undecided.
	Why string `json:"why,omitempty"`
	// Joint bounds the ratio so that the bounds of all pairs hold at once; nil in older documents.
	Joint *PairJoint `json:"joint,omitempty"`
}

// PairPlacement says how far the ratio depends on the order of functions in memory.
type PairPlacement struct {
	Layouts   int   `json:"layouts"`
	Deviation Float `json:"deviation"` // standard deviation of the ratio from layout to layout, as a share
	Own       Float `json:"own"`       // the ratio in the usual layout only
}

// PairJoint bounds a ratio so that the bounds of all pairs hold at once: the chance that any lower
// bound is wrong is at most FalseAlarms, and so for the upper bounds.
type PairJoint struct {
	Lo          Float   `json:"lo"` // missing where the repetitions are too few
	Hi          Float   `json:"hi"`
	FalseAlarms float64 `json:"false_alarms"`
	Comparisons int     `json:"comparisons"`
	// Beyond is the P value for a ratio above 1 + Limit, adjusted for all looks and all pairs; both
	// are missing if the pairs were not judged together.
	Limit  Float `json:"limit,omitzero"`
	Beyond Float `json:"p_beyond_limit,omitzero"`
	// Side is the side of the limit on which the ratio lies; empty if the pairs were not judged together.
	Side Side `json:"side,omitempty"`
}

// Side is the side of a limit on which a ratio lies.
type Side string

// The sides. A ratio is beyond the limit if its adjusted P value is at most the suite's rate of false
// alarms, and within it if the upper end of its own 95 % interval is, at any look.
const (
	Within Side = "within"
	Beyond Side = "beyond"
	Open   Side = "undecided"
)

// NewPair returns the comparison of b with a, with the bounds that hold for all pairs.
func NewPair(a, b string, c Comparison, joint Joint) Pair {
	return Pair{
		A: a, B: b, Ratio: c.Ratio, PValue: FloatOf(c.P), Outcome: c.Outcome,
		Joint: &PairJoint{Lo: FloatOf(joint.Lo), Hi: FloatOf(joint.Hi), FalseAlarms: joint.FalseAlarms, Comparisons: joint.Comparisons},
	}
}
