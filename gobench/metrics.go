package gobench

import (
	"math"

	"chronoscope/stats"
)

// metricsOf are the medians of what else the repetitions report. Of figures that the testing
// package divides by the iterations, or by the time, the part that is spent only once cancels, as
// it does in the time.
func metricsOf(used []Repetition) (all []Metric) {
	for i, m := range used[0].Many.Metrics {
		var values []float64
		for _, rep := range used {
			if of := rep.Many.Metrics; i < len(of) && of[i].Unit == m.Unit {
				values = append(values, rep.metric(i))
			}
		}
		all = append(all, Metric{Unit: m.Unit, Value: stats.Median(values)})
	}
	return all
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
