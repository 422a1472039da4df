package fidelity

import (
	"context"
	"os/exec"

	"chronoscope/clock"
)

// The names of the workloads.
const (
	Sleep     = "sleep"
	Fibonacci = "fibonacci"
	Syscalls  = "syscalls"
	Handoff   = "handoff"
	Memory    = "memory"
	Threads   = "threads"
	Migration = "migration"
	Frequency = "frequency"
	Stop      = "stop"
	GC        = "gc"
)

// Workload is the work between the two ends of a sandwich.
type Workload struct {
	Name string
	// Does says in a few words what it does.
	Does string
	// Busy is true where the measuring thread runs all the while and is the only
	// one of its process that does, so that CPU time is time.
	Busy bool
	// Sleeps is the share of the requested time that the thread sleeps: it stands
	// in for what the kernel counted where that is not known.
	Sleeps float64
	// Prepare makes everything ready. Its error is an [*Unavailable] where this
	// system can't run the workload. It is called on the measuring thread, as is
	// all of the Task.
	Prepare func(context.Context, *Sampler) (Task, error)
}

// Task is a workload made ready.
type Task struct {
	// Take takes one sandwich of about requestedNs.
	Take func(requestedNs float64) (Sample, error)
	// Close cleans up. It may be nil.
	Close func() error
}

// Workloads lists all workloads, the source's two first. command starts the
// program that serves the child of the workload stop (see [ServeChild]); where it
// is nil, that one is unavailable.
func Workloads(command func() *exec.Cmd) []Workload {
	return []Workload{
		{Name: Sleep, Does: "the thread sleeps", Sleeps: 1, Prepare: always(sleepFor)},
		{Name: Fibonacci, Does: "computes Fibonacci numbers", Busy: true, Prepare: prepareFibonacci},
		{Name: Syscalls, Does: "waits for a pipe, sleeps for moments, makes many short system calls", Prepare: prepareSyscalls},
		{Name: Handoff, Does: "hands over to another goroutine and back", Prepare: prepareHandoff},
		{Name: Memory, Does: "maps memory, touches it, unmaps it, copies", Busy: true, Prepare: prepareMemory},
		{Name: Threads, Does: "computes while other threads are busy on all CPUs", Prepare: prepareThreads},
		{Name: Migration, Does: "moves the thread through all CPUs", Prepare: prepareMigration},
		{Name: Frequency, Does: "sleeps, then computes, so that the core's frequency changes", Sleeps: 0.5, Prepare: prepareFrequency},
		{Name: GC, Does: "makes garbage and collects it", Prepare: always(collectGarbage)},
		{Name: Stop, Does: "a child process is stopped and continued", Sleeps: 1, Prepare: prepareStop(command)},
	}
}

// Select is the workloads of those names, in their order; all where there are
// none. The error is an [*UnknownWorkload].
func Select(all []Workload, names []string) ([]Workload, error) {
	if len(names) == 0 {
		return all, nil
	}
	byName := map[string]Workload{}
	var known []string
	for _, w := range all {
		byName[w.Name], known = w, append(known, w.Name)
	}
	var chosen []Workload
	for _, name := range names {
		w, ok := byName[name]
		if !ok {
			return nil, &UnknownWorkload{Name: name, Known: known}
		}
		chosen = append(chosen, w)
	}
	return chosen, nil
}

// around is the task whose sandwiches are taken here, around run.
func around(s *Sampler, run func(ns float64), close func() error) Task {
	return Task{
		Take:  func(requestedNs float64) (Sample, error) { return s.Take(requestedNs, run), nil },
		Close: close,
	}
}

// attempt is around for a run that can fail.
func attempt(s *Sampler, run func(ns float64) error, close func() error) Task {
	return Task{
		Take: func(requestedNs float64) (Sample, error) {
			var err error
			sample := s.Take(requestedNs, func(ns float64) { err = run(ns) })
			return sample, err
		},
		Close: close,
	}
}

// always prepares a workload that needs nothing.
func always(run func(ns float64)) func(context.Context, *Sampler) (Task, error) {
	return func(_ context.Context, s *Sampler) (Task, error) { return around(s, run, nil), nil }
}

// unavailable turns an error of the system into the workload's.
func unavailable(workload string, reason clock.Reason, err error, remedy string) error {
	return &Unavailable{Workload: workload, Reason: reason, Detail: err.Error(), Remedy: remedy}
}
