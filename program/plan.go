package program

import (
	"fmt"
	"slices"
	"time"

	"chronoscope/remedy"
	"chronoscope/repeat"
)

// Plan says how much is measured.
type Plan struct {
	// Precision ends the measurement of a command: it is the required half width of the interval, as a share
	// of the value.
	Precision float64
	// MinRuns is the least number of runs; fewer are made only if they take more than twice MaxTime. MaxRuns is
	// the largest number. Warmup is the number of runs before these, which don't count.
	MinRuns, MaxRuns, Warmup int
	// ExactRuns says that the caller asked for exactly MinRuns = MaxRuns runs. Advice to allow more runs then
	// names that number.
	ExactRuns bool
	// MaxTime is the time that the runs of a command may take in all. The run in progress is completed, unless it
	// takes longer than MaxTime again and waits for a CPU nearly all the time ([StarvedError]).
	MaxTime time.Duration
	// Gated makes commands go on that are known as precisely as Precision asks, until it is known on which side
	// of the gate's limits they are; nil for no gate.
	Gated *Gated
	// Duets makes the first two commands run at the same time, too: up to MaxRuns times, within the time of both. Writers
	// and functions that both commands have are then called by two goroutines.
	Duets Duets
	// Seed fixes every random choice.
	Seed uint64
	// IgnoreFailure accepts runs that fail. IgnoredCodes accepts runs that end with one of these exit statuses.
	IgnoreFailure bool
	IgnoredCodes  []int
}

// DefaultPlan, QuickPlan and ThoroughPlan are the plans. Six runs are the fewest that bound a median at 95 %.
var (
	DefaultPlan  = Plan{Precision: 0.01, MinRuns: 10, MaxRuns: 1000, MaxTime: 15 * time.Second}
	QuickPlan    = Plan{Precision: 0.03, MinRuns: 6, MaxRuns: 100, MaxTime: 3 * time.Second}
	ThoroughPlan = Plan{Precision: 0.005, MinRuns: 20, MaxRuns: 10000, MaxTime: time.Minute}
)

// limits returns the limits of each command.
func (p Plan) limits() repeat.Limits {
	return repeat.Limits{Least: p.MinRuns, Most: p.MaxRuns, Time: p.MaxTime, Precision: p.Precision}
}

// mostRuns is the largest number of runs whose records fit into a gigabyte.
const mostRuns = 1e6

// ignores reports whether a run that failed does not end the measurement.
func (p Plan) ignores(run Run) bool {
	return run.WallNs > 0 && (p.IgnoreFailure || slices.Contains(p.IgnoredCodes, run.ExitCode))
}

// runs returns the code of the limit that allows more runs.
func (p Plan) runs() remedy.Code {
	if p.ExactRuns {
		return remedy.Runs
	}
	return remedy.MaxRuns
}

// Check returns an error that names a field with a forbidden value, and the allowed values.
func (p Plan) Check() error {
	switch {
	case !(p.Precision > 0 && p.Precision < 1):
		return fmt.Errorf("program: a precision of %v: choose a share above 0 and below 1 (0.01 is 1 %%)", p.Precision)
	case p.MinRuns < 1 || p.MinRuns > mostRuns:
		return fmt.Errorf("program: at least %d runs: choose 1 to %d", p.MinRuns, int(mostRuns))
	case p.MaxRuns < p.MinRuns || p.MaxRuns > mostRuns:
		return fmt.Errorf("program: at most %d runs: choose %d (the fewest asked for) to %d", p.MaxRuns, p.MinRuns, int(mostRuns))
	case p.Warmup < 0 || p.Warmup > mostRuns:
		return fmt.Errorf("program: %d runs to warm up: choose 0 to %d", p.Warmup, int(mostRuns))
	case p.MaxTime <= 0:
		return fmt.Errorf("program: at most %v: choose a time above 0", p.MaxTime)
	}
	return nil
}
