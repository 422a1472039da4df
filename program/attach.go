package program

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"chronoscope/process"
	"chronoscope/stats"
)

// Attach measures a running process for a span of time: what its threads did, and how long the span would have been for
// them alone. Processes that it starts are not included. When ctx ends, Attach returns its error with what was seen
// until then. The other errors say that the span or the process can't be used.
func Attach(ctx context.Context, pid int, span time.Duration, setting Setting) (*Result, error) {
	if span <= 0 {
		return nil, fmt.Errorf("program: a span of %v: choose one above 0", span)
	}
	w := setting.checks()
	w.Look(ctx, nil)
	before, err := process.Look(pid)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	wait := time.NewTimer(span)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	}
	after, err := process.Look(pid)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("program: process %d ended within the span of %v: choose a shorter one", pid, span), err)
	}
	run := Run{Started: begun, CoreHz: math.NaN(), StealNs: math.NaN(), ThrottledNs: math.NaN()}
	if setting.CoreHz != nil {
		run.CoreHz = setting.CoreHz()
	}
	run.Run = after.Since(before)
	run.WallNs = time.Since(begun).Nanoseconds()
	run.RunqueueWaitNs = float64(run.WaitNs())
	run.bound(setting.CPUs)
	s := &series{command: Command{Name: fmt.Sprintf("process %d", pid)}, runs: []Run{run}, rounds: []int{0}, peak: after.MaxRSSBytes}
	r := conclude(s, Plan{Precision: 1, MinRuns: 1, MaxRuns: 1, MaxTime: span}, setting, w)
	r.Lower(stats.Suspect, "it was watched for one span of %v, without its switches", span)
	return r, ctx.Err()
}
