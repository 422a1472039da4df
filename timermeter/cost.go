package timermeter

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// Cost is how long one call of a clock takes, as its caller sees it
// (Kuperberg 2011a, section 2), in nanoseconds.
//
// Where the measuring clock is too coarse to time one call, least and median
// are of the mean over a batch of calls; the percentiles and the most, which a
// mean would hide, are of single calls always.
type Cost struct {
	MinNs, MedianNs, P95Ns, P99Ns, MaxNs float64
	// Family of distributions that fits the costs best, of [stats.BestFamily];
	// empty where there are too few samples to tell.
	Family string
	// Samples are the single calls that were timed.
	Samples int
	// Spread is the share of single calls whose cost is within one accuracy of
	// the median: the median over chunks, since one chunk varies widely.
	Spread float64
}

const (
	callsPerChunk = 256
	mostBatch     = 64
	// batchSteps is how many steps of the measuring clock a batch should take,
	// so that its mean is good to some percent.
	batchSteps    = 25
	familySamples = 4096
)

// CostSampler times calls of one clock, chunk by chunk, so that the chunks can
// be spread over a whole measurement.
//
// A clock whose cost is no less than its accuracy times itself: the
// differences of consecutive readings are its cost. Any other is timed by the
// reference, in a frame of two readings, less what the empty frame takes.
type CostSampler struct {
	subject    Subject
	accuracyNs float64
	meter      meter
	batch      int
	chunks     []chunk
}

// chunk is the cost of calls that were timed together, in nanoseconds.
type chunk struct {
	singles []float64
	means   []float64 // per call, over batches
}

// meter times calls of a clock; grainNs is how finely.
type meter struct {
	grainNs float64
	chunk   func(batch int) chunk
}

// Reference is the clock that times calls of others.
type Reference struct {
	UnitNs     float64
	AccuracyNs float64
}

// NewCostSampler returns a sampler for a subject of that accuracy, timed by its
// reference where it can't time itself.
func NewCostSampler(s Subject, accuracyNs float64) *CostSampler {
	c := &CostSampler{subject: s, accuracyNs: accuracyNs}
	own := meter{grainNs: accuracyNs, chunk: c.fromChain}
	costNs := stats.Median(own.chunk(mostBatch).means)
	c.meter = own
	if costNs < accuracyNs && s.Calls != nil {
		c.meter = meter{grainNs: s.Reference.AccuracyNs, chunk: c.fromCalls}
		costNs = stats.Median(c.meter.chunk(mostBatch).means)
	}
	c.batch = batchFor(costNs, c.meter.grainNs)
	return c
}

// batchFor is how many calls of that cost a clock of that grain times to some
// percent.
func batchFor(costNs, grainNs float64) int {
	if !(costNs > 0) {
		return mostBatch
	}
	return int(math.Min(mostBatch, math.Max(1, math.Ceil(batchSteps*grainNs/costNs))))
}

// Chunk times one more chunk of calls.
func (c *CostSampler) Chunk() { c.chunks = append(c.chunks, c.meter.chunk(c.batch)) }

// dropChunk takes the last chunk back.
func (c *CostSampler) dropChunk() { c.chunks = c.chunks[:len(c.chunks)-1] }

// Chunks is how many chunks were taken.
func (c *CostSampler) Chunks() int { return len(c.chunks) }

// fromChain takes the differences of consecutive readings as costs.
func (c *CostSampler) fromChain(batch int) chunk {
	ticks := make([]int64, callsPerChunk+1)
	c.subject.Chain(0, ticks)
	var k chunk
	for i := 1; i < len(ticks); i++ {
		k.singles = append(k.singles, float64(ticks[i]-ticks[i-1])*c.subject.UnitNs)
	}
	for i := batch; i < len(ticks); i += batch {
		k.means = append(k.means, float64(ticks[i]-ticks[i-batch])*c.subject.UnitNs/float64(batch))
	}
	return k
}

// fromCalls times calls by the reference.
func (c *CostSampler) fromCalls(batch int) chunk {
	unitNs := c.subject.Reference.UnitNs
	empty := make([]int64, callsPerChunk/4)
	c.subject.Calls(0, empty)
	frame := stats.Median(scaled(empty, unitNs))
	take := func(batch, n int) []float64 {
		durations := make([]int64, n)
		c.subject.Calls(batch, durations)
		costs := scaled(durations, unitNs)
		for i, d := range costs {
			costs[i] = math.Max(0, d-frame) / float64(batch)
		}
		return costs
	}
	k := chunk{singles: take(1, callsPerChunk)}
	k.means = k.singles
	if batch > 1 {
		k.means = take(batch, max(8, callsPerChunk/batch))
	}
	return k
}

func scaled(ticks []int64, unitNs float64) []float64 {
	ns := make([]float64, len(ticks))
	for i, t := range ticks {
		ns[i] = float64(t) * unitNs
	}
	return ns
}

// spread is the share of single calls within one accuracy of their median, both
// counted in whole steps of the clock: a cost of one step more may read as a unit
// more than the accuracy, where that is no whole number of units.
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

// Cost is what the chunks so far say.
func (c *CostSampler) Cost() Cost {
	var singles, means, spreads []float64
	for _, k := range c.chunks {
		singles = append(singles, k.singles...)
		means = append(means, k.means...)
		spreads = append(spreads, k.spread(c.accuracyNs))
	}
	slices.Sort(singles)
	slices.Sort(means)
	cost := Cost{
		MinNs: stats.Quantile(means, 0), MedianNs: stats.Quantile(means, 0.5),
		P95Ns: stats.Quantile(singles, 0.95), P99Ns: stats.Quantile(singles, 0.99),
		MaxNs: stats.Quantile(singles, 1), Samples: len(singles), Spread: stats.Median(spreads),
	}
	// A single call may read as less than the median of batches, by the grain.
	cost.P95Ns = math.Max(cost.P95Ns, cost.MedianNs)
	cost.P99Ns = math.Max(cost.P99Ns, cost.P95Ns)
	if best, _, err := stats.BestFamily(stats.Thinned(singles, familySamples), c.meter.grainNs); err == nil {
		cost.Family = best.Family
	}
	return cost
}
