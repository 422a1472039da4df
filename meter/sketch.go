package meter

import (
	"math"
	"sync/atomic"
)

// A sketch has the buckets of Prometheus' native histograms of schema 5, for durations in seconds: 32 for
// each power of two, so that each is at most 2.2 % wide. They are the same on all machines and for all
// clocks, so that sketches add up exactly and are exported unchanged.
//
// The DDSketch of DataDog's sketches-go and Prometheus' own native histogram have such buckets, too, but
// don't serve here: a DDSketch is not safe for several goroutines, an observation of the native histogram
// costs three times as much as one of a classic histogram, and both allocate buckets as they go
// (bench/tails).
const (
	// HistogramSchema is the schema of [Histogram]: the number by which Prometheus' native histograms state the
	// width of their buckets.
	HistogramSchema = 5

	perPowerOfTwo  = 1 << HistogramSchema
	leastExponent  = -30 // 0.93 ns; shorter durations are in the first bucket
	mostExponent   = 10  // 17 minutes; longer durations are in the last
	sketchBuckets  = (mostExponent - leastExponent) * perPowerOfTwo
	firstBucketKey = leastExponent*perPowerOfTwo + 1
)

// sketch counts durations. It takes 10 kB.
type sketch struct {
	counts  [sketchBuckets]atomic.Uint64
	sumNs   atomic.Uint64
	worstNs atomic.Uint64
}

// fractionBits is the number of upper bits of a fraction by which its bucket is looked up. fractions are
// the upper bounds of the buckets between 1/2 and 1; firstFraction holds, for each value of these bits,
// the index of the first bound that is not below it. No two bounds have the same upper bits.
const fractionBits = 6

var fractions, firstFraction = func() (bounds [perPowerOfTwo + 1]float64, first [1 << fractionBits]uint8) {
	for i := range bounds {
		bounds[i] = math.Exp2(float64(i)/perPowerOfTwo - 1)
	}
	bounds[0], bounds[perPowerOfTwo] = 0.5, 1
	for upper := range first {
		least := 0.5 + 0.5*float64(upper)/(1<<fractionBits)
		for bounds[first[upper]] < least {
			first[upper]++
		}
	}
	return bounds, first
}()

// sketchKey returns the number of the bucket of a duration in seconds, as native histograms count them: bucket
// k goes from 2^((k-1)/32), excluded, to 2^(k/32).
func sketchKey(seconds float64) int {
	bits := math.Float64bits(seconds)
	exponent := int(bits>>52&0x7ff) - 1022
	fraction := math.Float64frombits(bits&(1<<52-1) | 1022<<52) // 1/2 to 1
	at := int(firstFraction[bits>>(52-fractionBits)&(1<<fractionBits-1)])
	if fractions[at] < fraction {
		at++
	}
	return (exponent-1)*perPowerOfTwo + at
}

// boundNs returns the upper bound of a bucket, in nanoseconds.
func boundNs(key int) float64 { return 1e9 * math.Exp2(float64(key)/perPowerOfTwo) }

// add counts a duration.
func (s *sketch) add(ns float64) {
	ns = max(ns, 0)
	at := 0
	if seconds := ns * 1e-9; seconds >= 0x1p-30 {
		at = min(sketchKey(seconds)-firstBucketKey, sketchBuckets-1)
	}
	s.counts[max(at, 0)].Add(1)
	whole := uint64(ns + 0.5)
	s.sumNs.Add(whole)
	for worst := s.worstNs.Load(); whole > worst && !s.worstNs.CompareAndSwap(worst, whole); worst = s.worstNs.Load() {
	}
}

// Histogram holds the counts of a sketch's buckets.
type Histogram struct {
	// First is the number of the first bucket of Counts: bucket k of Prometheus' native histograms of
	// schema 5 holds durations of up to 2^(k/32) seconds.
	First  int      `json:"first"`
	Counts []uint64 `json:"counts"`
	// SumNs is the sum of all durations, WorstNs the longest one.
	SumNs   float64 `json:"sum_ns"`
	WorstNs float64 `json:"worst_ns"`
}

// histogram adds up the counts of some sketches.
func histogram(sketches []*sketch) Histogram {
	h := Histogram{First: firstBucketKey, Counts: make([]uint64, sketchBuckets)}
	for _, s := range sketches {
		h.WorstNs = max(h.WorstNs, float64(s.worstNs.Load()))
		h.SumNs += float64(s.sumNs.Load())
		for i := range h.Counts {
			h.Counts[i] += s.counts[i].Load()
		}
	}
	return h.cut()
}

// cut removes empty buckets at both ends.
func (h Histogram) cut() Histogram {
	for len(h.Counts) > 0 && h.Counts[len(h.Counts)-1] == 0 {
		h.Counts = h.Counts[:len(h.Counts)-1]
	}
	for len(h.Counts) > 0 && h.Counts[0] == 0 {
		h.First, h.Counts = h.First+1, h.Counts[1:]
	}
	return h
}

// Count returns the number of durations.
func (h Histogram) Count() uint64 { return total(h.Counts) }

// plus returns the sum of two histograms, and changes neither.
func (h Histogram) plus(other Histogram) Histogram {
	sum := Histogram{First: firstBucketKey, Counts: make([]uint64, sketchBuckets), SumNs: h.SumNs + other.SumNs, WorstNs: max(h.WorstNs, other.WorstNs)}
	for _, one := range []Histogram{h, other} {
		for i, n := range one.Counts {
			at := one.First - firstBucketKey + i
			sum.Counts[at] = saturating(sum.Counts[at], n)
		}
	}
	return sum.cut()
}

// Buckets returns the counts by bucket number, in the form that client_golang takes.
func (h Histogram) Buckets() map[int]int64 {
	buckets := map[int]int64{}
	for i, n := range h.Counts {
		if n > 0 {
			buckets[h.First+i] = int64(min(n, math.MaxInt64))
		}
	}
	return buckets
}

// below returns the number of durations in the buckets up to key, included.
func (h Histogram) below(key int) (n float64) {
	for _, count := range h.Counts[:min(max(key-h.First+1, 0), len(h.Counts))] {
		n += float64(count)
	}
	return n
}

// possible reports whether a sketch can have counted these calls.
func (h Histogram) possible() bool {
	return h.First >= firstBucketKey && h.First <= firstBucketKey+sketchBuckets &&
		len(h.Counts) <= sketchBuckets-(h.First-firstBucketKey) && h.SumNs >= 0 && h.WorstNs >= 0
}
