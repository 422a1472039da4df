package program

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// hardlySpun limits the 10th percentile, over the runs, of the time for which threads may have spun, as a share of the
// median. If it is larger, the runs are too alike for estimating the effect of spinning on CPU time.
const hardlySpun = 0.25

// allowForSpinning raises lower bounds that were lowered because threads may have spun while other threads of the
// program were kept from a CPU. Spinning takes CPU time. So if threads did spin, runs that gave them more time for
// it have more CPU time. allowForSpinning fits a line through the runs: their CPU time over the time in which
// threads may have spun. The upper end of the slope's interval bounds the share of that time in which they did spin.
func (c *conclusion) allowForSpinning() {
	c.spins = 1
	spun := slices.Sorted(slices.Values(c.each((*Run).mayHaveSpunNs)))
	if !(stats.Quantile(spun, 0.1) <= hardlySpun*stats.Median(spun)) {
		return // spinning that is the same in all runs shows in no difference
	}
	line, err := stats.TheilSen(c.each((*Run).mayHaveSpunNs), c.each(func(r *Run) float64 { return r.traced.ranNs }))
	if err == nil && line.Slope.Hi < 1 {
		c.spins = math.Max(0, line.Slope.Hi)
	}
	for i, r := range c.used {
		c.low[i] = math.Min(c.low[i]+(1-c.spins)*r.spunOffNs, math.Max(c.low[i], c.high[i]))
	}
}

// mayHaveSpun returns the number of runs in which threads may have spun for longer than their bounds allow for.
func (c *conclusion) mayHaveSpun() (n int) {
	for _, r := range c.used {
		if r.noted && c.spins*r.mayHaveSpunNs() > stats.WideShare*r.traced.wallNs {
			n++
		}
	}
	return n
}

// displaced returns how often others took a CPU from a thread for which others of the program waited.
func (r *Run) displaced() float64 { return float64(r.traced.displaced) }

// displacementNs bounds the time for which a thread would have spun alone, on average, had others not taken its CPU: the
// thread for which it spun could then get that CPU. Spinning takes CPU time, so where it was cut short more often, there
// is less of that, in usual runs and in those at favouredNice. The upper end of what the runs leave open counts twice,
// since not each such loss of the CPU need end a spin. To refill caches takes CPU time, too, and may hide it.
func (c *conclusion) displacementNs() float64 {
	var times, ran []float64
	cold := 0.0
	for i := range c.Runs {
		if r := &c.Runs[i]; r.noted && (r.favoured || !r.Rejected) {
			times, ran = append(times, r.displaced()), append(ran, r.traced.ranNs)
			cold = math.Max(cold, r.coldStartNs)
		}
	}
	line, err := stats.TheilSen(times, ran)
	apart := spread(times)
	if err != nil || math.IsNaN(line.Slope.Lo) || apart < 1 {
		return leastSliceNs
	}
	refillNs := c.Noise.MostColdNs(float64(max(c.series.peak, c.series.peakOfAll))) + cold/apart
	return math.Min(leastSliceNs, 2*math.Max(0, -line.Slope.Lo)+refillNs)
}
