package program

import (
	"chronoscope/machine"
	"chronoscope/stats"
)

// Method is how a program's time was found.
type Method string

// The methods.
const (
	// CycleTime: each run by a clock of the processor, less what others took of it.
	CycleTime Method = "cycle-time"
	// ByIntervalCounting: the CPU time that the kernel charged.
	ByIntervalCounting Method = "interval-counting"
	// CriticalPath: cycle time along the path through threads and processes that led to the end,
	// found by who woke whom.
	CriticalPath Method = "critical-path"
	// Bounds: none of these will do; the time is only known to lie between the time without
	// the run-queue wait and the wall time.
	Bounds Method = "bounds"
)

// Summary is the result of all runs of a command.
type Summary struct {
	// Estimate is the time on a machine of its own, in nanoseconds: the median run.
	Estimate stats.Estimate `json:"estimate"`
	// Wall is the time of the runs by the clock, from exec to exit. CPU is their CPU time, if that
	// is known without the time before the exec.
	Wall stats.Estimate `json:"wall"`
	CPU  stats.Estimate `json:"cpu"`
	// RunqueueWaitNs and BlockedNs are medians over the runs.
	RunqueueWaitNs stats.Float `json:"runqueue_wait_ns"`
	BlockedNs      stats.Float `json:"blocked_ns"`
	// Percentiles of single runs; nil in documents of earlier versions.
	Percentiles *Percentiles `json:"percentiles,omitempty"`
	// Metrics are what else was asked for, by name; nil if nothing was.
	Metrics map[string]MetricSummary `json:"metrics,omitempty"`
	// MaxRSSBytes is the most memory that the program had resident; nil where not known.
	MaxRSSBytes *int64 `json:"max_rss_bytes"`
	Method      Method `json:"method"` // empty where nothing was measured
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
	// Outliers are runs that took much longer than the others, or much less.
	Outliers []Outlier
	// Failure is how the command failed; nil where it did not.
	Failure error
	stats.Judgement

	rounds []int // in which each run was made
}

// Outlier is a run apart from the others.
type Outlier struct {
	// Run is its place in Runs.
	Run int `json:"run"`
	// Causes are the known causes; empty if there is none.
	Causes []string `json:"causes"`
}
