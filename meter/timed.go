package meter

import (
	"math"
	"math/bits"

	"chronoscope/stats"
)

// Timed holds sums over the few calls that the finer clock timed from Start to Stop. Which calls are
// timed is decided before they begin, by the number of calls alone, so that their mean is unbiased
// whatever the coarse clock does. In the long run it is far less precise than the mean by edges, and
// serves to check it.
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
	// Uneven counts the timed calls at whose end the coarse clock was farther behind than a clock that
	// ticks evenly ever is.
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

// mean returns the mean length of a call in ns, and its standard error: that of a ratio of two
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

// fewestTimed is the least number of timed calls whose mean may contradict the edges.
const fewestTimed = 30

// contradicts reports whether the timed calls took longer on average than the mean by edges, and by more
// than chance explains except once in 200 times. If they took less time nothing follows, since long calls
// may be too rare to be among them.
func (t *Timed) contradicts(edges stats.Estimate) bool {
	if t.Count < fewestTimed {
		return false
	}
	mean, standardError := t.mean()
	return mean-edges.Value > 2.58*math.Hypot(standardError, (edges.Hi-edges.Value)/1.96)
}

// unevenShare is the share of the timed calls that may end while the clock is unusually far behind: a
// tick's interrupt may be late now and then.
const unevenShare = 0.03

// ticksUnevenly reports whether the clock ticks at uneven intervals around the calls.
func (t *Timed) ticksUnevenly() bool {
	return t.Count >= fewestTimed && float64(t.Uneven) > max(3, unevenShare*float64(t.Count))
}

// lags counts the timed calls by how far the coarse clock was behind the finer one when they ended. If
// the clock ticks evenly, these lags differ by one tick at most.
type lags [8 * lagsPerTick]uint64

const lagsPerTick = 16

// add counts a lag in ticks. The origin of lags is less than a tick from the least one.
func (l *lags) add(ticks float64) {
	l[int(min(max((ticks+2)*lagsPerTick, 0), float64(len(l)-1)))]++
}

// uneven returns the number of lags outside of the tick that holds most of them.
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

// weightOf returns the weight of the n-th call of a shard as notes, if the finer clock times that call;
// otherwise 0. The first 512 calls are timed, then ever fewer, and in the end one in 1,024, since all
// processors share one [phases]. The choice must not depend on the clock.
func weightOf(n uint64) notes {
	oneInBits := min(bits.Len64(n>>9), 10)
	if scramble(n)>>(64-oneInBits) != 0 {
		return 0
	}
	return notes(oneInBits + 1)
}
