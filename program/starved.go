package program

import (
	"context"
	"fmt"
	"time"

	"chronoscope/process"
	"chronoscope/remedy"
	"chronoscope/stats"
)

// starvedShare is the share of its time for which a run has to wait for a CPU to be ended. Beside ten loops of its own
// priority a program waits for a smaller share.
const starvedShare = 0.95

// StarvedError says that a run was ended because it lasted far longer than the time for all runs, and waited for a CPU
// nearly all of that time, as programs of the policy SCHED_IDLE do beside others.
type StarvedError struct{ Waited, Lasted time.Duration }

// Error says what happened, and what would help.
func (e *StarvedError) Error() string {
	return fmt.Sprintf("it was ended after %s, for %.1f %% of which other programs kept it from a CPU: use a calmer machine, a CPU of its own (%s) or another priority, or give more %s",
		stats.Duration(float64(e.Lasted), 3), 100*e.Waited.Seconds()/e.Lasted.Seconds(), remedy.Of(remedy.CPUs), remedy.Of(remedy.MaxTime))
}

// starved returns an error if a process that was started the given time ago waited for a CPU for nearly all of that
// time.
func starved(now process.Snapshot, lasted time.Duration) error {
	var waited time.Duration
	for _, t := range now.Threads {
		waited = max(waited, time.Duration(t.WaitNs))
	}
	if waited.Seconds() < starvedShare*lasted.Seconds() {
		return nil
	}
	return &StarvedError{waited, lasted}
}

// endStarved returns a function that watches a process that has started. As soon as the series, which took spentNs
// before, lasts twice as long as it may, it calls end if the process is starved. It watches until ctx ends.
func (m *measurement) endStarved(ctx context.Context, spentNs float64, end context.CancelCauseFunc) func(pid int) {
	if m.plan.MaxTime == 0 {
		return nil
	}
	again := max(m.plan.MaxTime/4, 10*time.Millisecond)
	return func(pid int) {
		began := time.Now()
		time.AfterFunc(max(again, 2*m.plan.MaxTime-time.Duration(spentNs)), func() {
			for ctx.Err() == nil {
				if now, err := m.snapshot(pid); err == nil {
					if starved := starved(now, time.Since(began)); starved != nil {
						end(starved)
					}
				}
				select {
				case <-ctx.Done():
				case <-time.After(again):
				}
			}
		})
	}
}
