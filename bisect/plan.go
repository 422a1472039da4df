package bisect

import (
	"context"
	"math/bits"

	"chronoscope/stats"
)

// Plan says how the search goes.
type Plan struct {
	// Error is the chance that a search names a wrong commit, or names any commit although nothing changed.
	Error float64
	// Limit is the share by which the bad end has to be slower at least.
	Limit float64
	// Faster says to look for what became faster instead.
	Faster bool
	// MostBuilds is the largest number of commits that are built, both ends included. 0 stands for the number
	// that a search of this length usually takes and six more, for each step.
	MostBuilds int
	// MostPairs is the largest number of pairs of a commit.
	MostPairs int
	// Progress is called with each state of the search; it may be nil.
	Progress func(Result)
}

// DefaultPlan is the usual plan.
var DefaultPlan = Plan{Error: 0.02, Limit: 0.01, MostPairs: 600}

// spareBuilds is the number of builds that are allowed per step, beyond one for each halving of the range of commits.
const spareBuilds = 6

// mostBuilds returns the largest number of commits to build. commits is the number of commits after the good
// end, steps the expected number of steps.
func (p Plan) mostBuilds(commits, steps int) int {
	if p.MostBuilds > 0 {
		return p.MostBuilds
	}
	return (spareBuilds + bits.Len(uint(commits-1))) * max(1, steps)
}

// Measurer compares commits with the good end, which is commit 0.
type Measurer interface {
	// Compare makes about n more pairs, each of the good end, first, and the commit. It makes none if the
	// time for this commit is used up. A [SkipError] says that the commit can't be measured.
	Compare(ctx context.Context, commit, n int) (Pairs, error)
}

// Pairs are more pairs of a commit, and what all of its pairs so far tell about its place in memory.
type Pairs struct {
	stats.Pairs
	// Layouts is the number of builds of the commit, and of the good end, in which functions lie in different random
	// orders, drawn for this commit. Scatter is the standard deviation of the logarithms of their ratios. 0 stands for
	// one build of each.
	Layouts int
	Scatter float64
}

// SkipError says why a commit can't be measured.
type SkipError struct{ Why error }

// Error returns the reason.
func (e *SkipError) Error() string { return e.Why.Error() }

// Unwrap returns the reason.
func (e *SkipError) Unwrap() error { return e.Why }
