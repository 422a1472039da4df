package env

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"chronoscope/stats"
)

// Cost bounds the share by which work takes longer while its core is shared, with a confidence of 95 %. Some samples
// are shared for longer than others: if these take no longer, sharing costs nothing.
//
// Probes show whether the core was shared just before and just after a sample, not for how long in between. The
// correlation of two moments falls with the time between them, ever more slowly (it is convex). So the mean correlation
// of one end with the moments of the sample lies between the correlation of the two ends and the mean of that and 1.
// How long sharing lasts may differ: of two probes of a core of an EPYC (Zen 3) the correlation was 0.7 after 0.05 ms,
// 0.4 after 5 ms and 0.2 after 100 ms. Three things are assumed: the core is shared between the ends as often as at
// them, sharing does not recur with a period ([Pause] shows that), and it costs all samples the same share.
//
// If the samples don't tell it, Lo is 0 and Hi is infinite. The zero value is that of a core that nothing shared.
type Cost struct {
	Value, Lo, Hi float64

	// typical is the share of ends that were shared, and so of the time, and typicalMost the upper end of its interval.
	typical, typicalMost float64
	// follows is the least by which the time that a sample was shared follows its two ends: from 0, where they tell
	// nothing of it, to 1.
	follows float64
}

const (
	// fewestForCost is the least number of samples that tell what sharing costs, and fewestEnds that of the ends that
	// were shared, and of those that were not.
	fewestForCost, fewestEnds = 12, 8
	// leastCorrelation is the least correlation of a sample's two ends that tells something: below it, sharing comes and
	// goes within samples.
	leastCorrelation = 0.05
	// costBlocks is the number of blocks of successive samples of which each Monte Carlo draw takes some again. Others
	// come and go in phases that are longer than a short sample. costTail is the part of the draws beyond each bound.
	costBlocks, costDraws, costTail = 30, 400, 0.025
)

// costSums sums over samples: their number, how many of their ends were shared (0, 0.5 or 1 of a sample), in how many both
// were, the time, and the time multiplied by the shared ends.
type costSums struct{ n, shared, both, ns, nsShared float64 }

func (s *costSums) add(o costSums) {
	s.n, s.shared, s.both, s.ns, s.nsShared = s.n+o.n, s.shared+o.shared, s.both+o.both, s.ns+o.ns, s.nsShared+o.nsShared
}

// sharedEnds returns how many of the sample's ends were shared: 0, 0.5 or 1.
func (p Probed) sharedEnds() (ends float64) {
	for _, slowed := range []float64{p.SlowedBefore, p.SlowedAfter} {
		if slowed > SharedFrom {
			ends += 0.5
		}
	}
	return ends
}

// sums returns the sums of one sample that took ns.
func (p Probed) sums(ns float64) costSums {
	ends := p.sharedEnds()
	return costSums{n: 1, shared: ends, both: math.Floor(ends), ns: ns, nsShared: ns * ends}
}

func (s costSums) typical() float64  { return s.shared / s.n }
func (s costSums) variance() float64 { return s.typical() * (1 - s.typical()) }

// correlation returns the correlation of the two ends of a sample; NaN if all ends were the same.
func (s costSums) correlation() float64 {
	return (s.both/s.n - s.typical()*s.typical()) / s.variance()
}

// costs returns the least and the greatest cost of sharing that the sums may show, if the time for which a sample was shared
// follows its ends by a share of at least followsLo and at most followsHi. The greatest cost is infinite if they show none.
func (s costSums) costs(followsLo, followsHi float64) (lo, hi float64) {
	ends := s.correlation()
	if !(ends >= leastCorrelation) {
		return 0, math.Inf(1)
	}
	mean := s.ns / s.n
	longer := (s.nsShared/s.n - mean*s.typical()) / s.variance()
	of := func(correlation float64) float64 { // of an end with the sample
		slope := longer / correlation
		if alone := mean - slope*s.typical(); alone > 0 {
			return math.Max(0, slope/alone)
		}
		return math.Inf(1)
	}
	least := math.Max(ends, followsLo*(1+ends)/2)
	return of(math.Max(least, followsHi*(1+ends)/2)), of(least)
}

// Pause is a time about as long as a sample in which nothing was measured, and the core was probed all the time.
type Pause struct {
	// SlowedBefore and SlowedAfter are results of [Core.Slowed] at its ends.
	SlowedBefore, SlowedAfter float64
	// Shared is the share of the time between in which something shared the core.
	Shared float64
}

const (
	// fewestPauses is the least number of pauses that show whether the ends of samples tell of the time between.
	fewestPauses = 8
	// recursBelow is a part of the least by which shared time follows the ends of samples if sharing does not recur. If pauses do
	// not show at least that part, it may recur. For example, a guest that draws 60 pictures a second shares each sample of
	// 50 ms for about the same time, whatever its ends are. The samples would then seem to show that sharing costs nothing.
	recursBelow = 0.5
)

