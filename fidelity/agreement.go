package fidelity

import (
	"cmp"
	"math"
	"slices"

	"chronoscope/stats"
)

// span is the range in which a quantity must lie according to one sample.
type span struct{ lo, hi float64 }

func (s span) meets(other span) bool { return s.lo <= other.hi && other.lo <= s.hi }

func (s span) middle() float64 { return s.lo + (s.hi-s.lo)/2 }

// agreement returns the range in which most of the spans overlap, and how many do (Marzullo,
// Maintaining the Time in a Distributed System, 1984; the selection of NTP, RFC 5905, section
// 11.2.1). If every span is right, all of them overlap and the truth lies in their intersection.
// A minority of wrong spans can't change the result.
func agreement(spans []span) (common span, count int) {
	type edge struct {
		at    float64
		opens int // 1 where a span begins, -1 where it ends
	}
	edges := make([]edge, 0, 2*len(spans))
	for _, s := range spans {
		edges = append(edges, edge{s.lo, 1}, edge{s.hi, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { // spans that only touch overlap too
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.opens, a.opens))
	})
	open := 0
	for i, e := range edges {
		if open += e.opens; open > count {
			// The next edge closes a span; otherwise the count would be higher there.
			count, common = open, span{e.at, edges[i+1].at}
		}
	}
	return common, count
}

// tickRates returns the range of the counter's rate according to each sample, in ticks per
// nanosecond; stepTicks is the counter's step. It leaves out samples that are no longer than their
// own error.
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

// fitRate returns the counter's rate against the reference, in ticks per nanosecond. It is the
// range in which the samples agree, or, if fewer than half do, the median of their rates with its
// interval. A minority of wrong samples changes neither.
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

// medianRate returns the median rate of samples that have no rate in common. If there are too few
// for an interval, their extremes are the bounds.
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
