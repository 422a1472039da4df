package bisect

import (
	"context"
	"math/bits"

	"chronoscope/stats"
)

// Plan says how the search goes.
type Plan struct {
	// Error is the chance that a search names a wrong commit, or any commit where nothing changed.
	Error float64
	// Limit is the share by which the bad end has to be slower at least.
	Limit float64
	// Faster looks for what became faster.
	Faster bool
	// MostBuilds is how many commits are built at most, both ends included; 0 stands for what a
	// search of this length usually takes and six more for each step.
	MostBuilds int
	// MostPairs is how often a commit is measured at most.
	MostPairs int
	// Progress is told of each state of the search; it may be nil.
	Progress func(Result)
}

// DefaultPlan is the usual one.
var DefaultPlan = Plan{Error: 0.02, Limit: 0.01, MostPairs: 600}

// spareBuilds are those beyond one for each halving.
const spareBuilds = 6

// mostBuilds is the limit where so many steps were found among this many commits.
func (p Plan) mostBuilds(commits, steps int) int {
	if p.MostBuilds > 0 {
		return p.MostBuilds
	}
	return (spareBuilds + bits.Len(uint(commits-1))) * max(1, steps)
}

// Measurer compares commits with the good end, which is commit 0.
type Measurer interface {
	// Compare returns about n more pairs of the good end, first, and a commit. It returns none where
	// the time for this commit is used up. A [SkipError] says that it can't be measured.
	Compare(ctx context.Context, commit, n int) (stats.Pairs, error)
}

// SkipError says why a commit can't be measured.
type SkipError struct{ Why error }

// Error is the reason.
func (e *SkipError) Error() string { return e.Why.Error() }

// Unwrap is the reason.
func (e *SkipError) Unwrap() error { return e.Why }
