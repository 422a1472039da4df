package fidelity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"chronoscope/clock"
	"chronoscope/env"
	"chronoscope/machine"
)

// Request says which counter to judge, by which reference and with which workloads.
type Request struct {
	// Counter is judged by Reference. Clocks that count for a thread, including those of perf,
	// have to be opened by the thread that calls [Run].
	Counter, Reference clock.Rated
	// Independent and Why are the results of [Independence].
	Independent bool
	Why         string
	Workloads   []Workload
	Plan        Plan
	// Look returns what the kernel has counted for the calling thread. If it is nil, Run uses what
	// this system offers.
	Look func() (machine.ThreadUse, error)
	// Clocksource returns the kernel's present clocksource, or "" if it is not known. It may be
	// nil.
	Clocksource func() string
	// Progress is called between samples with the share of the plan that is done. It may be nil.
	Progress func(share float64, workload string)
}

// Outcome is the result of an experiment.
type Outcome struct {
	// Results are the results of the workloads that were run, in their order.
	Results []Result
	// Unavailable are the workloads that can't be run here. Refused are those that would be
	// meaningless with these clocks.
	Unavailable []*Unavailable
	Refused     []*Refused
	// Caveats say what could not be known or had to be assumed.
	Caveats []string
}

// Run takes the plan's sandwiches around each of the workloads and judges the counter by all of
// them.
//
// The error is a [*Refused] if the two clocks can't be compared at all. Between samples Run checks
// whether ctx has ended; it then returns the outcome so far and ctx's error.
func Run(ctx context.Context, q Request) (*Outcome, error) {
	if err := CheckPair(q.Counter, q.Reference, q.Plan.LongestNs(q.Workloads)); err != nil {
		return nil, err
	}
	if q.Progress == nil {
		q.Progress = func(float64, string) {}
	}
	if q.Clocksource == nil {
		q.Clocksource = func() string { return "" }
	}
	before := q.Clocksource()
	release, err := env.Hold()
	if err != nil {
		return nil, err
	}
	defer release()
	e := &experiment{Request: q, outcome: &Outcome{}, totalNs: q.Plan.totalNs(q.Workloads)}
	defer e.watch()()
	for _, w := range q.Workloads {
		if ctx.Err() != nil {
			break
		}
		runtime.GC()
		e.workload(ctx, w)
	}
	judge(q.Counter, q.Reference, e.outcome.Results)
	judgeCircumstances(e.outcome.Results, before, q.Clocksource(), q.Counter.Running())
	return e.outcome, ctx.Err()
}

// experiment is the state of one call of [Run].
type experiment struct {
	Request
	outcome         *Outcome
	totalNs, doneNs float64
}

func (e *experiment) caveat(format string, args ...any) {
	e.outcome.Caveats = append(e.outcome.Caveats, fmt.Sprintf(format, args...))
}

// watch opens the kernel's counters of this thread. The returned function closes them.
func (e *experiment) watch() (close func()) {
	if e.Look != nil {
		return func() {}
	}
	thread, err := machine.OpenThread()
	if err != nil {
		e.caveat("it is not known where samples began and ended, nor how long the thread slept: %v", err)
		return func() {}
	}
	e.Look = thread.Look
	return func() { thread.Close() }
}

// workload runs one workload, or records why it does not.
func (e *experiment) workload(ctx context.Context, w Workload) {
	requests := e.Plan.requests(w.Name)
	planned := e.doneNs + e.Plan.totalNs([]Workload{w})
	defer func() { e.doneNs = planned }()
	if refused, ok := errors.AsType[*Refused](CheckWorkload(e.Counter, e.Reference, w)); ok {
		e.outcome.Refused = append(e.outcome.Refused, refused)
		return
	}
	task, err := w.Prepare(ctx, &Sampler{e.Counter, e.Reference, e.Look})
	var missing *Unavailable
	switch {
	case errors.As(err, &missing):
		e.outcome.Unavailable = append(e.outcome.Unavailable, missing)
		return
	case err != nil:
		e.caveat("%s was not run: %v", w.Name, err)
		return
	}
	result := Result{
		Counter: e.Counter.Name, Reference: e.Reference.Name, Workload: w.Name,
		Independent: e.Independent, Why: e.Why,
		Samples: e.samples(ctx, w, task, requests), Faults: []Fault{},
	}
	e.outcome.Results = append(e.outcome.Results, result)
	if task.Close == nil {
		return
	}
	if err := task.Close(); err != nil && ctx.Err() == nil {
		e.caveat("%s did not clean up: %v", w.Name, err)
	}
}

// On a busy machine, a workload may take slowest times its planned time plus spareStart before it is
// ended.
const (
	slowest    = 1.2
	spareStart = 200 * time.Millisecond
)

// samples takes one sandwich for each request, until ctx ends.
func (e *experiment) samples(ctx context.Context, w Workload, task Task, requests []float64) []Sample {
	samples := make([]Sample, 0, len(requests))
	begun, limit := time.Now(), spareStart+time.Duration(slowest*e.Plan.totalNs([]Workload{w}))
	for _, ns := range requests {
		if ctx.Err() != nil {
			break
		}
		if time.Since(begun) > limit {
			e.caveat("%s ended after %d of %d samples: the machine has no time for more", w.Name, len(samples), len(requests))
			break
		}
		e.Progress(e.doneNs/e.totalNs, w.Name)
		sample, err := task.Take(ns)
		if err = cmp.Or(err, sample.failure()); err != nil {
			if ctx.Err() == nil {
				e.caveat("%s ended after %d of %d samples: %v", w.Name, len(samples), len(requests), err)
			}
			break
		}
		if !sample.Counted {
			sample.IdleNs = w.Sleeps * sample.RequestedNs
		}
		samples = append(samples, sample)
		e.doneNs += ns
	}
	return samples
}
