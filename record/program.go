package record

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"chronoscope/program"
	"chronoscope/stats"
)

var _ = register[Programs]("run")

// Programs is the document of how long programs take.
type Programs struct {
	Header
	Results []Program `json:"results"` // in the order in which they were asked for
	Pairs   []Pair    `json:"pairs"`
	// Shell is the shell with nothing to do, where the commands were run by one: what it
	// takes is in the results, too.
	Shell *Program `json:"shell"`
}

// Program is one command. What could not be had is null, for a reason that stands in
// Reasons or among the caveats.
type Program struct {
	Command    string            `json:"command"`
	Parameters map[string]string `json:"parameters"`
	Estimate   stats.Estimate    `json:"estimate"` // on a machine of its own
	Wall       stats.Estimate    `json:"wall"`     // from exec to exit, as it was
	CPU        stats.Estimate    `json:"cpu"`
	// RunqueueWaitNs and BlockedNs are medians over the runs.
	RunqueueWaitNs *float64       `json:"runqueue_wait_ns"`
	BlockedNs      *float64       `json:"blocked_ns"`
	MaxRSSBytes    *int64         `json:"max_rss_bytes"` // the most of all runs
	Method         program.Method `json:"method"`        // empty where nothing was measured
	Explanation    string         `json:"explanation"`   // why this method
	Runs           []ProgramRun   `json:"runs"`          // in the order in which they were made
	Outliers       []Outlier      `json:"outliers"`
	Failure        *string        `json:"failure"`    // how the command failed
	StderrEnd      *string        `json:"stderr_end"` // of a command that failed, where it was not shown
	Verdict        stats.Verdict  `json:"verdict"`
	Reasons        []string       `json:"reasons"`
}

// ProgramRun is one run of a command.
type ProgramRun struct {
	Started             time.Time `json:"started"`
	WallNs              float64   `json:"wall_ns"`
	UserNs              float64   `json:"user_ns"`
	SystemNs            float64   `json:"system_ns"`
	RunqueueWaitNs      *float64  `json:"runqueue_wait_ns"`
	BlockedNs           *float64  `json:"blocked_ns"`
	StealNs             *float64  `json:"steal_ns"`
	ThrottledNs         *float64  `json:"throttled_ns"`
	InterruptsNs        *float64  `json:"interrupts_ns"`
	VoluntarySwitches   int64     `json:"voluntary_switches"`
	InvoluntarySwitches int64     `json:"involuntary_switches"`
	MinorFaults         int64     `json:"minor_faults"`
	MajorFaults         int64     `json:"major_faults"`
	MaxRSSBytes         *int64    `json:"max_rss_bytes"`
	CoreHz              *float64  `json:"core_hz"`
	// LowNs and HighNs bound the time on a machine of its own.
	LowNs    *float64 `json:"low_ns"`
	HighNs   *float64 `json:"high_ns"`
	ExitCode *int     `json:"exit_code"` // null where a signal ended it
	Signal   *string  `json:"signal"`
	Rejected bool     `json:"rejected"`
	Why      *string  `json:"why"` // it was rejected, or what else is to be said of it
}

// Outlier is a run apart from the others.
type Outlier struct {
	Run    int      `json:"run"`    // its place in the list of runs, counted from 0
	Causes []string `json:"causes"` // empty where none is known
}

// Counted are the runs that count. A run that was traced for its memory and threads took longer
// for it, and is one that doesn't.
func (p Program) Counted() []ProgramRun {
	return slices.DeleteFunc(slices.Clone(p.Runs), func(r ProgramRun) bool { return r.Rejected })
}

// NewProgram puts a result into the form of a document.
func NewProgram(r *program.Result) Program {
	p := Program{
		Command: r.Command.Name, Parameters: map[string]string{}, Estimate: r.Estimate, Wall: r.Wall, CPU: r.CPU,
		RunqueueWaitNs: stats.Finite(r.RunqueueWaitNs), BlockedNs: stats.Finite(r.BlockedNs), MaxRSSBytes: positive(r.MaxRSSBytes),
		Method: r.Method, Explanation: r.Explanation, Runs: []ProgramRun{}, Outliers: []Outlier{},
		Verdict: r.Verdict, Reasons: r.Reasons,
	}
	maps.Copy(p.Parameters, r.Command.Parameters)
	for _, run := range r.Runs {
		p.Runs = append(p.Runs, newProgramRun(run))
	}
	for _, o := range r.Outliers {
		p.Outliers = append(p.Outliers, Outlier{Run: o.Run, Causes: append([]string{}, o.Causes...)})
	}
	p.Failure = howFailed(r.Failure)
	return p
}

// howFailed says what failed, and how; nil where nothing did.
func howFailed(err error) *string {
	var failed *program.FailedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed):
		return known(fmt.Sprintf("%s: %v", failed.What, failed.Err))
	}
	return known(err.Error())
}

func newProgramRun(r program.Run) ProgramRun {
	run := ProgramRun{
		Started: r.Started, WallNs: float64(r.WallNs), UserNs: float64(r.UserNs), SystemNs: float64(r.SystemNs),
		RunqueueWaitNs: stats.Finite(r.RunqueueWaitNs), BlockedNs: stats.Finite(r.BlockedNs),
		StealNs: stats.Finite(r.StealNs), ThrottledNs: stats.Finite(r.ThrottledNs), InterruptsNs: stats.Finite(r.InterruptsNs),
		VoluntarySwitches: r.VoluntarySwitches, InvoluntarySwitches: r.InvoluntarySwitches,
		MinorFaults: r.MinorFaults, MajorFaults: r.MajorFaults, MaxRSSBytes: positive(r.MaxRSSBytes),
		CoreHz: stats.Finite(r.CoreHz), LowNs: stats.Finite(r.LowNs), HighNs: stats.Finite(r.HighNs),
		ExitCode: &r.ExitCode, Rejected: r.Rejected, Why: known(strings.Join(r.Why, "; ")),
	}
	if r.Signal != nil {
		run.ExitCode, run.Signal = nil, known(r.Signal.String())
	}
	return run
}

// positive is a number of which 0 says that it is not known.
func positive(n int64) *int64 {
	if n <= 0 {
		return nil
	}
	return &n
}

// NewProgramPair puts one of so many comparisons into the form of a document.
func NewProgramPair(c program.Comparison, comparisons int) Pair {
	return Pair{
		A: c.A.Command.Name, B: c.B.Command.Name, Ratio: c.Ratio,
		PValue: stats.Finite(c.P), Outcome: string(c.Outcome), Joint: newPairJoint(c.Joint(comparisons)),
	}
}
