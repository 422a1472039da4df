package gobench

import (
	"time"

	"chronoscope/env"
	"chronoscope/repeat"
	"chronoscope/stats"
)

// Plan says how much is measured.
type Plan struct {
	// Precision is the half-width of a benchmark's interval, as a share of its value, at which its measurement
	// ends.
	Precision float64
	// MaxTime is the longest time for all processes of a benchmark, by the clock. The least repetitions may
	// take twice as long. If not even one repetition fits into twice MaxTime, the benchmark is run once.
	MaxTime time.Duration
	// LeastRepetitions is the number of repetitions that are made if they fit into twice MaxTime.
	LeastRepetitions int
	// MostRepetitions is the largest number of repetitions; 0 for no limit.
	MostRepetitions int
	// RunTime is by how much the run of many iterations is to take longer than that of few, if nothing else wants
	// the CPUs.
	RunTime time.Duration
	// Gate has the limits for the two benchmarks of each group; nil for none. With a gate a group is measured
	// until it is known on which side of the limit it lies. Groups that end early leave their time to the
	// others.
	Gate *Gate
	// PairsOnly says that only the pairs of a group matter. Then a group is measured until it has MostRepetitions of
	// them, or its time is spent, whatever its precision is. How a cost changes with more iterations is not measured.
	PairsOnly bool
	// FailFast ends the measurement of all groups when the gate fails.
	FailFast bool
	// Seed fixes every random choice.
	Seed uint64
}

// limits returns the limits for each benchmark.
func (p Plan) limits() repeat.Limits {
	return repeat.Limits{Least: p.LeastRepetitions, Most: p.MostRepetitions, Time: p.MaxTime, Precision: p.Precision}
}

// Processes of one binary differ by some percent however long they run, so that many short runs show more than a few
// long ones. The start of a process takes some milliseconds. shortRunTime is the RunTime of a plan with a gate, and
// without one the RunTime is at most 1/runsWanted of MaxTime, if that is longer.
const (
	shortRunTime = 20 * time.Millisecond
	runsWanted   = 150
)

// forManyProcesses returns the plan with runs that are so short that many of them fit into its time.
func (p Plan) forManyProcesses() Plan {
	if p.Gate == nil {
		p.RunTime = min(p.RunTime, max(p.MaxTime/runsWanted, shortRunTime))
	}
	return p
}

// The plans. Six repetitions are the smallest number that bounds a median at 95 %, and that benchstat wants.
var (
	DefaultPlan  = Plan{Precision: 0.01, MaxTime: 30 * time.Second, LeastRepetitions: 6, RunTime: 200 * time.Millisecond}
	QuickPlan    = Plan{Precision: 0.03, MaxTime: 5 * time.Second, LeastRepetitions: 6, RunTime: 50 * time.Millisecond}
	ThoroughPlan = Plan{Precision: 0.005, MaxTime: 2 * time.Minute, LeastRepetitions: 12, RunTime: 500 * time.Millisecond}
)

// Setting is what is known about the place where the benchmarks run.
type Setting struct {
	// Checks tell what interrupts take; nil if that is unknown. Measure looks between the repetitions.
	Checks *env.NoiseChecks
	// CPUs is how many CPUs the benchmarks may use.
	CPUs int
	// CoreHz is the core's rate in hertz, measured before and after the benchmarks, with an interval that
	// holds both results; its value is NaN or 0 if unknown.
	CoreHz stats.Estimate
}
