package gobench

import (
	"time"

	"chronoscope/machine"
	"chronoscope/repeat"
	"chronoscope/stats"
)

// Plan says how much is measured.
type Plan struct {
	// Precision ends the measurement of a benchmark: half the width of its interval, as
	// a share of its value.
	Precision float64
	// MaxTime is the longest time for all processes of a benchmark, by the clock. The least
	// repetitions may take as long again. A benchmark of which one repetition does not fit into
	// twice MaxTime is run once.
	MaxTime time.Duration
	// LeastRepetitions are made where they fit into twice MaxTime.
	LeastRepetitions int
	// MostRepetitions is the largest number of repetitions; 0 for no limit.
	MostRepetitions int
	// RunTime is the difference that the two runs of a repetition are to have, on a machine of
	// its own.
	RunTime time.Duration
	// Gate has the limits for the two benchmarks of each group; nil for none. With a gate a group is
	// measured until its side of the limit is known. Groups that end early leave their time to the
	// others.
	Gate *Gate
	// Seed fixes every random choice.
	Seed uint64
}

// limits are those of each benchmark.
func (p Plan) limits() repeat.Limits {
	return repeat.Limits{Least: p.LeastRepetitions, Most: p.MostRepetitions, Time: p.MaxTime, Precision: p.Precision}
}

// The plans. Six repetitions are the least that bound a median at 95 %, and that
// benchstat wants.
var (
	DefaultPlan  = Plan{Precision: 0.01, MaxTime: 30 * time.Second, LeastRepetitions: 6, RunTime: 200 * time.Millisecond}
	QuickPlan    = Plan{Precision: 0.03, MaxTime: 5 * time.Second, LeastRepetitions: 6, RunTime: 50 * time.Millisecond}
	ThoroughPlan = Plan{Precision: 0.005, MaxTime: 2 * time.Minute, LeastRepetitions: 12, RunTime: 500 * time.Millisecond}
)

// Setting is what is known of where the benchmarks run.
type Setting struct {
	// Noise of the CPUs, as a trace of activity shows it.
	Noise machine.Noise
	// CPUs is how many the benchmarks may use.
	CPUs int
	// CoreHz is the core's rate, measured before and after; its value is NaN or 0 where
	// that is not known.
	CoreHz stats.Estimate
}
