package gobench

import "chronoscope/stats"

// Report is one benchmark, as a document holds it. Times are per operation; what could not be had is null,
// for a reason that stands in Reasons or among the caveats.
type Report struct {
	Name     string         `json:"name"`
	Package  string         `json:"package"`
	Revision string         `json:"revision"` // empty for the working tree
	Estimate stats.Estimate `json:"estimate"` // on a machine of its own
	Basis    Basis          `json:"basis"`    // "timer", "cpu-time", "bounds"; empty where it was not measured
	Wall     stats.Estimate `json:"wall"`     // as go test has it
	CPU      stats.Estimate `json:"cpu"`
	Cycles   stats.Estimate `json:"cycles"`
	// WaitShare is for which part of their time threads waited for a CPU, at most 1; Runnable
	// is how many could run, on average.
	WaitShare  stats.Float    `json:"wait_share"`
	Runnable   stats.Float    `json:"runnable_threads"`
	Iterations int            `json:"iterations"` // of the longer run of a repetition
	Procs      int            `json:"gomaxprocs"`
	Corrected  int            `json:"corrected"` // repetitions
	Rejected   int            `json:"rejected"`
	Metrics    []MetricReport `json:"metrics"`
	// Repetitions are what the estimate is made of, Runs all processes.
	Repetitions []RepetitionReport `json:"repetitions"`
	Runs        []RunReport        `json:"runs"`
	stats.Judgement
}

// MetricReport is what a benchmark reports beside its time.
type MetricReport struct {
	Unit  string  `json:"unit"`
	Value float64 `json:"value"` // median
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
	WallNs              float64     `json:"wall_ns"` // of the process, as what follows
	CPUNs               float64     `json:"cpu_ns"`
	WaitNs              stats.Float `json:"runqueue_wait_ns"`
	InvoluntarySwitches float64     `json:"involuntary_switches"`
}

// NewReport puts a result into the form of a document.
func NewReport(r *Result) Report {
	b := Report{
		Name: r.Benchmark.Name, Package: r.Benchmark.Package, Revision: r.Benchmark.Revision,
		Estimate: r.Estimate, Basis: r.Basis, Wall: r.Wall, CPU: r.CPU, Cycles: r.Cycles,
		WaitShare: stats.FloatOf(r.WaitShare), Runnable: stats.FloatOf(r.Runnable),
		Iterations: r.Iterations, Procs: r.Procs, Corrected: r.Corrected, Rejected: r.Rejected,
		Metrics: []MetricReport{}, Repetitions: []RepetitionReport{}, Runs: []RunReport{},
		Judgement: r.Judgement,
	}
	for _, m := range r.Metrics {
		b.Metrics = append(b.Metrics, MetricReport(m))
	}
	for _, ns := range r.Times {
		b.Repetitions = append(b.Repetitions, RepetitionReport{ns})
	}
	for _, rep := range r.Repetitions {
		for _, o := range []Observation{rep.Least, rep.Few, rep.Many} {
			if o.N == 0 {
				continue // not made
			}
			b.Runs = append(b.Runs, RunReport{
				Iterations: o.N, Traced: rep.Traced, TimedNs: o.TimedNs, WallNs: o.WallNs, CPUNs: o.CPUNs,
				WaitNs: stats.FloatOf(o.WaitNs), InvoluntarySwitches: o.InvoluntarySwitches,
			})
		}
	}
	return b
}

// Pair is the comparison in the form of a document, one of several.
func (c *Comparison) Pair(comparisons int) stats.Pair {
	p := stats.NewPair(label(c.A.Benchmark), label(c.B.Benchmark), c.Comparison, c.Joint(comparisons))
	p.Why = c.Why
	return p
}

// label is a benchmark's name with its revision.
func label(b Benchmark) string {
	if b.Revision == "" {
		return b.Package + "." + b.Name
	}
	return b.Package + "." + b.Name + " at " + b.Revision
}
