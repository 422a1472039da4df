package gobench

import (
	"math"

	"chronoscope/stats"
)

// Report is one benchmark, as a document holds it. Unknown values are null, for a reason that stands in Reasons
// or among the caveats.
type Report struct {
	Benchmark
	Summary
	// Repetitions has those that the estimate rests on, Runs the processes of all repetitions, and Duets those that ran at
	// the same time as the other benchmark of a pair.
	Repetitions []RepetitionReport `json:"repetitions"`
	Runs        []RunReport        `json:"runs"`
	Duets       []RunReport        `json:"duets,omitempty"`
	stats.Judgement
}

// RepetitionReport is a pair of runs.
type RepetitionReport struct {
	TimeNs float64 `json:"time_ns"` // corrected
}

// RunReport is one process.
type RunReport struct {
	Iterations          int         `json:"iterations"`
	Traced              bool        `json:"traced"`
	TimedNs             float64     `json:"timed_ns"`
	WallNs              float64     `json:"wall_ns"` // see [Observation], also for the following fields
	CPUNs               float64     `json:"cpu_ns"`
	WaitNs              stats.Float `json:"runqueue_wait_ns"`
	InvoluntarySwitches float64     `json:"involuntary_switches"`
}

// NewReport returns a result in the form of a document.
func NewReport(r *Result) Report {
	b := Report{Benchmark: r.Benchmark, Summary: r.Summary, Repetitions: []RepetitionReport{}, Runs: []RunReport{}, Judgement: r.Judgement}
	b.Metrics = append([]Metric{}, r.Metrics...)
	for _, ns := range r.Times {
		b.Repetitions = append(b.Repetitions, RepetitionReport{ns})
	}
	b.Runs, b.Duets = append(b.Runs, runsOf(r.Repetitions)...), runsOf(r.Duets)
	return b
}

// StrayAllocs returns how many allocations of the Go runtime may at most be counted as those of an iteration. A metric follows
// from what the longer run of a repetition allocates beyond the shorter one, which has at most half of its iterations. The
// result is NaN if no run is known.
func (b Report) StrayAllocs() float64 {
	least := 0
	for _, r := range b.Runs {
		if isLonger := 2*r.Iterations > b.Iterations; isLonger && (least == 0 || r.Iterations < least) {
			least = r.Iterations
		}
	}
	if least == 0 {
		return math.NaN()
	}
	return strayObjects / (float64(least) / 2)
}

// runsOf returns the processes of repetitions.
func runsOf(repetitions []Repetition) (all []RunReport) {
	for _, rep := range repetitions {
		for _, o := range []Observation{rep.Least, rep.Few, rep.Many} {
			if o.N == 0 {
				continue // not made
			}
			all = append(all, RunReport{
				Iterations: o.N, Traced: rep.Traced, TimedNs: o.TimedNs, WallNs: o.WallNs, CPUNs: o.CPUNs,
				WaitNs: stats.FloatOf(o.WaitNs), InvoluntarySwitches: o.InvoluntarySwitches,
			})
		}
	}
	return all
}

// Pair returns the comparison in the form of a document.
func (j Judged) Pair() stats.Pair {
	p := stats.NewPair(label(j.A.Benchmark), label(j.B.Benchmark), j.Comparison.Comparison, j.Joint)
	if p.Metric, p.Duets = j.Metric, j.duets; j.B.NoDuets != nil && j.Metric == "" {
		p.NoDuets = "when both ran at the same time, " + j.B.NoDuets.Error()
	}
	if j.placed.layouts > 0 {
		p.Placement = &stats.PairPlacement{Layouts: j.placed.layouts, Deviation: stats.FloatOf(j.Placement), Own: stats.FloatOf(j.Own)}
	}
	p.Why, p.FalseDiscoveries = j.Why, stats.FloatOf(j.FalseDiscoveries)
	p.Joint.Limit, p.Joint.Beyond, p.Joint.Side = stats.FloatOf(j.Limit), stats.FloatOf(j.Beyond), j.Side
	p.Joint.Why, p.Joint.FarBeyond = j.WhyOpen, j.FarBeyond
	return p
}

// label returns a benchmark's name with its revision.
func label(b Benchmark) string {
	if b.Revision == "" {
		return b.Package + "." + b.Name
	}
	return b.Package + "." + b.Name + " at " + b.Revision
}
