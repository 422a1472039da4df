package changepoint

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// shape is a possible shape of noise: the share of its variance that lasts, and the correlation of
// that part between neighbours.
type shape struct{ lasting, correlation float64 }

func (s shape) parameters() float64 {
	switch s.lasting {
	case 0:
		return 0
	case 1:
		return 1
	}
	return 2
}

// shapes are the shapes of noise by which a series may be explained. White noise comes first.
var shapes = []shape{
	{0, 0}, {1, 0.2}, {1, 0.35}, {1, 0.5}, {1, 0.65}, {1, 0.8}, {1, 0.9},
	{0.5, 0.5}, {0.5, 0.7}, {0.5, 0.85}, {0.5, 0.95}, {0.25, 0.85}, {0.25, 0.95},
}

// A point is an outlier if it lies more than outlierLimit standard deviations off the median of its
// neighbours, outlierReach on each side. A regime shorter than half of these neighbours consists of
// outliers.
const (
	outlierLimit = 3.5
	outlierReach = ShortestRegime - 1
)

// outliers reports which points differ from the running median (Hampel's identifier). A running median
// follows steps, so that a step does not make outliers. In a second pass, the outliers of the first one
// are ignored, so that one disturbance does not hide another one nearby.
func outliers(points []Point) []bool {
	n := len(points)
	out := make([]bool, n)
	off, window := make([]float64, n), make([]float64, 0, n)
	for range 2 {
		for i := range points {
			window = window[:0]
			first := max(0, min(i-outlierReach, n-2*outlierReach-1)) // as many neighbours near the ends as elsewhere
			for k := first; k < min(n, first+2*outlierReach+1); k++ {
				if !out[k] || k == i {
					window = append(window, points[k].Value)
				}
			}
			off[i] = points[i].Value - stats.Median(window)
		}
		scale := stats.DeviationOfMAD * stats.MAD(off)
		for i, o := range off {
			out[i] = math.Abs(o) > outlierLimit*math.Hypot(scale, points[i].StandardError)
		}
	}
	return out
}

// whitened is a series after a filter that makes its noise white (the innovations of Kalman's filter).
// At an outlier all values are 0.
type whitened struct {
	shape
	innovations []float64 // divided by their standard deviations, except for one common factor
	responses   []float64 // the part of each innovation that a level of 1 causes
	logVariance float64   // the sum of the logarithms of the innovations' variances
	used        int       // number of points that are no outliers
	// equivalent is the number of points with independent noise and equal weight that would
	// determine a level as precisely (Kish).
	equivalent float64
	// scores[i] is the sum of responses times innovations over the points before i, weights[i] that
	// of squared responses.
	scores, weights []float64
}

// whiten filters a series whose noise has this shape and variance.
func whiten(points []Point, out []bool, s shape, variance float64) whitened {
	n := len(points)
	w := whitened{shape: s, innovations: make([]float64, n), responses: make([]float64, n), scores: make([]float64, n+1), weights: make([]float64, n+1)}
	lasting := s.lasting * variance
	origin := points[0].Value
	// predicted is the lasting part of the noise as predicted from the points so far; response is
	// the same prediction for a series whose points are all 1.
	predicted, response, uncertainty := 0.0, 0.0, lasting
	white, white2 := 0.0, 0.0 // sums of weights and of their squares, for white noise
	for i, p := range points {
		if !out[i] {
			v := uncertainty + variance - lasting + p.StandardError*p.StandardError
			innovation, answer := p.Value-origin-predicted, 1-response
			gain := uncertainty / v
			predicted += gain * innovation
			response += gain * answer
			uncertainty *= 1 - gain
			w.innovations[i], w.responses[i] = innovation/math.Sqrt(v), answer/math.Sqrt(v)
			w.logVariance += math.Log(v)
			w.used++
			weight := 1 / (variance + p.StandardError*p.StandardError)
			white += weight
			white2 += weight * weight
		}
		predicted *= s.correlation
		response *= s.correlation
		uncertainty = s.correlation*s.correlation*uncertainty + (1-s.correlation*s.correlation)*lasting
		w.scores[i+1] = w.scores[i] + w.responses[i]*w.innovations[i]
		w.weights[i+1] = w.weights[i] + w.responses[i]*w.responses[i]
	}
	if white > 0 {
		w.equivalent = w.weights[n] * white / white2 // Kish's white²/white2 points, times the share of their information that lasting noise leaves
	}
	return w
}

// gain returns by how much a level of its own reduces the sum of squares of the points from start to
// end - 1.
func (w whitened) gain(start, end int) float64 {
	weight := w.weights[end] - w.weights[start]
	if weight <= 0 {
		return 0
	}
	score := w.scores[end] - w.scores[start]
	return score * score / weight
}

// level returns the level of the points from start to end - 1, minus the value of the first point of
// the series.
func (w whitened) level(start, end int) float64 {
	return (w.scores[end] - w.scores[start]) / (w.weights[end] - w.weights[start])
}

// residuals returns the innovations minus the part that the levels of the regimes explain.
func (w whitened) residuals(ends []int) []float64 {
	all := make([]float64, len(w.innovations))
	start := 0
	for _, end := range ends {
		level := 0.0
		if w.weights[end] > w.weights[start] {
			level = w.level(start, end)
		}
		for i := start; i < end; i++ {
			all[i] = w.innovations[i] - w.responses[i]*level
		}
		start = end
	}
	return all
}

// mostPlaces is the largest number of places that are searched exactly. In longer series only every
// second, third ... place may be a change at first, because the time grows with the square.
const mostPlaces = 1000

// partition returns the ends of the regimes with the greatest total gain minus a penalty for each
// change: optimal partitioning, with the pruning of PELT.
func (w whitened) partition(penalty float64) []int {
	n := len(w.innovations)
	stride := 1 + n/mostPlaces
	best, last := make([]float64, n+1), make([]int, n+1)
	best[0] = penalty
	starts := []int{0}
	for end := ShortestRegime; end <= n; end++ {
		if end%stride != 0 && end != n {
			continue
		}
		best[end] = math.Inf(-1)
		for _, start := range starts {
			if total := best[start] + w.gain(start, end) - penalty; end-start >= ShortestRegime && total > best[end] {
				best[end], last[end] = total, start
			}
		}
		// A start that is worse than a change at end stays worse at all later ends, and is dropped
		// (the pruning of PELT), unless its regime is still too short.
		starts = slices.DeleteFunc(starts, func(start int) bool {
			return end-start >= ShortestRegime && best[start]+w.gain(start, end) < best[end]-penalty
		})
		starts = append(starts, end)
	}
	var ends []int
	for end := n; end > 0; end = last[end] {
		ends = append(ends, end)
	}
	slices.Reverse(ends)
	if stride > 1 {
		w.refine(ends, stride)
	}
	return ends
}

// refine moves each change to the best place near it.
func (w whitened) refine(ends []int, stride int) {
	start := 0
	for i := range len(ends) - 1 {
		next, best := ends[i+1], ends[i]
		for at := max(start+ShortestRegime, ends[i]-stride); at <= min(next-ShortestRegime, ends[i]+stride); at++ {
			if w.gain(start, at)+w.gain(at, next) > w.gain(start, best)+w.gain(best, next) {
				best = at
			}
		}
		ends[i], start = best, best
	}
}
