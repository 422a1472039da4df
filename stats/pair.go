package stats

// Pair is a comparison of two named results, as a document holds it.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// Ratio is the time of B over that of A.
	Ratio   Estimate `json:"ratio"`
	PValue  Float    `json:"p_value"`
	Outcome Outcome  `json:"outcome"` // of B
	// Why says why the outcome is undecided.
	Why string `json:"why,omitempty"`
	// Joint bounds the ratio together with those of all pairs; nil in documents that are
	// older than it.
	Joint *PairJoint `json:"joint,omitempty"`
}

// PairJoint bounds a ratio so that those of all pairs hold at once: each end is wrong in any
// of them with a chance of FalseAlarms at most.
type PairJoint struct {
	Lo          Float   `json:"lo"` // missing where the repetitions are too few
	Hi          Float   `json:"hi"`
	FalseAlarms float64 `json:"false_alarms"`
	Comparisons int     `json:"comparisons"`
}

// NewPair is the comparison of a with b, and with all others that joint has.
func NewPair(a, b string, c Comparison, joint Joint) Pair {
	return Pair{
		A: a, B: b, Ratio: c.Ratio, PValue: FloatOf(c.P), Outcome: c.Outcome,
		Joint: &PairJoint{FloatOf(joint.Lo), FloatOf(joint.Hi), joint.FalseAlarms, joint.Comparisons},
	}
}
