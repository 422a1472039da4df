package gobench

import (
	"cmp"
	"math"

	"chronoscope/stats"
)

// Basis is what a figure rests on.
type Basis string

// The bases.
const (
	// Timer: the benchmark's own timer, as nothing waited for a CPU.
	Timer Basis = "timer"
	// CPUTime: the process's CPU time. It is used if hardly ever more or less than one thread was runnable.
	CPUTime Basis = "cpu-time"
	// Bounds: the time is only known to lie between two others, the time by the timer without the run-queue
	// wait and with it. For a benchmark that never blocks it also lies between the CPU time divided by the
	// number of runnable threads, and the CPU time.
	Bounds Basis = "bounds"
)

// Summary is what the repetitions of a benchmark show together. Its times are per operation.
type Summary struct {
	// Estimate is the time on a machine of its own, in nanoseconds.
	Estimate stats.Estimate `json:"estimate"`
	Basis    Basis          `json:"basis"` // empty if it was not measured
	// Wall is the median of what the benchmark's timer says: what go test prints.
	Wall stats.Estimate `json:"wall"`
	CPU  stats.Estimate `json:"cpu"` // of the process
	// Cycles is the estimate in cycles of the core; NaN if its rate is unknown, or if the benchmark does not
	// keep it busy.
	Cycles stats.Estimate `json:"cycles"`
	// WaitShare is the share of their time for which the threads with work waited for a CPU, also for one another, for
	// an idle CPU to wake up, and while the benchmark's timer stood still.
	WaitShare  stats.Float `json:"wait_share"`
	Runnable   stats.Float `json:"runnable_threads"` // on average
	Iterations int         `json:"iterations"`       // of the longer run of a repetition
	Procs      int         `json:"gomaxprocs"`
	// Corrected counts repetitions that were corrected for waiting. Rejected counts those that were left out
	// because a run stood still, or because something else ran on the core.
	Corrected int `json:"corrected"`
	Rejected  int `json:"rejected"`
	// Metrics has medians of what else the benchmark reports.
	Metrics []Metric `json:"metrics"`
	// Failed says that a run failed. The other figures are from the runs before it, if there were any.
	Failed bool `json:"failed,omitempty"`
	// Calls has the percentiles of single calls; nil if they were not asked for.
	Calls *Calls `json:"calls,omitempty"`
}

// Result is the result for one benchmark.
type Result struct {
	Benchmark
	Summary
	// Times are the corrected times per operation, in nanoseconds, of the repetitions that count, in order.
	Times       []float64
	Rejections  []Rejection
	Repetitions []Repetition
	Duets       []Repetition
	NoDuets     *FailedError // see [Series]
	stats.Judgement

	timed times
	// standstillsTold says that it is known which repetitions stood still. leftShared says that those on shared cores were left
	// out. whole has all repetitions, moving all but those that stood still.
	standstillsTold, leftShared bool
	whole, moving               kind
	late                        stats.Estimate // cost of iterations beyond the timed ones, divided by that of the timed ones
	lateRuns                    []Observation
	lateCostBy                  func(Observation) stats.Estimate // late by one of the late runs
	paired                      *Result                          // see inPairs; nil if it is the result itself
}

// ranOnce reports whether a single run stands for the repetitions, since none of them fits into the time. It does not if other
// programs may have had the CPU of a process for which the run waited, for an unknown time: its bounds allow for that only if waits
// are unknown, too.
func (r *Result) ranOnce() bool {
	k := r.timed.kind
	unseen := k.mayBlock && k.othersUnknown() && !math.IsNaN(k.waitPerTimed)
	return len(r.Repetitions) == 1 && r.Repetitions[0].Few.N == 0 && !unseen
}

// inPairs returns the result for a comparison with one that was measured in turn with it. It leaves out what others
// used on average: that widens the bounds of a benchmark that waits, but it is the same for both, and does not change
// the ratio.
func (r *Result) inPairs() *Result { return cmp.Or(r.paired, r) }
