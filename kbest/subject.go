package kbest

import "sync/atomic"

// Subject is what is measured.
type Subject struct {
	Name string
	// Run does the work n times.
	Run func(n int)
	// Empty is Run without the work: what a call of it takes is taken off. Nil
	// where the loop costs nothing that matters.
	Empty func(n int)
	// Before prepares each trial: input, a cold cache. It is not timed. Where it is
	// set each trial is one call, as only the first call would find what it
	// prepared; unless Batches says that any number of calls may follow it.
	Before  func()
	Batches bool
	// After follows each trial, those that warm up too. It is not timed.
	After func()
}

// batched reports that trials may be of several calls.
func (s Subject) batched() bool { return s.Before == nil || s.Batches }

// kept takes addresses, so that what they point to has to exist.
var kept atomic.Pointer[any]

// Keep makes the compiler compute x, whose result nobody else needs. It takes
// about a nanosecond where x is a number.
//
//go:noinline
func Keep[T any](x T) {
	if alwaysFalse {
		var a any = x
		kept.Store(&a)
	}
}

// alwaysFalse is a variable, so that the compiler can't know.
var alwaysFalse bool
