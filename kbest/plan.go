package kbest

import (
	"cmp"
	"fmt"
	"time"
)

// Plan says how much is measured, and how well samples have to agree. K, Epsilon and MaxTrials are the K,
// epsilon and M of Bryant 2003, section 9.4.3.
type Plan struct {
	// K is the number of samples that have to lie close to the fastest.
	K int
	// Epsilon is how close they have to lie, as a share of the fastest.
	Epsilon float64
	// MaxTrials ends the measurement of a subject, converged or not.
	MaxTrials int
	// MinTrials is the smallest number of trials, even if they take longer than MaxTime. A subject gets just this
	// number if MinTrials trials of it take MaxTime or longer.
	MinTrials int
	// MaxTime is how long a subject may run in all. This is running time: on a machine that eleven programs
	// share it takes eleven times as long.
	MaxTime time.Duration
	// Span is the time over which the first trials are spread. They come in several bursts, with pauses in between:
	// if the cost of the work changes in phases shorter than Span, the trials see several phases. 0 makes no
	// pauses.
	Span time.Duration
	// CallLimit is the longest time that a single call may take. It can be checked only after the call returns.
	// A call that never returns is never measured, and belongs in a process of its own.
	CallLimit time.Duration
	// Precision is the half-width of the interval, as a share of the value, at which the measurement of a
	// subject ends early, after [FewestTrials]. The part of the interval that no trial narrows does not count:
	// the core's rate at another time ([Result.Wander]).
	Precision float64
	// Seed fixes every random choice.
	Seed uint64
}

// DefaultPlan has Bryant's K and epsilon. MaxTrials, his M, is greater than his 30, since trials are short and have to
// include calls that are only sometimes slow.
var DefaultPlan = Plan{
	K: 3, Epsilon: 0.001, MaxTrials: 2048, MinTrials: 8,
	MaxTime: 500 * time.Millisecond, Span: time.Second, CallLimit: 10 * time.Second, Precision: 0.0025,
}

// FewestTrials are made before a measurement may end early, unless they ran for a fifth of a second. If one
// sample in a hundred takes a slow path, 512 samples nearly always show it.
const FewestTrials = 512

// The largest values that a plan may have.
const (
	mostTrials = 1 << 20
	mostTime   = 24 * time.Hour
)

// check returns an error if a value of the plan is out of range. The error says what is allowed.
func (p Plan) check() error {
	switch {
	case p.K < 1 || p.K > mostTrials:
		return fmt.Errorf("kbest: K is %d: choose 1 to %d (3 is usual)", p.K, mostTrials)
	case p.MaxTrials < p.K || p.MaxTrials > mostTrials:
		return fmt.Errorf("kbest: at most %d trials for K = %d: choose %d to %d trials", p.MaxTrials, p.K, p.K, mostTrials)
	case p.MinTrials < 0 || p.MinTrials > p.MaxTrials:
		return fmt.Errorf("kbest: at least %d trials: choose 0 to %d, which is the most", p.MinTrials, p.MaxTrials)
	case !(p.Epsilon >= 0 && p.Epsilon < 1):
		return fmt.Errorf("kbest: an epsilon of %v: choose a share from 0 to below 1 (0.001 is usual)", p.Epsilon)
	case !(p.Precision >= 0 && p.Precision < 1):
		return fmt.Errorf("kbest: a precision of %v: choose a share from 0 to below 1", p.Precision)
	case p.MaxTime <= 0 || p.MaxTime > mostTime:
		return fmt.Errorf("kbest: a time of %v: choose more than 0 and at most %v", p.MaxTime, mostTime)
	case p.Span < 0 || p.Span > mostTime:
		return fmt.Errorf("kbest: trials spread over %v: choose 0 to %v", p.Span, mostTime)
	case p.CallLimit <= 0 || p.CallLimit > mostTime:
		return fmt.Errorf("kbest: a limit of %v a call: choose more than 0 and at most %v", p.CallLimit, mostTime)
	}
	return nil
}

// TooSlowError says that a single call of a subject took longer than the plan allows.
type TooSlowError struct {
	Subject string
	Took    time.Duration
	Limit   time.Duration
}

// Error says how long the call took, and what would help.
func (e *TooSlowError) Error() string {
	return fmt.Sprintf("kbest: %s: one call took %v, the limit is %v: raise CallLimit or give it less to do", cmp.Or(e.Subject, "the subject"), e.Took, e.Limit)
}
