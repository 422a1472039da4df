package meter

import (
	"math/bits"
	"sync/atomic"
)

// A distribution's buckets are log-linear: each power of two is cut into 16 equal buckets, so that no
// bucket is wider than a sixteenth of its values. Each value below 32 has a bucket of its own, and all
// calls of 2^44 ticks or more are in the last.
const (
	perOctaveBits = 4
	buckets       = 41 << perOctaveBits
)

// distribution counts calls by their length in ticks.
type distribution [buckets]atomic.Uint64

// time counts a call by its length. It returns false, and counts a fault, if the clock went back.
func (s *shard) time(ticks int64) bool {
	if ticks < 0 {
		s.backward.Add(1)
		return false
	}
	s.distribution[bucketOf(uint64(ticks))].Add(1)
	s.ticks.Add(uint64(ticks))
	return true
}

func bucketOf(ticks uint64) int {
	octave := max(bits.Len64(ticks)-perOctaveBits-1, 0)
	return min(octave<<perOctaveBits+int(ticks>>octave), buckets-1)
}

// bucketFrom returns the bounds of a bucket: from is its least value, and to follows its greatest.
func bucketFrom(bucket int) (from, to uint64) {
	octave := max(bucket>>perOctaveBits-1, 0)
	from = uint64(bucket-octave<<perOctaveBits) << octave
	return from, from + 1<<octave
}

// lengths returns the number of calls in each bucket, up to the last bucket that is not empty; nil for
// a coarse clock.
func (s *shards) lengths() []uint64 {
	sums := make([]uint64, buckets)
	used := 0
	for i := range s.all {
		if s.all[i].distribution == nil {
			return nil
		}
		for bucket := range sums {
			sums[bucket] += s.all[i].distribution[bucket].Load()
			if sums[bucket] > 0 {
				used = max(used, bucket+1)
			}
		}
	}
	return sums[:used]
}
