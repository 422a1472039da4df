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
	// Precision ends the measurement of a command: half the width of its interval, as a
	// share of its value.
	Precision float64
	// MinRuns are made at least, fewer only where MaxTime has gone by twice, and MaxRuns
	// at most. Warmup are made before, and don't count.
	MinRuns, MaxRuns, Warmup int
	// ExactRuns says that the caller asked for MinRuns = MaxRuns runs, so that this number is what
	// advice on more runs names.
	ExactRuns bool
	// MaxTime is how long the runs of a command may take in all. The one in progress is completed, unless it takes
	// longer than MaxTime again, and waits for a CPU nearly all the time ([StarvedError]).
	MaxTime time.Duration
	// Gated keeps commands going that are known as well as Precision asks, until the sides of the gate's
	// limits are known; nil for no gate.
	Gated *Gated
	// Seed fixes every random choice.
	Seed uint64
	// IgnoreFailure goes on with a command that failed, IgnoredCodes with one that ended
	// with one of these exit statuses.
	IgnoreFailure bool
	IgnoredCodes  []int
}

// The plans. Six runs are the least that bound a median at 95 %.
var (
	DefaultPlan  = Plan{Precision: 0.01, MinRuns: 10, MaxRuns: 1000, MaxTime: 15 * time.Second}
	QuickPlan    = Plan{Precision: 0.03, MinRuns: 6, MaxRuns: 100, MaxTime: 3 * time.Second}
	ThoroughPlan = Plan{Precision: 0.005, MinRuns: 20, MaxRuns: 10000, MaxTime: time.Minute}
)

// limits are those of each command.
func (p Plan) limits() repeat.Limits {
	return repeat.Limits{Least: p.MinRuns, Most: p.MaxRuns, Time: p.MaxTime, Precision: p.Precision}
}

// mostRuns keeps what is noted of them within a gigabyte.
const mostRuns = 1e6

// ignores reports whether a run that failed is no reason to end.
func (p Plan) ignores(run Run) bool {
	return run.WallNs > 0 && (p.IgnoreFailure || slices.Contains(p.IgnoredCodes, run.ExitCode))
}

// runs is what allows more runs.
func (p Plan) runs() remedy.Code {
	if p.ExactRuns {
		return remedy.Runs
	}
	return remedy.MaxRuns
}

// Check says which field is not allowed, and what is.
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
