package record

import (
	"chronoscope/gobench"
	"chronoscope/stats"
)

var _ = register[Bench]("bench")

// Bench is the document of a module's Go benchmarks.
type Bench struct {
	Header
	Results []Benchmark `json:"results"`
	Pairs   []Pair      `json:"pairs"` // of two revisions, where that was asked for
}

// Benchmark is one benchmark. Times are per operation; what could not be had is null,
// for a reason that stands in Reasons or among the caveats.
type Benchmark struct {
	Name     string         `json:"name"`
	Package  string         `json:"package"`
	Revision string         `json:"revision"` // empty for the working tree
	Estimate stats.Estimate `json:"estimate"` // on a machine of its own
	Basis    gobench.Basis  `json:"basis"`    // "timer", "cpu-time", "bounds"; empty where it was not measured
	Wall     stats.Estimate `json:"wall"`     // as go test has it
	CPU      stats.Estimate `json:"cpu"`
	Cycles   stats.Estimate `json:"cycles"`
	// WaitShare is for which part of their time threads waited for a CPU, at most 1; Runnable
	// is how many could run, on average.
	WaitShare  *float64          `json:"wait_share"`
	Runnable   *float64          `json:"runnable_threads"`
	Iterations int               `json:"iterations"` // of the longer run of a repetition
	Procs      int               `json:"gomaxprocs"`
	Corrected  int               `json:"corrected"` // repetitions
	Rejected   int               `json:"rejected"`
	Metrics    []BenchmarkMetric `json:"metrics"`
	// Repetitions are what the estimate is made of, Runs all processes.
	Repetitions []BenchmarkRepetition `json:"repetitions"`
	Runs        []BenchmarkRun        `json:"runs"`
	Verdict     stats.Verdict         `json:"verdict"`
	Reasons     []string              `json:"reasons"`
}

// BenchmarkMetric is what a benchmark reports beside its time.
type BenchmarkMetric struct {
	Unit  string  `json:"unit"`
	Value float64 `json:"value"` // median
}

// BenchmarkRepetition is a pair of runs.
type BenchmarkRepetition struct {
	TimeNs float64 `json:"time_ns"` // corrected
}

// BenchmarkRun is one process.
type BenchmarkRun struct {
	Iterations          int      `json:"iterations"`
	Traced              bool     `json:"traced"`
	TimedNs             float64  `json:"timed_ns"`
	WallNs              float64  `json:"wall_ns"` // of the process, as what follows
	CPUNs               float64  `json:"cpu_ns"`
	WaitNs              *float64 `json:"runqueue_wait_ns"`
	InvoluntarySwitches float64  `json:"involuntary_switches"`
}

// Pair is how the second of two results does beside the first.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// Ratio is the time of B over that of A.
	Ratio   stats.Estimate `json:"ratio"`
	PValue  *float64       `json:"p_value"`
	Outcome string         `json:"outcome"` // "faster", "slower", "same", "undecided": of B
	// Why says why the outcome is undecided.
	Why string `json:"why,omitempty"`
	// Joint bounds the ratio together with those of all pairs; nil in documents that are
	// older than it.
	Joint *PairJoint `json:"joint,omitempty"`
}

// PairJoint bounds a ratio so that those of all pairs hold at once: each end is wrong in any
// of them with a chance of FalseAlarms at most.
type PairJoint struct {
	Lo          *float64 `json:"lo"` // null where the repetitions are too few
	Hi          *float64 `json:"hi"`
	FalseAlarms float64  `json:"false_alarms"`
	Comparisons int      `json:"comparisons"`
}

func newPairJoint(j stats.Joint) *PairJoint {
	return &PairJoint{stats.Finite(j.Lo), stats.Finite(j.Hi), j.FalseAlarms, j.Comparisons}
}

// NewBenchmark puts a result into the form of a document.
func NewBenchmark(r *gobench.Result) Benchmark {
	b := Benchmark{
		Name: r.Benchmark.Name, Package: r.Benchmark.Package, Revision: r.Benchmark.Revision,
		Estimate: r.Estimate, Basis: r.Basis, Wall: r.Wall, CPU: r.CPU, Cycles: r.Cycles,
		WaitShare: stats.Finite(r.WaitShare), Runnable: stats.Finite(r.Runnable),
		Iterations: r.Iterations, Procs: r.Procs, Corrected: r.Corrected, Rejected: r.Rejected,
		Metrics: []BenchmarkMetric{}, Repetitions: []BenchmarkRepetition{}, Runs: []BenchmarkRun{},
		Verdict: r.Verdict, Reasons: r.Reasons,
	}
	for _, m := range r.Metrics {
		b.Metrics = append(b.Metrics, BenchmarkMetric(m))
	}
	for _, ns := range r.Times {
		b.Repetitions = append(b.Repetitions, BenchmarkRepetition{ns})
	}
	for _, rep := range r.Repetitions {
		for _, o := range []gobench.Observation{rep.Least, rep.Few, rep.Many} {
			if o.N == 0 {
				continue // not made
			}
			b.Runs = append(b.Runs, BenchmarkRun{
				Iterations: o.N, Traced: rep.Traced, TimedNs: o.TimedNs, WallNs: o.WallNs, CPUNs: o.CPUNs,
				WaitNs: stats.Finite(o.WaitNs), InvoluntarySwitches: o.InvoluntarySwitches,
			})
		}
	}
	return b
}

// NewPair puts one of so many comparisons into the form of a document.
func NewPair(c gobench.Comparison, comparisons int) Pair {
	return Pair{
		A: label(c.A.Benchmark), B: label(c.B.Benchmark), Ratio: c.Ratio,
		PValue: stats.Finite(c.P), Outcome: string(c.Outcome), Why: c.Why, Joint: newPairJoint(c.Joint(comparisons)),
	}
}

// label is a benchmark's name with its revision.
func label(b gobench.Benchmark) string {
	if b.Revision == "" {
		return b.Package + "." + b.Name
	}
	return b.Package + "." + b.Name + " at " + b.Revision
}
