package program

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"chronoscope/stats"
)

// Report is the result of one command in a document. A value that could not be measured is null; Reasons or the caveats
// of the document tell why.
type Report struct {
	Command string `json:"command"`
	// CommandLine is what was run, if Command is a name that the user gave.
	CommandLine string            `json:"command_line,omitempty"`
	Parameters  map[string]string `json:"parameters"`
	Summary
	Runs      []RunReport `json:"runs"` // in the order in which they were made
	Duets     []DuetRun   `json:"duets,omitempty"`
	Outliers  []Outlier   `json:"outliers"`
	Failure   *string     `json:"failure"`    // how the command failed
	StderrEnd *string     `json:"stderr_end"` // of a command that failed, if it was not shown
	stats.Judgement
}

// RunReport is one run of a command.
type RunReport struct {
	Started             time.Time   `json:"started"`
	WallNs              float64     `json:"wall_ns"`
	UserNs              float64     `json:"user_ns"`
	SystemNs            float64     `json:"system_ns"`
	RunqueueWaitNs      stats.Float `json:"runqueue_wait_ns"`
	BlockedNs           stats.Float `json:"blocked_ns"`
	StealNs             stats.Float `json:"steal_ns"`
	ThrottledNs         stats.Float `json:"throttled_ns"`
	InterruptsNs        stats.Float `json:"interrupts_ns"`
	VoluntarySwitches   *int64      `json:"voluntary_switches"`
	InvoluntarySwitches *int64      `json:"involuntary_switches"`
	MinorFaults         *int64      `json:"minor_faults"`
	MajorFaults         *int64      `json:"major_faults"`
	MaxRSSBytes         *int64      `json:"max_rss_bytes"`
	CoreHz              stats.Float `json:"core_hz"`
	// LowNs and HighNs bound the time alone.
	LowNs    stats.Float `json:"low_ns"`
	HighNs   stats.Float `json:"high_ns"`
	ExitCode *int        `json:"exit_code"` // null if a signal ended the run
	Signal   *string     `json:"signal"`
	Rejected bool        `json:"rejected"`
	Why      *string     `json:"why"` // the reasons why it was rejected, or remarks on it
	// Metrics are those metrics for which the run counts.
	Metrics map[string]stats.Float `json:"metrics,omitempty"`
}

// Counted returns the runs that count. A run that was traced for its memory and threads took longer, and does not
// count.
func (p Report) Counted() []RunReport {
	return slices.DeleteFunc(slices.Clone(p.Runs), func(r RunReport) bool { return r.Rejected })
}

// NewReport returns a result in the form of a document.
func NewReport(r *Result) Report {
	p := Report{
		Command: r.Command.Name, CommandLine: r.Command.Line, Parameters: map[string]string{}, Summary: r.Summary,
		Runs: []RunReport{}, Duets: r.Duets, Outliers: append([]Outlier{}, r.Outliers...), Judgement: r.Judgement,
	}
	maps.Copy(p.Parameters, r.Command.Parameters)
	for k := range r.Runs {
		run := newRunReport(r.Runs[k])
		for i, m := range r.Command.Metrics {
			if value, counts := metricIn(r.Command, &r.Runs[k], i); counts {
				if run.Metrics == nil {
					run.Metrics = map[string]stats.Float{}
				}
				run.Metrics[m.Name] = stats.FloatOf(value)
			}
		}
		p.Runs = append(p.Runs, run)
	}
	p.Failure = howFailed(r.Failure)
	return p
}

// howFailed says what failed, and how; nil if nothing did.
func howFailed(err error) *string {
	var failed *FailedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed) && failed.What == TheCommand:
		return text(failed.Err.Error())
	case errors.As(err, &failed):
		return text(fmt.Sprintf("%s: %v", failed.What, failed.Err))
	}
	return text(err.Error())
}

func newRunReport(r Run) RunReport {
	run := RunReport{
		Started: r.Started, WallNs: float64(r.WallNs), UserNs: float64(r.UserNs), SystemNs: float64(r.SystemNs),
		RunqueueWaitNs: stats.FloatOf(r.RunqueueWaitNs), BlockedNs: stats.FloatOf(r.BlockedNs),
		StealNs: stats.FloatOf(r.StealNs), ThrottledNs: stats.FloatOf(r.ThrottledNs), InterruptsNs: stats.FloatOf(r.InterruptsNs),
		MaxRSSBytes: Positive(r.MaxRSSBytes),
		CoreHz:      stats.FloatOf(r.CoreHz), LowNs: stats.FloatOf(r.LowNs), HighNs: stats.FloatOf(r.HighNs),
		ExitCode: &r.ExitCode, Rejected: r.Rejected, Why: text(strings.Join(r.Why, "; ")),
	}
	if !r.Uncounted {
		run.VoluntarySwitches, run.InvoluntarySwitches, run.MinorFaults, run.MajorFaults = &r.VoluntarySwitches, &r.InvoluntarySwitches, &r.MinorFaults, &r.MajorFaults
	}
	if r.Signal != nil {
		run.ExitCode, run.Signal = nil, text(r.Signal.String())
	}
	return run
}

// Positive returns the number n, or nil if n is 0 or less, which stands for an unknown number.
func Positive(n int64) *int64 {
	if n <= 0 {
		return nil
	}
	return &n
}

// text returns the text t, or nil if it is empty.
func text(t string) *string {
	if t == "" {
		return nil
	}
	return &t
}

// Pair returns the comparison, one of several, in the form of a document.
func (c *Comparison) Pair(comparisons int) stats.Pair { return c.pair(c.Joint(comparisons)) }

func (c *Comparison) pair(joint stats.Joint) stats.Pair {
	p := stats.NewPair(c.A.Command.Name, c.B.Command.Name, c.Comparison, joint)
	if p.Duets = c.duets; c.Metric == "" && c.A.noDuets != nil {
		p.NoDuets = c.A.noDuets.Error()
	}
	p.AsMeasured = c.asMeasured
	switch p.Metric = c.Metric; {
	case c.A.Failure != nil || c.B.Failure != nil:
		p.Why = "one of the two failed"
	case c.belowZero && c.pairs.Len() < fewestChosen:
		p.Why = BelowZero
	case c.Metric != "" && c.pairs.Len() < fewestChosen:
		p.Why = tooFew(c.pairs.Len())
	}
	return p
}
