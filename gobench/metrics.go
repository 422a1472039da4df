package gobench

import (
	"math"
	"slices"

	"chronoscope/stats"
)

// metricsOf returns the medians of all other metrics of the repetitions, with their intervals. If the testing
// package divides a metric by the iterations, or by the time, what is spent only once is removed, as for the
// time.
func metricsOf(used []Repetition) (all []Metric) {
	for i, m := range used[0].Many.Metrics {
		var values []float64
		for _, rep := range used {
			if of := rep.Many.Metrics; i < len(of) && of[i].Unit == m.Unit {
				values = append(values, rep.metric(i))
			}
		}
		e := stats.MedianOrRange(values, m.Unit)
		if whole := math.Round(e.Value); isCount(m.Unit) && math.Abs(e.Value-whole) <= strays(m.Unit, used) {
			e.Value = whole
			e.Lo, e.Hi = math.Min(e.Lo, whole), math.Max(e.Hi, whole)
		}
		all = append(all, Metric{Unit: m.Unit, Value: e.Value, Lo: stats.FloatOf(e.Lo), Hi: stats.FloatOf(e.Hi)})
	}
	return all
}

// metricIn returns the value of a metric in a repetition; false if it has none.
func (r Repetition) metricIn(unit string) (value float64, ok bool) {
	i := slices.IndexFunc(r.Many.Metrics, func(m Metric) bool { return m.Unit == unit })
	if i < 0 {
		return 0, false
	}
	return r.metric(i), true
}

// CompareMetric compares a metric of B with that of A, as [Compare] does with times. The ratio of a rate is
// inverted, since more of it is better: above 1 is always worse. If a median is less than half a byte or allocation, 1
// is added to all values, so that stray counts make no large ratio; for other zeros see [stats.Pairs].
func CompareMetric(a, b *Result, unit string, seed uint64) Comparison {
	c := Comparison{A: a, B: b, Basis: Timer, Metric: unit}
	var first, second []float64
	then, now := a.Repetitions, b.Repetitions
	if c.duets = isCount(unit) && inDuets(a, b); c.duets {
		then, now = a.Duets, b.Duets
	}
	for i := range min(len(then), len(now)) { // also if something disturbed the time
		x, ok := then[i].metricIn(unit)
		y, also := now[i].metricIn(unit)
		if ok && also && x >= 0 && y >= 0 {
			first, second, c.at = append(first, x), append(second, y), append(c.at, i)
		}
	}
	least := 0.
	if isCount(unit) {
		least = 0.5
	}
	var added float64
	c.pairs, added = stats.RatiosOfMetric(first, second, stats.IsRate(unit), least)
	tolerance := 0.
	if isCount(unit) && len(first) > 0 {
		c.counts = &counts{first, second, strays(unit, b.Repetitions)}
		tolerance = c.counts.strays / (stats.Median(first) + added)
	}
	if c.counts == nil {
		c.place(a.Benchmark, a.Repetitions)
	}
	c.decide(tolerance, seed)
	return c
}

// AllocsUnit and bytesUnit are the units of what the testing package counts.
const AllocsUnit, bytesUnit = "allocs/op", "B/op"

func isCount(unit string) bool { return unit == AllocsUnit || unit == bytesUnit }

// counts are exact counts, of allocations or bytes, of both revisions. They do not depend on the machine, but
// may be off by strays.
type counts struct {
	first, second []float64
	strays        float64
}

// beyond returns the chance of such counts if the second revision has at most limit times those of the first.
func (c counts) beyond(looks stats.Looks, limit float64) float64 {
	allowed := make([]float64, len(c.first))
	for i, x := range c.first {
		allowed[i] = x * limit
	}
	return looks.AboveUnpaired(allowed, c.second)
}

// within reports whether the greatest count of the second revision is at most the least count of the first one, times
// limit, plus the strays. limit is a factor, such as 1.05.
func (c counts) within(limit float64) bool {
	return len(c.first) > 0 && slices.Max(c.second) <= slices.Min(c.first)*limit+c.strays
}

// metric returns what a repetition shows for the i-th metric of its longer run.
func (r Repetition) metric(i int) float64 {
	many := r.Many.Metrics[i]
	if i >= len(r.Few.Metrics) || r.Few.Metrics[i].Unit != many.Unit {
		return many.Value
	}
	total := func(value float64, o Observation) float64 { return value * float64(o.N) }
	divisor, rounding := r.iterations(), 0.
	switch many.Unit {
	case bytesUnit, AllocsUnit:
		if !r.Many.exact(many.Unit) || !r.Few.exact(many.Unit) { // rounded down to whole ones
			rounding = float64(r.Many.N)
		}
	case "MB/s":
		total = func(value float64, o Observation) float64 { return value * o.TimedNs }
		divisor = r.Many.TimedNs - r.Few.TimedNs
	default: // the benchmark's own metric: its divisor is unknown
		return many.Value
	}
	few := r.Few.Metrics[i].Value
	slope := (total(many.Value, r.Many) - total(few, r.Few)) / divisor
	switch {
	case !(divisor > 0) || many.Value == few:
		return many.Value
	case rounding == 0:
		return math.Max(0, slope)
	case math.Abs(many.Value-slope) < rounding/divisor: // the difference is within the rounding
		return many.Value
	}
	return math.Max(0, math.Round(slope))
}

// What the runtime usually allocates at most while a benchmark runs: for the collector, timers and goroutines.
const strayObjects, strayBytes = 16, 4096

// strays returns the share of stray allocations that falls on an iteration, for exactly counted repetitions. It
// is 0 for others, whose counts are rounded.
func strays(unit string, of []Repetition) float64 {
	if len(of) == 0 || !of[0].Many.exact(unit) {
		return 0
	}
	if unit == bytesUnit {
		return strayBytes / of[0].iterations()
	}
	return strayObjects / of[0].iterations()
}
