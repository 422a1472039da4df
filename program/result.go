package program

import (
	"chronoscope/machine"
	"chronoscope/stats"
)

// Method tells how a program's time was found.
type Method string

// The methods.
const (
	// CycleTime is the time of each run by a clock of the processor, less what others took of it.
	CycleTime Method = "cycle-time"
	// ByIntervalCounting is the CPU time that the kernel charged.
	ByIntervalCounting Method = "interval-counting"
	// CriticalPath is cycle time along the path through threads and processes that led to the end; the
	// kernel's tracepoints tell who woke whom.
	CriticalPath Method = "critical-path"
	// Bounds is used if no other method works: the time is only known to lie between the wall time without
	// the run-queue wait and the wall time.
	Bounds Method = "bounds"
)

// Summary is the result of all runs of a command.
type Summary struct {
	// Estimate is the time alone in nanoseconds: the median of the runs.
	Estimate stats.Estimate `json:"estimate"`
	// Idle is the time on this machine while no other program runs, in nanoseconds: with what interrupts and the host
	// take. nil if unknown, and in documents of earlier versions.
	Idle *stats.Estimate `json:"idle,omitempty"`
	// Wall is the wall time of the runs. CPU is their CPU time, without what came before the exec if that is
	// known.
	Wall stats.Estimate `json:"wall"`
	CPU  stats.Estimate `json:"cpu"`
	// RunqueueWaitNs and BlockedNs are medians over the runs.
	RunqueueWaitNs stats.Float `json:"runqueue_wait_ns"`
	BlockedNs      stats.Float `json:"blocked_ns"`
	// Percentiles are those of single runs; nil in documents of earlier versions.
	Percentiles *Percentiles `json:"percentiles,omitempty"`
	// Metrics are the results of the command's metrics, by name; nil if it has none.
	Metrics map[string]MetricSummary `json:"metrics,omitempty"`
	// MaxRSSBytes is the most memory that the program's largest process had resident; nil if unknown.
	MaxRSSBytes *int64 `json:"max_rss_bytes"`
	Method      Method `json:"method"` // empty if nothing was measured
	// Explanation says in one line why this method was used (Bryant 2003, section 9.6).
	Explanation string `json:"explanation"`
}

// Result is the result for one command.
type Result struct {
	Command Command
	Summary
	Runs []Run
	// Noise is the time that interrupts took from the CPUs during the measurement.
	Noise machine.Noise
	// Outliers are the runs that took much longer than the others, or much less.
	Outliers []Outlier
	// Failure tells how the command failed; nil if it did not. It is a *[FailedError], or says why it could not be run.
	Failure error
	stats.Judgement
	// Duets are its runs at the same time as the other of two commands ([Plan.Duets]), by which the two are compared; nil if
	// there were none, or too few.
	Duets []DuetRun

	// atOnce are the shares of its CPU time that it saved by threads which ran at once, if it has duets. noDuets says why
	// there are no duets, or no more; nil if nothing prevented them.
	atOnce  []float64
	noDuets error

	rounds []int // the round in which each run was made
	// selected says that the estimate does not rest on all usual runs: on the calm ones only, or on those at favouredNice.
	selected bool
	// leavesOut says that runs which shared a core do not count.
	leavesOut bool
	// unpaired says that the interval allows for cold caches at the start, for a shared core, or for servers that were
	// late, which lengthen different programs by different shares.
	unpaired bool
}

// Outlier is a run apart from the others.
type Outlier struct {
	// Run is the index of the run in Runs.
	Run int `json:"run"`
	// Causes are the known causes; empty if there is none.
	Causes []string `json:"causes"`
}
