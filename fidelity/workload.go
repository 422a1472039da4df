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
	// Does says in a few words what the workload does.
	Does string
	// Busy is true if the measuring thread runs all the time and is the only thread of its process
	// that does, so that its CPU time equals real time.
	Busy bool
	// Sleeps is the share of the requested time for which the thread sleeps. It is used if the
	// kernel's counters are not known.
	Sleeps float64
	// Prepare makes the workload ready to run. Its error is an [*Unavailable] if this system can't
	// run the workload. Prepare and the functions of the Task are called on the measuring thread.
	Prepare func(context.Context, *Sampler) (Task, error)
}

// Task is a workload that is ready to run.
type Task struct {
	// Take takes one sandwich of about requestedNs.
	Take func(requestedNs float64) (Sample, error)
	// Close releases what Prepare acquired. It may be nil.
	Close func() error
}

// Workloads returns all workloads, Kuperberg's two first. command returns the command that starts the
// program that serves the child of the workload stop (see [ServeChild]). If command is nil, the
// workload stop is unavailable.
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

// Select returns the workloads with the given names, in the order of the names, or all if there are
// no names. The error is an [*UnknownWorkload].
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

// around returns a task that takes its sandwiches in this process, around run.
func around(s *Sampler, run func(ns float64), close func() error) Task {
	return Task{
		Take:  func(requestedNs float64) (Sample, error) { return s.Take(requestedNs, run), nil },
		Close: close,
	}
}

// attempt returns a task like that of around; the task returns the error of a run that fails.
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

// always returns a Prepare for a workload that needs no preparation.
func always(run func(ns float64)) func(context.Context, *Sampler) (Task, error) {
	return func(_ context.Context, s *Sampler) (Task, error) { return around(s, run, nil), nil }
}

// unavailable turns an error of the system into an [*Unavailable] for the workload.
func unavailable(workload string, reason clock.Reason, err error, remedy string) error {
	return &Unavailable{Workload: workload, Reason: reason, Detail: err.Error(), Remedy: remedy}
}
