// Package changepoint finds where the level of a noisy series changed, and by how much.
//
// A series is a list of points, the oldest first, on a scale on which changes add up: usually
// logarithms, so that a change is a ratio. Each point may have a standard error of its own. A
// regime is a stretch of the series with one level; a change is where one regime ends and the
// next one begins.
//
// The noise between points is white noise, or noise that lasts (an autoregressive process of the
// first order, such as a slow week of the host), or both. Its shape and the regimes are chosen
// together, by penalised likelihood: what looks like a change if the noise has one shape is slow
// noise if it has another. The regimes are found by optimal partitioning (Killick, Fearnhead and
// Eckley, "Optimal Detection of Changepoints With a Linear Computational Cost", JASA 107, 2012).
// Then each change has to pass a permutation test of the innovations (each point minus its
// prediction from the points before it), which are exchangeable if nothing changed.
package changepoint

import "chronoscope/stats"

// Point is one measurement.
type Point struct {
	Value float64
	// StandardError is the standard error of the measurement, from its interval; 0 if it is not
	// known. Variation from one measurement to the next adds to it, and is estimated.
	StandardError float64
}

// Regime is a stretch of points with one level: the points from Start to End - 1.
type Regime struct {
	Start, End int
	Level      float64
	// StandardError is the standard error of Level.
	StandardError float64
}

// Change is a place in the series where the level changed.
type Change struct {
	// At is the index of the first point after the change. With a probability of 95 % the true first
	// point is one of First to Last.
	At, First, Last int
	// Shift is the level after the change minus the level before it.
	Shift stats.Estimate
	// PValue is the probability that noise alone, in a series without any change, makes a change
	// that looks as strong.
	PValue float64
}

// Noise describes how the points of a regime differ from its level.
type Noise struct {
	StandardDeviation float64
	// LastingShare is the share of the variance that comes from noise that lasts. Correlation is the
	// correlation of that noise between neighbouring points.
	LastingShare, Correlation float64
	// EquivalentPoints is the number of points with independent noise that would determine a level
	// as precisely.
	EquivalentPoints float64
}

// Result says into which regimes a series falls.
type Result struct {
	Regimes []Regime // at least one, in order, and without gaps
	Changes []Change // one less than there are regimes
	Noise   Noise
	// Outliers are points that differ from their neighbours on both sides. They are ignored.
	Outliers []int
}

const (
	// FewestPoints is the least number of points in which changes are looked for; a shorter series
	// is one regime.
	FewestPoints = 2 * ShortestRegime
	// ShortestRegime is the smallest number of points in a regime. A level that lasts for fewer
	// points is no regime: its points count as outliers or as noise. [TipOf] compares the newest
	// points of a series with the regime before them.
	ShortestRegime = 9
	// FalseChanges is the probability that a change is reported in a series without changes.
	FalseChanges = 1e-4
)
