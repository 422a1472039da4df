package stats

// Pair is a comparison of two named results, as a document holds it.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// Metric is the unit of what is compared; empty for the time. Of a rate the ratio is turned round,
	// so that above 1 is worse.
	Metric string `json:"metric,omitempty"`
	// Ratio is the time, or the metric, of B over that of A.
	Ratio   Estimate `json:"ratio"`
	PValue  Float    `json:"p_value"`
	Outcome Outcome  `json:"outcome"` // of B
	// FalseDiscoveries is the share of false ones among all pairs whose outcome is as sure as this
	// one's; missing where the pairs were not judged together.
	FalseDiscoveries Float `json:"false_discoveries,omitzero"`
	// Placement is what the order of the functions in the binaries does; nil where there was one order.
	Placement *PairPlacement `json:"placement,omitempty"`
	// Why says why the outcome is undecided.
	Why string `json:"why,omitempty"`
	// Joint bounds the ratio together with those of all pairs; nil in documents that are
	// older than it.
	Joint *PairJoint `json:"joint,omitempty"`
}

// PairPlacement is how far the ratio depends on where functions lie in memory.
type PairPlacement struct {
	Layouts   int   `json:"layouts"`
	Deviation Float `json:"deviation"` // standard deviation of the ratio from layout to layout, as a share
	Own       Float `json:"own"`       // the ratio in the usual layout alone
}

// PairJoint bounds a ratio so that those of all pairs hold at once: each end is wrong in any
// of them with a chance of FalseAlarms at most.
type PairJoint struct {
	Lo          Float   `json:"lo"` // missing where the repetitions are too few
	Hi          Float   `json:"hi"`
	FalseAlarms float64 `json:"false_alarms"`
	Comparisons int     `json:"comparisons"`
	// Beyond is the chance of what was measured, in any of all pairs and whenever it is looked at, if
	// the ratio is no more than 1 + Limit; both are missing where the pairs were not judged together.
	Limit  Float `json:"limit,omitzero"`
	Beyond Float `json:"p_beyond_limit,omitzero"`
	// Side is that of the limit on which the ratio lies; empty where the pairs were not judged together.
	Side Side `json:"side,omitempty"`
}

// Side is the side of a limit on which a ratio lies.
type Side string

// The sides. A ratio is beyond the limit where the suite as a whole is sure of that, and within it
// where its own interval is, whenever it is looked at.
const (
	Within Side = "within"
	Beyond Side = "beyond"
	Open   Side = "undecided"
)

// NewPair is the comparison of a with b, and with all others that joint has.
func NewPair(a, b string, c Comparison, joint Joint) Pair {
	return Pair{
		A: a, B: b, Ratio: c.Ratio, PValue: FloatOf(c.P), Outcome: c.Outcome,
		Joint: &PairJoint{Lo: FloatOf(joint.Lo), Hi: FloatOf(joint.Hi), FalseAlarms: joint.FalseAlarms, Comparisons: joint.Comparisons},
	}
}
