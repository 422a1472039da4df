package kbest

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// overhead is what measuring itself takes, in nanoseconds.
type overhead struct {
	// clockNs is the clock's cost within the timed region of each sample.
	clockNs float64
	// clockSE is the standard error of clockNs.
	clockSE float64
	// jitterNs has the differences of single empty trials from clockNs, without the rounding of the readings.
	jitterNs []float64
	// lookNs is the median of the samples' CPU time outside of the timed region. lookSpreadNs is the distance
	// from this median to the 90th percentile.
	lookNs, lookSpreadNs float64
	// counted is the number of cycles that a hardware counter counts in each sample beyond those of the calls.
	counted float64
}

// leastNs returns the least that the clock's cost in a sample can be.
func (o overhead) leastNs() float64 { return o.clockNs + slices.Min(o.jitterNs) }

const (
	emptyTrials = 256
	emptyLooks  = 48
)

// overhead measures empty trials.
func (s *Station) overhead() overhead {
	nothing := func(int) {}
	var o overhead
	empty := make([]float64, 0, emptyTrials)
	for range emptyTrials {
		start := s.Clock.Start()
		nothing(0)
		empty = append(empty, s.Clock.Ns(s.Clock.End()-start))
	}
	calm := calmOnes(empty, s.Clock.AccuracyNs)
	o.clockNs, o.clockSE = meanOf(calm)
	o.clockSE = math.Hypot(o.clockSE, s.Clock.AccuracyNs/math.Sqrt(6*float64(len(calm))))
	o.jitterNs = jitter(calm, s.Clock.AccuracyNs)
	looks, counted := make([]float64, 0, emptyLooks), make([]float64, 0, emptyLooks)
	for range emptyLooks {
		before := s.look()
		cycles := ask(s.Counted, 0)
		start := s.Clock.Start()
		nothing(0)
		end := s.Clock.End()
		counted = append(counted, float64(ask(s.Counted, 0)-cycles))
		after := s.look()
		if use := after.Since(before); use.InvoluntarySwitches+use.VoluntarySwitches == 0 {
			looks = append(looks, float64(use.CPUNs)-s.Clock.Ns(end-start))
		}
	}
	slices.Sort(counted)
	o.counted = stats.Quantile(counted, 0.5)
	if len(looks) > 0 {
		slices.Sort(looks)
		o.lookNs = stats.Quantile(looks, 0.5)
		o.lookSpreadNs = stats.Quantile(looks, 0.9) - o.lookNs
	}
	return o
}

// calmOnes returns the values that are not far above the median. The others were interrupted.
func calmOnes(values []float64, accuracy float64) []float64 {
	slices.Sort(values)
	median := stats.Quantile(values, 0.5)
	n, _ := slices.BinarySearch(values, 2*median+3*accuracy)
	return values[:max(n, len(values)/2)]
}

// meanOf returns the mean and its standard error. It is a mean, since the values are rounded to the clock's
// accuracy, and their median can be off by all of it.
func meanOf(values []float64) (mean, standardError float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		standardError += (v - mean) * (v - mean) / n / n
	}
	return mean, math.Sqrt(standardError)
}

// jitter returns the differences of the values from their mean, reduced by what rounding adds. Rounding two
// readings adds a sixth of the squared accuracy to the variance, on average over all lengths.
func jitter(values []float64, accuracy float64) []float64 {
	mean, standardError := meanOf(values)
	variance := standardError * standardError * float64(len(values))
	shrink := math.Sqrt(math.Max(0, 1-accuracy*accuracy/6/variance))
	if variance == 0 {
		shrink = 0
	}
	var departures []float64
	for _, v := range values {
		departures = append(departures, shrink*(v-mean))
	}
	return departures
}
