package exporter

import (
	"time"

	"chronoscope/activity"
	"chronoscope/clock/check"
	"chronoscope/machine"
	"chronoscope/stats"
	"chronoscope/timermeter"
)

// A Turn is what one short look at one CPU found. What could not be had is missing, and its reason stands
// in Failures.
type Turn struct {
	CPU int
	// Watched is how long the CPU was watched for gaps; 0 where it was not.
	Watched time.Duration
	// Gaps are their lengths, in seconds.
	Gaps []float64
	// Lost is what the gaps took, in seconds, by cause.
	Lost map[activity.Cause]float64
	// Disturbers are who or what took it by the kernel's events, which takes rights.
	Disturbers []Disturber
	// Works are the known pieces of work that were timed.
	Works []Work
	Kernel
	Failures []Failure
}

// lostShare is the share of the time watched that gaps took.
func (t Turn) lostShare() float64 {
	var lost float64
	for _, seconds := range t.Lost {
		lost += seconds
	}
	return lost / t.Watched.Seconds()
}

// Kernel is what the kernel counted. Stolen is since the machine started, the others are since the
// prober did.
type Kernel struct {
	Stolen       stats.Float // seconds that the hypervisor gave to others, over all CPUs
	RunQueueWait stats.Float // seconds in which some thread of the machine waited for a CPU
	Throttled    stats.Float // seconds that this process's control groups were stopped
}

// A Disturber took time of a CPU while it was watched.
type Disturber struct {
	Kind, Name string
	Seconds    float64
}

// A Work is a known piece of work as it was timed, in nanoseconds.
type Work struct {
	Name    string
	Time    stats.Estimate
	Verdict stats.Verdict
}

// A Survey is what is looked at now and then, as it changes seldom.
type Survey struct {
	Clocks   []timermeter.Rating
	Checks   []check.Finding
	Findings []machine.Finding // the doctor's
	Failures []Failure
}

// A Failure says which step could not be made, and why.
type Failure struct {
	Step Step
	Err  error
}

// A Step is a part of a turn or survey.
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
)

func steps() []Step {
	return []Step{StepPin, StepWork, StepGaps, StepNames, StepClocks, StepChecks, StepBudget}
}
