package timermeter

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/stats"
)

// LeastDisturbed is the cost and the quality of a clock in the least disturbed rounds of a ranking.
// Other programs make calls slower and more uneven, never faster. The median over all rounds
// therefore depends on what else runs: while other programs are compiled it changes by a third
// within a minute. The least cost of the rounds is nearly the same in each ranking that had a few
// calm rounds.
//
// One end of each interval is the value of the round [agreeing] places behind the best, the other
// end is as far away from the best on a logarithmic scale. The interval is narrow if several rounds
// agree on the least (Bryant and O'Hallaron's K-best criterion). A cost is uncertain by at least
// half a cycle of the core, because a call overlaps with the instructions around it. The interval
// does not cover a disturbance that lasted for the whole ranking; package compare estimates that
// from the other clocks.
type LeastDisturbed struct {
	Cost    stats.Estimate `json:"cost"` // nanoseconds
	Quality stats.Estimate `json:"quality"`
}

const (
	// fewestRounds is the least number of rounds that have a LeastDisturbed.
	fewestRounds = 10
	// agreeing is how many rounds have to be near one another for a narrow interval.
	agreeing  = 3
	halfCycle = 0.5
)

// round is the cost and the spread of a clock in one round of a ranking.
type round struct{ costNs, spread float64 }

func (c *CostSampler) rounds() (all []round) {
	for _, k := range c.chunks {
		all = append(all, round{c.meter.median(k.means, c.meter.batch), k.spread(c.accuracyNs)})
	}
	return all
}

func (r *Rating) leastDisturbed(rounds []round, cyclesPerNs float64) *LeastDisturbed {
	if len(rounds) < fewestRounds {
		return nil
	}
	slices.SortFunc(rounds, func(a, b round) int { return cmp.Compare(a.costNs, b.costNs) })
	best, later := rounds[0], rounds[agreeing-1]
	if cyclesPerNs > 0 {
		later.costNs = math.Max(later.costNs, best.costNs+halfCycle/cyclesPerNs)
	}
	slices.SortFunc(rounds, func(a, b round) int { return cmp.Compare(b.spread, a.spread) })
	best.spread, later.spread = rounds[0].spread, rounds[agreeing-1].spread
	estimate := func(unit string, of func(round) float64) stats.Estimate {
		value, other := of(best), of(later)
		opposite := value * value / other
		return stats.Estimate{Value: value, Lo: math.Min(other, opposite), Hi: math.Max(other, opposite), Unit: unit, Statistic: "least disturbed", N: len(rounds)}
	}
	return &LeastDisturbed{
		Cost:    estimate("ns", func(x round) float64 { return x.costNs }),
		Quality: estimate("share", func(x round) float64 { return r.qualityOf(x.costNs*cyclesPerNs, x.spread) }),
	}
}
