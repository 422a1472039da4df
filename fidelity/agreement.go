package fidelity

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/stats"
)

// span is what one sample allows a quantity to be.
type span struct{ lo, hi float64 }

func (s span) meets(other span) bool { return s.lo <= other.hi && other.lo <= s.hi }

func (s span) middle() float64 { return s.lo + (s.hi-s.lo)/2 }

// agreement is where most of the spans overlap, and how many do (Marzullo,
// Maintaining the Time in a Distributed System, 1984; the selection of NTP, RFC
// 5905, section 11.2.1). Where each span is right, all of them overlap and the
// truth lies in what they share; wrong ones in the minority can't move it.
func agreement(spans []span) (common span, count int) {
	type edge struct {
		at    float64
		enter bool
	}
	edges := make([]edge, 0, 2*len(spans))
	for _, s := range spans {
		edges = append(edges, edge{s.lo, true}, edge{s.hi, false})
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if c := cmp.Compare(a.at, b.at); c != 0 || a.enter == b.enter {
			return c
		}
		if a.enter { // spans that touch do overlap
			return -1
		}
		return 1
	})
	open := 0
	for i, e := range edges {
		if !e.enter {
			open--
			continue
		}
		if open++; open > count {
			// The next edge closes a span, or the count would grow further there.
			count, common = open, span{e.at, edges[i+1].at}
		}
	}
	return common, count
}

// tickRates is what each sample allows the counter's rate to be, in ticks a
// nanosecond, where stepTicks is the counter's step. Samples no longer than their
// own error say nothing and are left out.
func tickRates(samples []Sample, stepTicks float64) []span {
	var rates []span
	for _, s := range samples {
		shortest, longest := s.ReferenceNs-s.PairingNs, s.ReferenceNs+s.PairingNs
		if shortest <= 0 {
			continue
		}
		ticks := float64(s.CounterTicks)
		fewest, most := ticks-stepTicks, ticks+stepTicks
		rates = append(rates, span{
			math.Min(fewest/longest, fewest/shortest),
			math.Max(most/longest, most/shortest),
		})
	}
	return rates
}

// fitRate is the counter's rate over the reference, in ticks a nanosecond: where
// the samples agree, and where fewer than half do, the median of their rates with
// its interval. Both stand up to samples that are wrong.
func fitRate(samples []Sample, stepTicks float64) stats.Estimate {
	rates := tickRates(samples, stepTicks)
	if len(rates) == 0 {
		return stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), Discarded: len(samples)}
	}
	common, count := agreement(rates)
	if 2*count > len(rates) {
		return stats.Estimate{
			Value: common.middle(), Lo: common.lo, Hi: common.hi,
			Statistic: "agreement", N: count, Discarded: len(samples) - count,
		}
	}
	return medianRate(rates, len(samples))
}

// medianRate is for samples that follow no common rate. Too few of them for an
// interval are bounded by their extremes.
func medianRate(rates []span, samples int) stats.Estimate {
	middles := make([]float64, len(rates))
	for i, r := range rates {
		middles[i] = r.middle()
	}
	slices.Sort(middles)
	e, _, err := stats.QuantileInterval(middles, 0.5, "")
	if err != nil {
		e.Lo, e.Hi = middles[0], middles[len(middles)-1]
	}
	e.Discarded = samples - len(rates)
	return e
}
