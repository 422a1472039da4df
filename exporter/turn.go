package exporter

import (
	"time"

	"chronoscope/activity"
	"chronoscope/clock/check"
	"chronoscope/machine"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// A Turn is the result of one short measurement on one CPU. Failures says what is missing, and why.
type Turn struct {
	CPU int
	// Watched is how long the CPU was watched for gaps; 0 if it was not.
	Watched time.Duration
	// Gaps are the lengths of the gaps, in seconds.
	Gaps []float64
	// Lost is the time that the gaps took, in seconds, by cause.
	Lost map[activity.Cause]float64
	// Disturbers are the threads and interrupts that took that time, by the kernel's events; empty
	// without rights.
	Disturbers []Disturber
	// Works are the known pieces of work that were timed.
	Works    []Work
	Failures []Failure
}

// lostShare is the share of the watched time that gaps took.
func (t Turn) lostShare() float64 {
	var lost float64
	for _, seconds := range t.Lost {
		lost += seconds
	}
	return lost / t.Watched.Seconds()
}

// Kernel holds what the kernel has counted: Stolen and RunQueueWait since the machine started, and Throttled since
// the groups were made.
type Kernel struct {
	Stolen       stats.Float // seconds for which the hypervisor kept the CPUs from running, over all CPUs
	RunQueueWait stats.Float // seconds in which some thread of the machine waited for a CPU
	Throttled    stats.Float // seconds for which this process's control groups were stopped, summed over CPUs and groups
}

// A Disturber took CPU time from the watching thread.
type Disturber struct {
	Kind, Name string
	Seconds    float64
}

// A Work is the time of a known piece of work, in nanoseconds.
type Work struct {
	Name    string
	Time    stats.Estimate
	Verdict stats.Verdict
}

// A Survey is the result of looking at clocks and settings, which change seldom.
type Survey struct {
	CPUs     int // how many were used; 0 if that is not known
	Clocks   []timermeter.Rating
	Checks   []check.Finding
	Findings []machine.Finding // of chronoscope doctor
	Failures []Failure
}

// A Failure says which step failed, and why.
type Failure struct {
	Step Step
	Err  error
}

// A Step is a part of a turn or survey, or of the use of their results, whose failures are counted.
type Step string

// The steps.
const (
	StepPin    Step = "pin"
	StepWork   Step = "work"
	StepGaps   Step = "gaps"
	StepNames  Step = "names"
	StepClocks Step = "clocks"
	StepChecks Step = "checks"
	StepBudget Step = "budget"
	StepPush   Step = "push"
)

func steps() []Step {
	return []Step{StepPin, StepWork, StepGaps, StepNames, StepClocks, StepChecks, StepBudget, StepPush}
}
