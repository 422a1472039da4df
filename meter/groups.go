package meter

import "math"

// Groups are sums over groups of calls. A group extends from one edge that calls saw to the next. It
// has n calls, which saw t ticks, and the clock moved by g ticks in it.
type Groups struct {
	Count        uint64  `json:"count"`
	CallsSquared float64 `json:"calls_squared"` // sum of n^2
	CallsTicks   float64 `json:"calls_ticks"`   // sum of n t
	TicksSquared float64 `json:"ticks_squared"` // sum of t^2
	// These are the first two sums over single ticks instead of groups, if the calls of each group
	// are spread evenly over its ticks.
	CallsSquaredSpread float64 `json:"calls_squared_spread"` // sum of n^2/g
	CallsTicksSpread   float64 `json:"calls_ticks_spread"`   // sum of n t/g
}

func (g *Groups) add(calls, ticks uint64, elapsed float64) {
	if calls == 0 && ticks == 0 {
		return
	}
	n, t, elapsed := float64(calls), float64(ticks), max(elapsed, 1)
	g.merge(Groups{1, n * n, n * t, t * t, n * n / elapsed, n * t / elapsed})
}

// possible reports whether no sum is negative.
func (g *Groups) possible() bool {
	return min(g.CallsSquared, g.CallsTicks, g.TicksSquared, g.CallsSquaredSpread, g.CallsTicksSpread) >= 0
}

func (g *Groups) merge(other Groups) {
	g.Count += other.Count
	g.CallsSquared += other.CallsSquared
	g.CallsTicks += other.CallsTicks
	g.TicksSquared += other.TicksSquared
	g.CallsSquaredSpread += other.CallsSquaredSpread
	g.CallsTicksSpread += other.CallsTicksSpread
}

// variance returns the variance of the sum of all ticks, given their mean per call: that of a ratio over
// clusters (Cochran, Sampling Techniques, 3rd ed., sections 6.3 and 9A.2). perCall is the variance if
// calls were independent.
//
// With single ticks as clusters, the variance is right if many calls share a tick, and far too large if
// a call takes many ticks. With groups as clusters it is right in both cases, but imprecise if there are
// few groups; it is used if it shows that calls depend on one another.
func (g *Groups) variance(mean, perCall float64) float64 {
	if g.Count < 2 {
		return perCall
	}
	// The groups are compared with a mean that they are part of, which makes the squares too small:
	// with G groups by (G-1)/G for independent values, and by the square of that for a ratio.
	few := math.Pow(float64(g.Count)/float64(g.Count-1), 2)
	whole := few * g.squares(mean)
	spread := few * (g.TicksSquared - 2*mean*g.CallsTicksSpread + mean*mean*g.CallsSquaredSpread)
	if whole <= perCall {
		return min(spread, perCall)
	}
	// The smaller of two estimates is too small on average. So the estimate by single ticks is
	// raised, the more the groups show that calls coincide.
	return min(whole, spread*math.Sqrt(whole/perCall))
}

// squares returns the sum of (t - mean n)^2 over the groups.
func (g *Groups) squares(mean float64) float64 {
	return g.TicksSquared - 2*mean*g.CallsTicks + mean*mean*g.CallsSquared
}

// A batch is batchGroups consecutive groups. Batches are used from fewestBatches on.
const (
	batchGroups   = 32
	fewestBatches = 30
)

// ofBatches returns the variance of the sum of all ticks, estimated from batches, whose sums g holds; 0
// if there are fewer than fewestBatches. It includes the dependence between neighbouring edges that
// periodic work causes (batch means; Law, Simulation Modeling and Analysis, 5th ed., section 9.5.3).
func (g *Groups) ofBatches(mean float64) float64 {
	if g.Count < fewestBatches {
		return 0
	}
	return g.squares(mean) * float64(batchGroups*g.Count) / float64(batchGroups*g.Count-batchGroups)
}
