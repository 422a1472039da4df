package timermeter

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// Cost is how long one call of a clock takes for its caller (Kuperberg 2011a, section 2), in
// nanoseconds.
//
// If the clock that times the calls is too coarse to time one call, MinNs and MedianNs are those
// of the means over batches of calls. The percentiles and MaxNs are always those of single calls,
// because a mean would hide them.
type Cost struct {
	MinNs    stats.Float `json:"min_ns"`
	MedianNs stats.Float `json:"median_ns"`
	P95Ns    stats.Float `json:"p95_ns"`
	P99Ns    stats.Float `json:"p99_ns"`
	MaxNs    stats.Float `json:"max_ns"`
	// Family is the family of distributions that fits the costs best, from [stats.BestFamily];
	// nil if there are too few samples to tell.
	Family *string `json:"family"`
	// Samples is the number of single calls that were timed.
	Samples int `json:"-"`
}

const (
	callsPerChunk  = 256
	framesPerChunk = 64
	// A chunk has as many batches as fit into batchesNs, within these limits.
	batchesNs                  = 5e5
	fewestBatches, mostBatches = 8, 128
	// batchSteps is how many steps of the timing clock a batch should take, so that rounding
	// loses only a few thousandths of the cost.
	batchSteps = 50
	// With fewer than fewBatchSteps steps in a batch, rounding loses several percent of the cost.
	fewBatchSteps = 5
	// batchFrames is the least ratio of a batch's time to the variation of the frame's time.
	batchFrames = 20
	// longestBatchNs and mostBatch limit the time of a batch and its number of calls.
	longestBatchNs = 2e6
	mostBatch      = 100_000
	// trialBatches is the number of batches from which the time of a batch is estimated.
	trialBatches  = 15
	familySamples = 4096
)

// CostSampler times calls of one clock, chunk by chunk, so that the chunks can be spread over a
// whole measurement.
//
// If a clock's steps are no longer than a call, the clock times itself: its cost is the
// differences of consecutive readings. Calls of other clocks are timed by the reference clock,
// which is read before and after them. The time that the reference shows without a call between
// its readings, the frame, is subtracted.
type CostSampler struct {
	subject    Subject
	accuracyNs float64
	meter      meter
	chunks     []chunk
}

// chunk is the cost of calls that were timed together, in nanoseconds.
type chunk struct {
	singles []float64
	means   []float64 // mean cost per call of each batch
}

// meter times calls of a clock.
type meter struct {
	grainNs float64 // the accuracy of the clock that times them
	batch   int     // calls in a batch
	batches int     // batches in a chunk
	chunk   func(m meter) chunk
}

// Reference is the clock by which the calls of another clock are timed.
type Reference struct {
	UnitNs     float64
	AccuracyNs float64
}

// NewCostSampler returns a sampler for a subject of the given accuracy. A subject that is too
// coarse to time itself is timed by its reference.
func NewCostSampler(s Subject, accuracyNs float64) *CostSampler {
	c := &CostSampler{subject: s, accuracyNs: accuracyNs}
	const sample = 64 // number of readings that show whether the clock can time itself
	costNs := stats.Median(c.fromChain(meter{batch: sample}).means)
	if costNs < accuracyNs && s.Calls != nil {
		c.meter = c.byReference()
	} else {
		c.meter = meter{grainNs: accuracyNs, batch: batchFor(batchSteps*accuracyNs, costNs, callsPerChunk), chunk: c.fromChain}
	}
	return c
}

// batchFor returns how many calls that take costNs each take wantNs together, at most most.
func batchFor(wantNs, costNs float64, most int) int {
	if !(costNs > 0) {
		return most
	}
	return int(math.Min(float64(most), math.Max(1, math.Ceil(wantNs/costNs))))
}

// byReference returns a meter that times calls by the reference. If the frame varies by more than
// the reference's accuracy, the batches are longer.
func (c *CostSampler) byReference() meter {
	m := meter{grainNs: c.subject.Reference.AccuracyNs, chunk: c.fromCalls}
	frames := slices.Sorted(slices.Values(c.timed(c.subject.Frames, 0, framesPerChunk)))
	varies := stats.Quantile(frames, 0.75) - stats.Quantile(frames, 0.25)
	wantNs := math.Min(longestBatchNs, math.Max(batchSteps*m.grainNs, batchFrames*varies))
	costNs := 0.0
	for m.batch = 1; float64(m.batch)*costNs < wantNs && m.batch < mostBatch; m.batch = min(mostBatch, 4*m.batch) {
		costNs = m.median(c.perCall(m.batch, trialBatches, trialBatches), m.batch)
	}
	m.batch = batchFor(wantNs, costNs, mostBatch)
	m.batches = int(math.Max(fewestBatches, math.Min(mostBatches, batchesNs/wantNs)))
	return m
}

// median returns the median of batch means, allowing for the rounding of a batch to whole steps.
func (m meter) median(means []float64, batch int) float64 {
	return medianOfSteps(means, m.grainNs/float64(batch))
}

// stepsOfBatch returns how many steps of the timing clock a batch of calls takes if one call takes
// costNs.
func (c *CostSampler) stepsOfBatch(costNs float64) float64 {
	return float64(c.meter.batch) * costNs / c.meter.grainNs
}

