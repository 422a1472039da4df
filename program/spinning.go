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

// spinPerDisplacementNs bounds the time for which a thread would have spun alone, on average, had others not taken its
// CPU, which the thread for which it spun could then get. Spinning takes CPU time. So if spins were cut short, runs in
// which others took the CPU more often use less of it, among the usual runs and those at favouredNice. What could hide
// this is added: the former runs refill caches more often. The sum is doubled, since not each such loss of the CPU need
// end a spin. The bound is a time slice unless others hardly took the CPU in some of the runs, and if the former runs use
// more CPU time than refills explain.
func (c *conclusion) spinPerDisplacementNs() float64 {
	recorded := c.most(func(r *Run) bool { return r.traced.heldUpKnown })
	var times, ran, preemptions, cold []float64
	for i := range c.Runs {
		r := &c.Runs[i]
		if !r.noted || !r.favoured && r.Rejected || r.traced.heldUpKnown != recorded || r.sharedCore() {
			continue // recorded runs tell of more waits
		}
		times, ran = append(times, r.displaced()), append(ran, r.traced.ranNs-r.traced.recordedNs)
		preemptions, cold = append(preemptions, float64(r.traced.preemptions)), append(cold, r.coldStartNs)
	}
	differ := spread(times)
	if !(stats.Quantile(slices.Sorted(slices.Values(times)), 0.1) <= hardlySpun*c.typical((*Run).displaced) && differ >= 1) {
		return leastSliceNs
	}
	each := math.Max(c.Noise.MostColdNs(displacedBytes(c.series.peak)), coldPerByteNs*math.Min(displacedBytes(c.series.peak), mostColdBytes))
	hidden := each*math.Max(1, spread(preemptions)/differ) + spread(cold)/differ
	line, err := stats.TheilSen(times, ran)
	if err != nil || !(line.Slope.Lo <= hidden) {
		return leastSliceNs
	}
	return math.Min(leastSliceNs, 2*(hidden-line.Slope.Lo))
}

// spinsCutNs bounds the time for which the program would have spun alone in all, had others not taken CPUs from its
// threads.
func (c *conclusion) spinsCutNs() float64 {
	n := c.typical((*Run).displaced)
	if !(n > 0) {
		return 0
	}
	return n * c.spinPerDisplacementNs()
}
