package fidelity

import (
	"slices"
	"time"
)

// Plan says how many samples to take, and of what lengths.
type Plan struct {
	// SleepNs are the lengths of the samples of the workload sleep; each is taken SleepRepeats
	// times.
	SleepNs      []float64
	SleepRepeats int
	// OtherNs are the lengths of the samples of all other workloads; each is taken OtherRepeats
	// times.
	OtherNs      []float64
	OtherRepeats int
}

// The plans. The default plan has Kuperberg's 300 sleeps (2011b, section 3), which take 27 s, and
// some 40 s of all other workloads.
var (
	QuickPlan = Plan{
		SleepNs: []float64{20e6, 50e6, 90e6}, SleepRepeats: 3,
		OtherNs: []float64{5e6, 10e6, 20e6}, OtherRepeats: 4,
	}
	DefaultPlan = Plan{
		SleepNs: steps(20e6, 160e6, 10e6), SleepRepeats: 20,
		OtherNs: steps(10e6, 40e6, 10e6), OtherRepeats: 45,
	}
	ThoroughPlan = Plan{
		SleepNs: steps(20e6, 160e6, 10e6), SleepRepeats: 60,
		OtherNs: steps(10e6, 80e6, 10e6), OtherRepeats: 50,
	}
)

// steps returns the lengths from first to last, in steps of step.
func steps(first, last, step float64) []float64 {
	var lengths []float64
	for ns := first; ns <= last; ns += step {
		lengths = append(lengths, ns)
	}
	return lengths
}

// requests returns the lengths of a workload's samples in Kuperberg's order: from short to long, and
// those of the same length one after another.
func (p Plan) requests(workload string) []float64 {
	lengths, repeats := p.OtherNs, p.OtherRepeats
	if workload == Sleep {
		lengths, repeats = p.SleepNs, p.SleepRepeats
	}
	var requests []float64
	for _, ns := range lengths {
		requests = append(requests, slices.Repeat([]float64{ns}, repeats)...)
	}
	return requests
}

// LongestNs returns the longest interval of the workloads.
func (p Plan) LongestNs(workloads []Workload) float64 {
	longest := 0.0
	for _, w := range workloads {
		for _, ns := range p.requests(w.Name) {
			longest = max(longest, ns)
		}
	}
	return longest
}

// Lasts returns how long all samples of the workloads take.
func (p Plan) Lasts(workloads []Workload) time.Duration {
	return time.Duration(p.totalNs(workloads))
}

// totalNs returns how long all samples of the workloads take, in nanoseconds.
func (p Plan) totalNs(workloads []Workload) float64 {
	total := 0.0
	for _, w := range workloads {
		for _, ns := range p.requests(w.Name) {
			total += ns
		}
	}
	return total
}
