package gobench

import "chronoscope/stats"

// Basis says what a figure rests on.
type Basis string

// The bases.
const (
	// Timer: the benchmark's own timer, as nothing waited for a CPU.
	Timer Basis = "timer"
	// CPUTime: the process's CPU time, as one thread at a time could run, or hardly more.
	CPUTime Basis = "cpu-time"
	// Bounds: the time is only known to lie between two others. Without the run-queue wait it
	// is the least, by the timer the most; for a benchmark that never blocks also the CPU time
	// over the number of threads that could run, and the CPU time.
	Bounds Basis = "bounds"
)

// Result is what is known of one benchmark. Its times are per operation.
type Result struct {
	Benchmark Benchmark
	// Estimate is the time on a machine of its own, in nanoseconds.
	Estimate stats.Estimate
	Basis    Basis
	// Wall is the median of what the benchmark's timer says: what go test prints.
	Wall stats.Estimate
	// CPU is the process's CPU time.
	CPU stats.Estimate
	// Cycles is the estimate in cycles of the core; NaN where its rate is not known, or
	// the benchmark does not keep it busy.
	Cycles stats.Estimate
	// WaitShare is the part of their time in which the threads that had work waited for a CPU,
	// also while the benchmark's timer stood still; NaN where it is not known.
	WaitShare float64
	// Runnable is how many threads could run, on average; NaN where it is not known.
	Runnable float64
	// Iterations of the longer run of a repetition.
	Iterations int
	// Procs is GOMAXPROCS of the benchmark.
	Procs int
	// Times are the corrected times of the repetitions, in order.
	Times []float64
	// Corrected counts repetitions that were corrected for waiting, Rejected those that were
	// left out because a run stood still.
	Corrected, Rejected int
	Rejections          []Rejection
	// Metrics are medians of what else the benchmark reports.
	Metrics     []Metric
	Repetitions []Repetition
	stats.Judgement

	timed times
	late  stats.Estimate // cost of iterations beyond those that were timed, beside them
}
