package record

import (
	"chronoscope/bisect"
	"chronoscope/gobench"
	"chronoscope/stats"
)

// Bisect is the document of a search for the commits that made something slower.
type Bisect struct {
	Header
	// Subject is the benchmark or the command that was measured.
	Subject string `json:"subject"`
	Good    string `json:"good"` // the good and the bad end, as the user named them
	Bad     string `json:"bad"`
	// Range is the number of commits after the good one, up to the bad one.
	Range   int            `json:"range"`
	Outcome bisect.Outcome `json:"outcome"`
	Why     string         `json:"why"`
	// Change is the ratio of the time at the bad end to the time at the good end.
	Change stats.Estimate `json:"change"`
	Steps  []BisectStep   `json:"steps"`
	// Commits are the commits that were measured, or could not be measured, in order.
	Commits []BisectCommit `json:"commits"`
	Builds  int            `json:"builds"`
}

// BisectStep is a change, with the commits that may have made it.
type BisectStep struct {
	bisect.Step
	// Commits are the candidates, the oldest first; if there are more than mostCandidates, only the
	// first and the last one.
	Commits []gobench.Commit `json:"commits"`
}

// BisectCommit is a commit that was measured, or could not be measured.
type BisectCommit struct {
	bisect.Measured
	gobench.Commit
}

// mostCandidates is how many candidates of a step are listed.
const mostCandidates = 100

// NewBisect returns the document of a search. history lists the commits, from the good end on.
func NewBisect(r bisect.Result, history []gobench.Commit) Bisect {
	d := Bisect{
		Range: len(history) - 1, Outcome: r.Outcome, Why: r.Why, Change: r.Change, Builds: r.Builds,
		Steps: []BisectStep{}, Commits: []BisectCommit{},
	}
	for _, s := range r.Steps {
		candidates := history[s.First : s.Last+1]
		if len(candidates) > mostCandidates {
			candidates = []gobench.Commit{history[s.First], history[s.Last]}
		}
		d.Steps = append(d.Steps, BisectStep{s, candidates})
	}
	for _, c := range r.Commits {
		d.Commits = append(d.Commits, BisectCommit{c, history[c.Number]})
	}
	return d
}