// followed returns 95 % bounds of a slope: by how much the shared part of a pause (Pause.Shared) grows with the share
// of its two ends that were shared. 0 means that the ends tell nothing about the time between them, 1 that they tell
// all of it. It returns 0 and 1 if there are fewer than fewestPauses pauses, or if all of them have the same ends.
func followed(pauses []Pause) (lo, hi float64) {
	if len(pauses) < fewestPauses {
		return 0, 1
	}
	n := float64(len(pauses))
	var ends, shared, squares, products float64 // means
	for _, p := range pauses {
		e := p.sharedEnds()
		ends, shared, squares, products = ends+e/n, shared+p.Shared/n, squares+e*e/n, products+e*p.Shared/n
	}
	variance := squares - ends*ends
	if variance <= 0 {
		return 0, 1
	}
	slope, residual := (products-ends*shared)/variance, 0.0
	for _, p := range pauses {
		residual += math.Pow(p.Shared-shared-slope*(p.sharedEnds()-ends), 2) / (n - 2)
	}
	off := distuv.StudentsT{Sigma: 1, Nu: n - 2}.Quantile(0.5+stats.Confidence/2) * math.Sqrt(residual/(n*variance))
	return math.Max(0, slope-off), math.Min(1, slope+off)
}

func (p Pause) sharedEnds() float64 {
	return Probed{SlowedBefore: p.SlowedBefore, SlowedAfter: p.SlowedAfter}.sharedEnds()
}

// costOf returns what samples tell of the cost of sharing. If pauses is nil, none were made, and sharing is taken not to recur.
func costOf(samples []Probed, pauses []Pause) Cost {
	samples = slices.DeleteFunc(slices.Clone(samples), func(p Probed) bool { return math.IsNaN(p.SlowedBefore + p.SlowedAfter + p.Ns) })
	typical := stats.Median(stats.Each(samples, func(p Probed) float64 { return p.Ns }))
	var all costSums
	var blocks []costSums
	for block := range slices.Chunk(samples, (len(samples)+costBlocks-1)/costBlocks) {
		var sum costSums
		for _, p := range block {
			sum.add(p.sums(math.Min(SharedTimes*typical, math.Max(typical/SharedTimes, p.Ns))))
		}
		blocks = append(blocks, sum)
		all.add(sum)
	}
	followsLo, followsHi := followed(pauses)
	rng := rand.New(rand.NewPCG(1, 2))
	var lows, highs, shares []float64
	for range costDraws {
		var drawn costSums
		for range blocks {
			drawn.add(blocks[rng.IntN(len(blocks))])
		}
		lo, hi := drawn.costs(followsLo, followsHi)
		lows, highs, shares = append(lows, lo), append(highs, hi), append(shares, drawn.typical())
	}
	slices.Sort(lows)
	slices.Sort(highs)
	slices.Sort(shares)
	const least, most = int(costTail * costDraws), int((1 - costTail) * costDraws)
	unknown := Cost{Hi: math.Inf(1), typical: all.typical(), typicalMost: shares[most]}
	c := unknown
	c.Lo, c.Hi = lows[least], highs[most]
	if all.n < fewestForCost || 2*math.Min(all.shared, all.n-all.shared) < fewestEnds || !c.Known() {
		return unknown
	}
	lo, hi := all.costs(followsLo, followsHi)
	c.Value = math.Max(c.Lo, math.Min(c.Hi, (lo+hi)/2))
	ends := all.correlation()
	c.follows = 2 * ends / (1 + ends)
	if pauses != nil && followsLo < c.follows*recursBelow {
		return unknown
	}
	c.follows = math.Max(c.follows, followsLo)
	return c
}

// Known reports whether the samples tell what sharing costs.
func (c Cost) Known() bool { return !math.IsInf(c.Hi, 1) }

// AtMost returns the cost with the share as its upper bound if it may be greater. A cost that the samples show to be greater
// stays as it is.
func (c Cost) AtMost(share float64) Cost {
	if c.Lo <= share {
		c.Hi = math.Min(c.Hi, share)
		c.Value = math.Min(c.Value, c.Hi)
	}
	return c
}

// MayExceed reports whether the cost may be greater than a share, and is not shown to be.
func (c Cost) MayExceed(share float64) bool { return c.Hi > share && c.Lo <= share }

// Parts returns the least and the greatest share of the sample that was shared, on average over samples with such ends.
func (c Cost) Parts(p Probed) (least, most float64) {
	if math.IsNaN(p.SlowedBefore + p.SlowedAfter) {
		return 0, 1
	}
	ends := p.sharedEnds()
	like := func(typical float64) float64 { return typical + c.follows*(ends-typical) }
	return math.Min(ends, like(c.typical)), math.Max(ends, like(c.typicalMost))
}

// Unseen returns the greatest share by which sharing slows samples with ends that are not shared, on average.
func (c Cost) Unseen() float64 {
	_, most := c.Parts(Probed{})
	return c.Hi * most
}
