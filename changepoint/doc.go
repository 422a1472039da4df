// Package changepoint finds where the level of a noisy series changed, and by how much.
//
// A series is a list of points, the oldest first, on a scale on which changes add up: usually
// logarithms, so that a change is a ratio. Each point may have a standard error of its own. A
// regime is a stretch of the series with one level; a change is where one regime ends and the
// next one begins.
//
// The noise between points is white noise, or noise that lasts (an autoregressive process of the
// first order, such as a slow week of the host), or both. Its shape and the regimes are chosen
// together, by penalised likelihood: what is taken for a change under one shape is slow noise
// under another. The regimes are those of optimal partitioning (Killick, Fearnhead and Eckley,
// "Optimal Detection of Changepoints With a Linear Computational Cost", JASA 107, 2012), and
// each change then has to pass a permutation test of the innovations, which are exchangeable
// where nothing changed.
package changepoint

import "chronoscope/stats"

// Point is one measurement.
type Point struct {
	Value float64
	// StandardError is that of the measurement itself, as its interval tells; 0 where it is not
	// known. What differs from one measurement to the next comes on top, and is estimated.
	StandardError float64
}

// Regime is a stretch of points with one level: those from Start to before End.
type Regime struct {
	Start, End int
	Level      float64
	// StandardError is the standard error of Level.
	StandardError float64
}

// Change is where the level changed.
type Change struct {
	// At is the first point after the change. With a probability of 95 % the first point after
	// the change is one of First to Last.
	At, First, Last int
	// Shift is the level after the change less the level before it.
	Shift stats.Estimate
	// PValue is the probability that noise alone, without any change in the series, makes
	// a change that looks as strong.
	PValue float64
}

// Noise is how the points of a regime differ from its level.
type Noise struct {
	StandardDeviation float64
	// LastingShare is the share of the variance that is noise that lasts, and Correlation is
	// that between neighbours of this part.
	LastingShare, Correlation float64
	// EquivalentPoints is the number of points with independent noise that would tell as much.
	EquivalentPoints float64
}

// Result is the result for a series.
type Result struct {
	Regimes []Regime // at least one, in order, and without gaps
	Changes []Change // one less than regimes
	Noise   Noise
	// Outliers are points that differ from their neighbours on both sides. They count for nothing.
	Outliers []int
}

const (
	// FewestPoints are needed to look for changes; a shorter series is one regime.
	FewestPoints = 2 * ShortestRegime
	// ShortestRegime is the smallest number of points in a regime. A level that lasts for fewer
	// points counts as a disturbance within the series; at its end, [Tip] finds it.
	ShortestRegime = 9
	// FalseChanges is the probability with which a series without changes is said to have one.
	FalseChanges = 1e-4
)
