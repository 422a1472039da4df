package kbest

import (
	"context"
	"errors"
	"time"

	"chronoscope/clock"
	"chronoscope/env"
	"chronoscope/machine"
)

// Station is where something is measured: the clock, and what the machine tells of the thread that measures.
// All of it is plain data and functions, so that the same code measures on a simulated machine. What is unknown
// is left out, and the verdicts say what that means.
type Station struct {
	Clock clock.Rated
	// Use returns what the kernel counted of the measuring thread. It must not allocate. If it is nil,
	// preemption can't be seen.
	Use func() (machine.ThreadUse, error)
	// Core is the core's rate. If it has no Spin, interruptions of the CPU can't be seen.
	env.Core
	// Counted returns the number of cycles that a hardware counter has counted of the thread in user space. It
	// must not allocate. It is nil if there is no counter.
	Counted func() int64
	// CountedShare returns the share of the time in which that counter counted. It is nil if it always does.
	CountedShare func() float64
	// Turns asks the scheduler for long time slices, or for the usual ones again. It is nil if the scheduler
	// can't be asked.
	Turns func(long bool)
	// Collections counts the process's garbage collections so far. It is nil if there are none.
	Collections func() int64
	// Allocated counts the bytes that the process has allocated so far. It is nil if they are not counted.
	Allocated func() int64
	// Neighbours returns what else ran since the last call. It is nil if that is not known.
	Neighbours func() Neighbours
	// Settle is called before each trial, outside of the timed region. It is nil if nothing is to be done.
	Settle func()
	// Pause waits for the given time, or until ctx ends. If it is nil, trials follow one another at once.
	Pause func(ctx context.Context, length time.Duration)

	// uncounted says why Use is nil; nil if that is not known.
	uncounted error
	off       corrections
}

// whyUncounted returns the reason and the remedy if the kernel does not count what threads wait, for the end of a sentence;
// empty if it is not that.
func (s *Station) whyUncounted() string {
	if !errors.Is(s.uncounted, machine.ErrUncounted) {
		return ""
	}
	return ": " + machine.ErrUncounted.Error()
}

// look returns what the kernel has counted so far; zero if it does not tell.
func (s *Station) look() machine.ThreadUse {
	if s.Use == nil {
		return machine.ThreadUse{}
	}
	use, err := s.Use()
	if err != nil {
		return machine.ThreadUse{}
	}
	return use
}

func (s *Station) turns(long bool) {
	if s.Turns != nil {
		s.Turns(long)
	}
}

// ask returns what a function of the station says now, or what stands for that if there is none.
func ask[T any](f func() T, missing T) T {
	if f == nil {
		return missing
	}
	return f()
}
