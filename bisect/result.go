package bisect

import "chronoscope/stats"

// Outcome says how a search ended.
type Outcome string

// The outcomes.
const (
	Found    Outcome = "found"     // each step is narrowed to one commit, or to neighbours that can't be measured
	NoChange Outcome = "no-change" // the bad end is not slower by more than the limit
	Opposite Outcome = "opposite"  // the bad end is faster, or slower if Plan.Faster asks for what became faster
	CantTell Outcome = "cant-tell" // Steps has what is known
)

// Result is the result of a search. Commits have numbers; 0 is the good end.
type Result struct {
	Outcome Outcome `json:"outcome"` // empty while the search goes on
	// Why explains an outcome.
	Why string `json:"why"`
	// Placed says why it can't be told whether the ends differ: the place of their code in memory matters as much. More pairs
	// don't help.
	Placed bool `json:"-"`
	// Change is the time of the bad end divided by that of the good one.
	Change stats.Estimate `json:"change"`
	// Steps are in order. Those that are not found are possible ones.
	Steps []Step `json:"steps"`
	// Commits has those that were measured, or could not be, in order.
	Commits []Measured `json:"commits"`
	// Builds counts the commits that were tried, both ends included.
	Builds int `json:"builds"`
}

// Step is a change between two neighbours among the commits that were measured.
type Step struct {
	// One of the commits from First to Last made the change. First and Last are equal if it is known which
	// one.
	First int `json:"first"`
	Last  int `json:"last"`
	// Probability is the probability of a change there.
	Probability float64 `json:"probability"`
	// Found says that the probability is high enough for [Plan.Error].
	Found bool `json:"found"`
	// Ratio is the time after the change divided by that before.
	Ratio stats.Estimate `json:"ratio"`
}

// Measured is a commit that was measured, or could not be.
type Measured struct {
	Number int `json:"number"`
	// Ratio is the commit's time divided by that of the good end.
	Ratio stats.Estimate `json:"ratio"`
	// Skipped says why the commit could not be measured; empty if it was.
	Skipped string `json:"skipped,omitempty"`
}
