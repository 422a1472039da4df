package changepoint

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// shape is what noise may be: the share of its variance that lasts, and the correlation between
// neighbours of this part.
type shape struct{ lasting, correlation float64 }

// parameters is how many numbers describe the shape.
func (s shape) parameters() float64 {
	switch s.lasting {
	case 0:
		return 0
	case 1:
		return 1
	}
	return 2
}

// shapes are those that are tried. White noise comes first.
var shapes = []shape{
	{0, 0}, {1, 0.2}, {1, 0.35}, {1, 0.5}, {1, 0.65}, {1, 0.8}, {1, 0.9},
	{0.5, 0.5}, {0.5, 0.7}, {0.5, 0.85}, {0.5, 0.95}, {0.25, 0.85}, {0.25, 0.95},
}

// outlierLimit is how many standard deviations a point lies off the median of its neighbours
// before it is an outlier, and outlierReach how many neighbours on each side count. Shorter regimes than
// the half of these are outliers.
const (
	outlierLimit = 3.5
	outlierReach = ShortestRegime - 1
)

// madToSD is the standard deviation of a normal distribution over its median absolute deviation.
const madToSD = 1.4826

// outliers are the points that differ from the running median (Hampel's identifier). A running
// median follows steps, so that these make no outliers. The second time, the outliers of the
// first time don't count, so that one disturbance does not hide another nearby.
func outliers(points []Point) []bool {
	n := len(points)
	out := make([]bool, n)
	off, window := make([]float64, n), make([]float64, 0, n)
	for range 2 {
		for i := range points {
			window = window[:0]
			first := max(0, min(i-outlierReach, n-2*outlierReach-1)) // near the ends as many neighbours as elsewhere
			for k := first; k < min(n, first+2*outlierReach+1); k++ {
				if !out[k] || k == i {
					window = append(window, points[k].Value)
				}
			}
			off[i] = points[i].Value - stats.Median(window)
		}
		scale := madToSD * stats.MAD(off)
		for i, o := range off {
			out[i] = math.Abs(o) > outlierLimit*math.Hypot(scale, points[i].StandardError)
		}
	}
	return out
}

// whitened is a series after a filter that makes its noise white (the innovations of Kalman's
// filter). At an outlier all is 0.
type whitened struct {
	shape
	innovations []float64 // divided by their standard deviations, up to one common factor
	responses   []float64 // of the innovations to a level of 1
	logVariance float64   // the sum of the logarithms of the innovations' variances
	used        int       // points that are no outliers
	// equivalent is how many points of equal weight (Kish), with independent noise, would tell as
	// much of a level.
	equivalent float64
	// Sums of responses times innovations, and of squares of responses, over the points before i.
	scores, weights []float64
}

// whiten filters a series whose noise has this shape and variance.
func whiten(points []Point, out []bool, s shape, variance float64) whitened {
	n := len(points)
	w := whitened{shape: s, innovations: make([]float64, n), responses: make([]float64, n), scores: make([]float64, n+1), weights: make([]float64, n+1)}
	lasting := s.lasting * variance
	origin := points[0].Value
	// What is predicted of the lasting part of the noise, from the points and from a level of 1.
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
		w.equivalent = w.weights[n] * white / white2 // white * white / white2 points, times weights[n] / white
	}
	return w
}

// gain is by how much a level of their own brings down the sum of squares of the points from
// start to before end.
func (w whitened) gain(start, end int) float64 {
	weight := w.weights[end] - w.weights[start]
	if weight <= 0 {
		return 0
	}
	score := w.scores[end] - w.scores[start]
	return score * score / weight
}

// level is that of the points from start to before end, less the value of the first point of the series.
func (w whitened) level(start, end int) float64 {
	return (w.scores[end] - w.scores[start]) / (w.weights[end] - w.weights[start])
}

// residuals are the innovations less what the levels of the regimes make of them.
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

// mostPlaces are looked at exactly; of longer series only every second, third ... place may be a
// change at first, since the time grows with the square.
const mostPlaces = 1000

// partition is where the regimes end that have the most gain, less a penalty for each change:
// optimal partitioning, with the pruning of PELT.
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
		// A start that is no better than a change here will not be later on, but for regimes that would be too short.
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

// refine moves each change to the best place nearby.
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