// medianOfSteps returns the median of values that were rounded to multiples of step. It assumes,
// like the median of grouped data, that the true values at each multiple are evenly spread about
// it. Otherwise the median could only be one of the multiples.
func medianOfSteps(values []float64, step float64) float64 {
	if !(step > 0) || len(values) == 0 {
		return stats.Median(values)
	}
	below := func(x float64) float64 {
		var n float64
		for _, v := range values {
			n += math.Min(1, math.Max(0, (x-v)/step+0.5))
		}
		return n
	}
	lo, hi := slices.Min(values), slices.Max(values)
	for range 50 {
		if middle := (lo + hi) / 2; below(middle) < float64(len(values))/2 {
			lo = middle
		} else {
			hi = middle
		}
	}
	return (lo + hi) / 2
}

// Chunk times one more chunk of calls.
func (c *CostSampler) Chunk() { c.chunks = append(c.chunks, c.meter.chunk(c.meter)) }

func (c *CostSampler) dropChunk() { c.chunks = c.chunks[:len(c.chunks)-1] }

// Chunks returns how many chunks were taken.
func (c *CostSampler) Chunks() int { return len(c.chunks) }

// fromChain times calls by the clock itself: the differences of consecutive readings are the costs.
func (c *CostSampler) fromChain(m meter) chunk {
	ticks := make([]int64, callsPerChunk+1)
	c.subject.Chain(0, ticks)
	var k chunk
	for i := 1; i < len(ticks); i++ {
		k.singles = append(k.singles, float64(ticks[i]-ticks[i-1])*c.subject.UnitNs)
	}
	for i := m.batch; i < len(ticks); i += m.batch {
		k.means = append(k.means, float64(ticks[i]-ticks[i-m.batch])*c.subject.UnitNs/float64(m.batch))
	}
	return k
}

// fromCalls times calls by the reference.
func (c *CostSampler) fromCalls(m meter) chunk {
	k := chunk{singles: c.perCall(1, callsPerChunk, framesPerChunk)}
	k.means = k.singles
	if m.batch > 1 {
		k.means = c.perCall(m.batch, m.batches, min(m.batches, framesPerChunk))
	}
	for i, s := range k.singles {
		k.singles[i] = math.Max(0, s)
	}
	return k
}

// perCall returns n mean costs of a call, each of a batch of calls. It subtracts the frame, the
// time that the timing takes without any call: the median of the given number of measured frames.
func (c *CostSampler) perCall(batch, n, frames int) []float64 {
	frame := medianOfSteps(c.timed(c.subject.Frames, batch, frames), c.subject.Reference.AccuracyNs)
	costs := c.timed(c.subject.Calls, batch, n)
	for i, d := range costs {
		costs[i] = (d - frame) / float64(batch)
	}
	return costs
}

// timed returns n durations of batch rounds, in nanoseconds.
func (c *CostSampler) timed(rounds func(batch int, durations []int64), batch, n int) []float64 {
	durations := make([]int64, n)
	rounds(batch, durations)
	return scaled(durations, c.subject.Reference.UnitNs)
}

func scaled(ticks []int64, unitNs float64) []float64 {
	ns := make([]float64, len(ticks))
	for i, t := range ticks {
		ns[i] = float64(t) * unitNs
	}
	return ns
}

// spread returns the share of single calls whose cost is within one accuracy of the median. Both
// are counted in whole steps of the clock, because a cost of one more step may read as a unit more
// than the accuracy if the accuracy is not a whole number of units.
func (k chunk) spread(accuracyNs float64) float64 {
	steps := func(ns float64) float64 { return math.Round(ns / accuracyNs) }
	median := steps(stats.Median(k.singles))
	within := 0
	for _, s := range k.singles {
		if math.Abs(steps(s)-median) <= 1 {
			within++
		}
	}
	return float64(within) / float64(len(k.singles))
}

// Cost returns the cost according to the chunks so far.
func (c *CostSampler) Cost() Cost {
	var singles, means []float64
	for _, k := range c.chunks {
		singles = append(singles, k.singles...)
		means = append(means, k.means...)
	}
	slices.Sort(singles)
	slices.Sort(means)
	median := math.Max(0, c.meter.median(means, c.meter.batch))
	percentile := func(p float64) stats.Float { // not less than the median of batches: single calls may be rounded down by one grain
		return stats.FloatOf(math.Max(median, stats.Quantile(singles, p)))
	}
	cost := Cost{
		MinNs: stats.FloatOf(math.Max(0, stats.Quantile(means, 0))), MedianNs: stats.FloatOf(median),
		P95Ns: percentile(0.95), P99Ns: percentile(0.99), MaxNs: stats.FloatOf(stats.Quantile(singles, 1)), Samples: len(singles),
	}
	if best, _, err := stats.BestFamily(stats.Thinned(singles, familySamples), c.meter.grainNs); err == nil {
		cost.Family = &best.Family
	}
	return cost
}

// Spread returns the share of single calls whose cost is within one accuracy of the median. It is
// the median over the chunks, because the share of a single chunk varies widely.
func (c *CostSampler) Spread() float64 {
	var spreads []float64
	for _, k := range c.chunks {
		spreads = append(spreads, k.spread(c.accuracyNs))
	}
	return stats.Median(spreads)
}
