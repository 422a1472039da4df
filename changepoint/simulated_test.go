package changepoint

import (
	"math"
	"math/rand/v2"
)

// simulated is a series with known changes, in units of the noise's standard deviation.
type simulated struct {
	points []Point
	steps  map[int]float64 // first point after a change: shift
	reach  int             // the largest distance at which a change counts as found; 0 means near
}

// within returns the largest number of points between a found change and its true place.
func (s simulated) within() int {
	if s.reach > 0 {
		return s.reach
	}
	return near
}

// noiseKinds are the kinds of simulated noise. Without added outliers or bursts, all have about the
// standard deviation 1.
var noiseKinds = []string{"white", "ar0.2", "ar0.4", "ar0.6", "ar0.8", "slow week", "heavy tails", "outliers", "bursts", "unequal intervals"}

var correlations = map[string]float64{"ar0.2": 0.2, "ar0.4": 0.4, "ar0.6": 0.6, "ar0.8": 0.8}

// simulate draws a series with the given noise and steps.
func simulate(r *rand.Rand, n int, kind string, steps map[int]float64) simulated {
	s := simulated{points: make([]Point, n), steps: steps}
	rho := correlations[kind]
	lasting, level, burst, calm, height := r.NormFloat64(), 0.0, 0, 0, 0.0
	for i := range s.points {
		level += steps[i]
		noise := r.NormFloat64()
		standardError := 0.0
		switch kind {
		case "ar0.2", "ar0.4", "ar0.6", "ar0.8":
			lasting = rho*lasting + math.Sqrt(1-rho*rho)*noise
			noise = lasting
		case "slow week": // half of the variance lasts for about a week of daily points
			lasting = 0.85*lasting + math.Sqrt(1-0.85*0.85)*r.NormFloat64()
			noise = (noise + lasting) / math.Sqrt2
		case "heavy tails": // Student's with 3 degrees of freedom, scaled to a variance of 1
			chi := 0.0
			for range 3 {
				x := r.NormFloat64()
				chi += x * x
			}
			noise = noise / math.Sqrt(chi/3) / math.Sqrt(3)
		case "outliers":
			if r.Float64() < 0.05 {
				noise += 4 + 6*r.Float64()
			}
		case "bursts":
			calm--
			if calm < 0 && r.Float64() < 0.02 { // a longer burst, or one that follows soon, would be a regime
				burst, height = 2+r.IntN(4), 4+4*r.Float64()
				calm = burst + 2*ShortestRegime
			}
			if burst > 0 {
				burst--
				noise += height
			}
		case "unequal intervals": // half of the variance is known to be the measurement's, on average
			standardError = math.Exp(r.NormFloat64()/2) * 0.6
			noise = noise*0.64 + r.NormFloat64()*standardError
		}
		s.points[i] = Point{Value: level + noise, StandardError: standardError}
	}
	return s
}

// tally counts what was found in simulated series.
type tally struct {
	series, steps, found, exact int
	wrong, seriesWrong          int
	sizes, covered              int
	placesCovered               int
	width                       float64
}

func (t *tally) add(other tally) {
	t.series += other.series
	t.steps += other.steps
	t.found += other.found
	t.exact += other.exact
	t.wrong += other.wrong
	t.seriesWrong += other.seriesWrong
	t.sizes += other.sizes
	t.covered += other.covered
	t.placesCovered += other.placesCovered
	t.width += other.width
}

// near is the number of commits by which a change may be off its true place.
const near = 3

// count adds the changes that were found in one series.
func (t *tally) count(s simulated, places []int) (matched map[int]int) {
	t.series++
	t.steps += len(s.steps)
	matched = map[int]int{}
	wrong := 0
	for i, at := range places {
		best := -1
		for step := range s.steps {
			if abs(at-step) <= s.within() && (best < 0 || abs(at-step) < abs(at-best)) {
				best = step
			}
		}
		if best < 0 {
			wrong++
			continue
		}
		matched[i] = best
	}
	hit := map[int]bool{}
	for i, step := range matched {
		if !hit[step] {
			t.found++
		}
		hit[step] = true
		if places[i] == step {
			t.exact++
		}
	}
	t.wrong += wrong
	if wrong > 0 {
		t.seriesWrong++
	}
	return matched
}

func abs(x int) int { return max(x, -x) }

// countFound adds a result, including its intervals.
func (t *tally) countFound(s simulated, r Result) {
	var places []int
	for _, c := range r.Changes {
		places = append(places, c.At)
	}
	for i, step := range t.count(s, places) {
		c := r.Changes[i]
		t.sizes++
		if c.Shift.Covers(s.steps[step]) {
			t.covered++
		}
		if c.First <= step && step <= c.Last {
			t.placesCovered++
		}
		t.width += c.Shift.HalfWidth()
	}
}
