package gobench

import (
	"math"
	"slices"
	"strings"

	"chronoscope/stats"
)

// metricsOf are the medians of what else the repetitions report, with their intervals. Of figures
// that the testing package divides by the iterations, or by the time, the part that is spent only
// once cancels, as it does in the time.
func metricsOf(used []Repetition) (all []Metric) {
	for i, m := range used[0].Many.Metrics {
		var values []float64
		for _, rep := range used {
			if of := rep.Many.Metrics; i < len(of) && of[i].Unit == m.Unit {
				values = append(values, rep.metric(i))
			}
		}
		e := stats.MedianOrRange(values, m.Unit)
		all = append(all, Metric{Unit: m.Unit, Value: e.Value, Lo: stats.FloatOf(e.Lo), Hi: stats.FloatOf(e.Hi)})
	}
	return all
}

// metricIn is what a repetition shows of a metric; false where it does not have it.
func (r Repetition) metricIn(unit string) (value float64, ok bool) {
	i := slices.IndexFunc(r.Many.Metrics, func(m Metric) bool { return m.Unit == unit })
	if i < 0 {
		return 0, false
	}
	return r.metric(i), true
}

// CompareMetric says how a metric of B relates to that of A, as [Compare] does of the times. A rate,
// of which more is better, is turned round, so that above 1 is always worse. Where it is 0 at
// times, 1 is added to all values, so that they have a ratio.
func CompareMetric(a, b *Result, unit string, seed uint64) Comparison {
	c := Comparison{A: a, B: b, Basis: Timer, Metric: unit}
	var first, second []float64
	for i, at := range b.timed.kind.at {
		j, paired := slices.BinarySearch(a.timed.kind.at, at)
		if !paired {
			continue
		}
		x, ok := a.timed.kind.used[j].metricIn(unit)
		y, also := b.timed.kind.used[i].metricIn(unit)
		if ok && also && !(x < 0) && !(y < 0) {
			first, second = append(first, x), append(second, y)
		}
	}
	added := 0.
	if slices.Contains(first, 0) || slices.Contains(second, 0) {
		added = 1
	}
	for i := range first {
		x, y := first[i]+added, second[i]+added
		if IsRate(unit) {
			x, y = y, x
		}
		c.pairs.Add(stats.Bounded{Lo: x, Mid: x, Hi: x}, stats.Bounded{Lo: y, Mid: y, Hi: y})
	}
	c.decide(0, seed)
	return c
}

// IsRate reports whether more of a unit is better.
func IsRate(unit string) bool { return strings.HasSuffix(unit, "/s") }

// metricsInBoth are the units that both report, without the rate that follows from the time.
func metricsInBoth(a, b *Result) (units []string) {
	for _, m := range b.Metrics {
		if m.Unit != "MB/s" && slices.ContainsFunc(a.Metrics, func(n Metric) bool { return n.Unit == m.Unit }) {
			units = append(units, m.Unit)
		}
	}
	return units
}

// metric is what a repetition shows of the i-th metric of its longer run.
func (r Repetition) metric(i int) float64 {
	many := r.Many.Metrics[i]
	if i >= len(r.Few.Metrics) || r.Few.Metrics[i].Unit != many.Unit {
		return many.Value
	}
	total := func(value float64, o Observation) float64 { return value * float64(o.N) }
	divisor, rounding := r.iterations(), float64(r.Many.N)
	switch many.Unit {
	case "B/op", "allocs/op": // rounded down to whole ones
	case "MB/s":
		total = func(value float64, o Observation) float64 { return value * o.TimedNs }
		divisor, rounding = r.Many.TimedNs-r.Few.TimedNs, 0
	default: // the benchmark's own: what it is divided by is not known
		return many.Value
	}
	few := r.Few.Metrics[i].Value
	slope := (total(many.Value, r.Many) - total(few, r.Few)) / divisor
	switch {
	case !(divisor > 0) || many.Value == few:
		return many.Value
	case rounding == 0:
		return math.Max(0, slope)
	case math.Abs(many.Value-slope) < rounding/divisor: // no more than the rounding
		return many.Value
	}
	return math.Max(0, math.Round(slope))
}
