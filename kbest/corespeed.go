package kbest

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// coreSpeed is what the calibration chains before and after the samples say about the core's rate.
type coreSpeed struct {
	// referenceHz is the rate that the core had most of the time; NaN if unknown. Times are those at this rate.
	referenceHz float64
	// tolerance is how far chains at the reference rate may differ from it, as a share. A chain that differs by
	// more than 1.5 tolerances was run at another rate.
	tolerance float64
	// standardError is the standard error of referenceHz, as a share.
	standardError float64
	// wander is an upper bound of the standard deviation of the true rate from sample to sample, as a share.
	wander float64
	// spread is half the width of the middle two thirds of the chains, as a share: about a standard deviation,
	// including the chains' own errors.
	spread float64
	// changes is how many times the rate was seen to change by more than it wanders.
	changes int
	// within is the number of samples during which the rate changed.
	within int
}

// leastTolerance is less than any step that governors make. A tolerance above mostTolerance is granted only if
// chains differ as much with nothing in between: a core that changes its speed within most samples must not
// pass for inexact chains.
const leastTolerance, mostTolerance = 0.004, 0.03

// coreSpeedOf finds the rate around which most of the chains lie. How far the chain before a sample and the one
// after it typically differ tells how exact chains are.
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

// stepsBetween returns how much the chain after each sample differs from the one before the next, as a share.
func stepsBetween(before, after []float64) []float64 {
	var steps []float64
	for i := 1; i < len(before); i++ {
		steps = append(steps, math.Abs(before[i]/after[i-1]-1))
	}
	return steps
}

func usable(hz float64) bool { return hz > 0 && !math.IsInf(hz, 1) }

// densestWindow returns the stretch of sorted values that holds the most of them and is no wider than twice the
// tolerance. If several hold as many, it is the one of the highest values.
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

// mostWander returns an upper bound of the standard deviation of the core's true rate from sample to sample, as a
// share. It follows from the covariance of the chains before and after the samples: the true rate affects both
// chains, and the own error of a chain only that chain. Two standard errors of the covariance are added, so that the
// core does not seem steady only because there are few samples. Samples at another rate are left out.
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

// changesOf counts how many times the rate went from one level to another. A level counts only if the two
// chains between two samples agree on it, since a chain may be interrupted too.
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

// changedWithin counts the samples during which the rate went to another level. A tenth of all samples is
// subtracted, since chains may be interrupted.
func (c coreSpeed) changedWithin(steps []float64) int {
	n := 0
	for _, step := range steps {
		if step > 2*c.tolerance {
			n++
		}
	}
	return max(0, n-len(steps)/10)
}

// other reports whether a sample was taken at another rate than the reference.
func (c coreSpeed) other(x *Sample) bool {
	return c.off(x.CoreHzBefore) || c.off(x.CoreHzAfter)
}

func (c coreSpeed) off(hz float64) bool { return math.Abs(hz/c.referenceHz-1) > 1.5*c.tolerance }

// departure returns the logarithm of the core's rate around a sample divided by the reference.
func (c coreSpeed) departure(x *Sample) float64 {
	return math.Log((x.CoreHzBefore + x.CoreHzAfter) / 2 / c.referenceHz)
}

// atReference returns the running time of a sample at the reference rate, in nanoseconds.
func (c coreSpeed) atReference(x *Sample, s scaling) float64 {
	if s.exponent == 0 {
		return x.RunNs
	}
	return x.RunNs * math.Exp(s.exponent*c.departure(x))
}

// scaling is how running time depends on the core's rate as the chains show it: time is proportional to the
// rate to the power of -exponent. The exponent is near 0 for work that waits for memory, and also if most of
// the chains' differences are errors. In both cases this exponent predicts best.
type scaling struct {
	exponent, standardError float64
	// left is an upper bound of the standard deviation of the error that scaling leaves in the running times,
	// as a share.
	left float64
}

// fewestScaled is the smallest number of samples that can show how time depends on the rate.
const fewestScaled = 8

// scalingOf fits the scaling to samples. The error that scaling leaves can't be more than the scaled running
// times differ.
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
