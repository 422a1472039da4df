package kbest

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// coreSpeed is what the calibration chains around the samples say.
type coreSpeed struct {
	// referenceHz is the rate that the core had most of the time; NaN where it is
	// not known. Times are those at this rate.
	referenceHz float64
	// tolerance is how far a chain may lie from it, as a share.
	tolerance float64
	// standardError is that of the reference, as a share.
	standardError float64
	// wander bounds the standard deviation by which the rate really differs from
	// sample to sample, as a share.
	wander float64
	// spread is half of what the middle two thirds of the chains span, as a share: a
	// standard deviation, in which the chains' own errors are.
	spread float64
	// changes is how often the rate was seen to change by more than it wanders.
	changes int
	// within counts the samples with another rate after than before.
	within int
}

// leastTolerance is below any step that governors make. More than mostTolerance is
// granted only to chains that differ as much with nothing in between: a core that
// changes its speed within most samples is not to pass for bad chains.
const leastTolerance, mostTolerance = 0.004, 0.03

// coreSpeedOf finds the rate around which most of the chains lie. A chain is as
// exact as the two that lie on either side of a sample agree.
func coreSpeedOf(samples []Sample) coreSpeed {
	var rates, before, after, steps []float64
	for _, x := range samples {
		if usable(x.CoreHzBefore) && usable(x.CoreHzAfter) {
			before, after = append(before, x.CoreHzBefore), append(after, x.CoreHzAfter)
			rates = append(rates, x.CoreHzBefore, x.CoreHzAfter)
			steps = append(steps, math.Abs(x.CoreHzAfter/x.CoreHzBefore-1))
		}
	}
	if len(before) < 2 {
		return coreSpeed{referenceHz: nan, spread: nan}
	}
	c := coreSpeed{tolerance: math.Max(leastTolerance, 3*stats.Median(steps))}
	c.tolerance = math.Min(c.tolerance, math.Max(mostTolerance, 3*stats.Median(stepsBetween(before, after))))
	slices.Sort(rates)
	c.spread = (stats.Quantile(rates, 5./6) - stats.Quantile(rates, 1./6)) / 2 / stats.Quantile(rates, 0.5)
	densest := densestWindow(rates, c.tolerance)
	var spread float64
	c.referenceHz, spread = meanOf(densest)
	c.standardError = spread / c.referenceHz
	c.wander = c.mostWander(before, after)
	c.changes, c.within = c.changesOf(before, after), c.changedWithin(steps)
	return c
}

// stepsBetween are by how much the chain after a sample and the one before the next
// differ.
func stepsBetween(before, after []float64) []float64 {
	var steps []float64
	for i := 1; i < len(before); i++ {
		steps = append(steps, math.Abs(before[i]/after[i-1]-1))
	}
	return steps
}

func usable(hz float64) bool { return hz > 0 && !math.IsInf(hz, 1) }

// densestWindow is the stretch of sorted values, no wider than twice the
// tolerance, that holds the most; of equals the one of the highest values.
func densestWindow(sorted []float64, tolerance float64) []float64 {
	best, from := sorted[:1], 0
	for to := range sorted {
		for sorted[to] > sorted[from]*(1+2*tolerance) {
			from++
		}
		if to+1-from >= len(best) {
			best = sorted[from : to+1]
		}
	}
	return best
}

// mostWander bounds the standard deviation that the chains before and after the
// samples have in common, as a share: what is in only one of them is its own
// error. Two standard errors of the covariance are added, so that few samples don't
// make a steady core.
func (c coreSpeed) mostWander(before, after []float64) float64 {
	var sum, difference []float64
	for i := range before {
		if !c.off(before[i]) && !c.off(after[i]) {
			sum = append(sum, (before[i]+after[i])/c.referenceHz)
			difference = append(difference, (before[i]-after[i])/c.referenceHz)
		}
	}
	if len(sum) < 2 {
		return c.tolerance
	}
	s, d := variance(sum), variance(difference)
	return math.Sqrt(math.Max(0, s-d)/4 + 2*(s+d)/4/math.Sqrt(float64(len(sum))))
}

func variance(values []float64) float64 {
	_, standardError := meanOf(values)
	return standardError * standardError * float64(len(values))
}

// changesOf counts how often the rate went from one level to another. A level is
// what the chains between two samples agree on: a chain may be interrupted too.
func (c coreSpeed) changesOf(before, after []float64) int {
	changes, last := 0, nan
	for i := 1; i < len(before); i++ {
		if math.Abs(before[i]/after[i-1]-1) > c.tolerance {
			continue
		}
		if math.Abs(before[i]/last-1) > 2*c.tolerance {
			changes++
		}
		last = before[i]
	}
	return changes
}

// changedWithin counts the samples in which the rate went to another level. A chain
// may be interrupted, so that one in ten does not count.
func (c coreSpeed) changedWithin(steps []float64) int {
	n := 0
	for _, step := range steps {
		if step > 2*c.tolerance {
			n++
		}
	}
	return max(0, n-len(steps)/10)
}

// other reports that a sample was taken at another rate than the reference.
func (c coreSpeed) other(x *Sample) bool {
	return c.off(x.CoreHzBefore) || c.off(x.CoreHzAfter)
}

func (c coreSpeed) off(hz float64) bool { return math.Abs(hz/c.referenceHz-1) > 1.5*c.tolerance }

// departure is by how much the core ran faster than the reference around a sample,
// as a logarithm.
func (c coreSpeed) departure(x *Sample) float64 {
	return math.Log((x.CoreHzBefore + x.CoreHzAfter) / 2 / c.referenceHz)
}

// atReference is the running time of a sample at the reference rate.
func (c coreSpeed) atReference(x *Sample, s scaling) float64 {
	if s.exponent == 0 {
		return x.RunNs
	}
	return x.RunNs * math.Exp(s.exponent*c.departure(x))
}

// scaling is how running time depends on the core's rate as the chains show it:
// time goes with the rate to the power of minus the exponent. Work that waits for
// memory has one near 0, and so has work whose chains are mostly in error: both are
// as they should be for the best prediction.
type scaling struct {
	exponent, standardError float64
	// left bounds the standard deviation of the rate that the exponent does not
	// account for, as a share.
	left float64
}

// fewestScaled samples can show how time depends on the rate.
const fewestScaled = 8

// scalingOf asks the samples. What is left of the rate's wandering can't be more
// than the running times themselves differ.
func (c coreSpeed) scalingOf(samples []*Sample) scaling {
	var s scaling
	if math.IsNaN(c.referenceHz) {
		return s
	}
	var x, y []float64
	for _, sample := range samples {
		x, y = append(x, c.departure(sample)), append(y, -math.Log(math.Max(1, sample.RunNs)))
	}
	if len(samples) >= fewestScaled {
		if line, err := stats.TheilSen(x, y); err == nil && line.Slope.Lo > 0 {
			s.exponent, s.standardError = math.Min(1, line.Slope.Value), line.Slope.HalfWidth()/1.96
		}
	}
	for i := range y {
		y[i] = s.exponent*x[i] - y[i]
	}
	slices.Sort(y)
	spread := stats.Quantile(y, 0.5) - stats.Quantile(y, 0.1)
	s.left = math.Min(c.wander, spread)
	return s
}
