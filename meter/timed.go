package meter

import (
	"math"
	"math/bits"

	"chronoscope/stats"
)

// Timed are sums over the few calls that the finer clock timed from Start to Stop. Which
// these are is decided before the call and by the count of calls alone, so that their mean
// is unbiased whatever the coarse clock does. It is far less precise than the edges' mean in
// the long run, and is held against that.
//
// Early calls are chosen more often than late ones. Each chosen call has as its weight the inverse of
// the probability with which it was chosen (Horvitz and Thompson, "A generalization of sampling
// without replacement from a finite universe", JASA 47, 1952).
type Timed struct {
	Count         uint64  `json:"count"`
	Weight        float64 `json:"weight"`         // sum of w, the weights
	WeightSquared float64 `json:"weight_squared"` // sum of w^2
	Ns            float64 `json:"ns"`             // sum of w x, x being the length of a call in ns
	NsSquaredOnce float64 `json:"ns_once"`        // sum of w^2 x
	NsSquared     float64 `json:"ns_squared"`     // sum of w^2 x^2
	// Uneven is how many of them ended when the coarse clock was behind by a time that it
	// never is where it moves at even intervals.
	Uneven uint64 `json:"uneven"`
}

func (t *Timed) add(weight, ns float64) {
	v := weight * weight
	t.merge(Timed{1, weight, v, weight * ns, v * ns, v * ns * ns, 0})
}

func (t *Timed) merge(other Timed) {
	t.Count = saturating(t.Count, other.Count)
	t.Weight += other.Weight
	t.WeightSquared += other.WeightSquared
	t.Ns += other.Ns
	t.NsSquaredOnce += other.NsSquaredOnce
	t.NsSquared += other.NsSquared
	t.Uneven = saturating(t.Uneven, other.Uneven)
}

// mean is the mean length of a call in ns, and its standard error: that of a ratio of two
// sums (Cochran, Sampling Techniques, 3rd ed., section 6.3).
func (t *Timed) mean() (ns, standardError float64) {
	if t.Count < 2 {
		return math.NaN(), math.NaN()
	}
	n := float64(t.Count)
	mean := t.Ns / t.Weight
	squares := t.NsSquared - 2*mean*t.NsSquaredOnce + mean*mean*t.WeightSquared
	return mean, math.Sqrt(max(squares, 0)*n/(n-1)) / t.Weight
}

// fewestTimed are calls that have to have been timed for their mean to contradict the edges.
const fewestTimed = 30

// contradicts reports that the timed calls took longer on average than the edges' mean can
// be, by more than chance makes the difference of both once in 200 times. Where the timed ones are shorter,
// nothing follows: there may be long calls that are too rare to be among them.
func (t *Timed) contradicts(edges stats.Estimate) bool {
	if t.Count < fewestTimed {
		return false
	}
	mean, standardError := t.mean()
	return mean-edges.Value > 2.58*math.Hypot(standardError, (edges.Hi-edges.Value)/1.96)
}

// unevenShare of the timed calls may end while the clock is behind by an unusual time: an
// interrupt of the tick may be late now and then.
const unevenShare = 0.03

// ticksUnevenly reports that the clock does not move at even intervals around the calls.
func (t *Timed) ticksUnevenly() bool {
	return t.Count >= fewestTimed && float64(t.Uneven) > max(3, unevenShare*float64(t.Count))
}

// lags count the timed calls by how far the coarse clock was behind the finer one when they
// ended. Where it moves at even intervals, that differs by one tick at most.
type lags [8 * lagsPerTick]uint64

const lagsPerTick = 16

// add notes a lag in ticks, from an origin that lies less than a tick from the least one.
func (l *lags) add(ticks float64) {
	l[int(min(max((ticks+2)*lagsPerTick, 0), float64(len(l)-1)))]++
}

// uneven is how many lags lie outside of the tick that holds most of them.
func (l *lags) uneven() uint64 {
	const width = lagsPerTick + 1
	var all, window, most uint64
	for i, n := range l {
		all += n
		window += n
		if i >= width {
			window -= l[i-width]
		}
		most = max(most, window)
	}
	return all - most
}

// weightOf notes the weight of the n-th call of a shard if the finer clock times that call, otherwise
// 0. The first 512 calls are timed, then ever fewer, and in the end one in 1,024, since all
// processors share the notes. The choice must not depend on the clock.
func weightOf(n uint64) notes {
	oneInBits := min(bits.Len64(n>>9), 10)
	if scramble(n)>>(64-oneInBits) != 0 {
		return 0
	}
	return notes(oneInBits + 1)
}
