package kbest

import (
	"slices"
	"sync/atomic"
)

// Subject is a function that is measured.
type Subject struct {
	Name string
	// Run does the work n times.
	Run func(n int)
	// Empty is Run without the work: its time is subtracted. It is nil if the loop's cost does not matter.
	Empty func(n int)
	// Before prepares each trial, such as its input or a cold cache. It is not timed. If it is set, each trial
	// is one call, as only the first call would find what it prepared. If Batches is set too, any number of
	// calls may follow it.
	Before  func()
	Batches bool
	// Setup prepares what the next n calls of Run consume, such as inputs that a call uses up. It is not timed.
	// The calls of a trial are set up together. A trial has fewer calls if their inputs take much memory.
	// [Prepared] makes such a subject.
	Setup func(n int)
	// After follows each trial, including warm-up trials. It is not timed.
	After func()
}

// batched reports whether a trial may have several calls.
func (s Subject) batched() bool { return s.Before == nil || s.Batches }

// Prepared returns a subject whose calls each have an input of their own, made by setup outside of the measured
// time. The cost of calling work is subtracted.
func Prepared[T any](name string, setup func() T, work func(T)) Subject {
	var inputs []T
	each := func(do func(T)) func(int) {
		return func(n int) {
			for _, input := range inputs[:n] {
				do(input)
			}
		}
	}
	return Subject{
		Name: name, Run: each(work), Empty: each(func(T) {}),
		Setup: func(n int) {
			inputs = slices.Grow(inputs[:0], n)
			for range n {
				inputs = append(inputs, setup())
			}
		},
	}
}

// kept takes addresses, so that the compiler must keep what they point to.
var kept atomic.Pointer[any]

// Keep makes the compiler compute x even if nobody else needs it. It takes about a nanosecond if x is a number.
//
//go:noinline
func Keep[T any](x T) {
	if alwaysFalse {
		var a any = x
		kept.Store(&a)
	}
}

// alwaysFalse is a variable, so that the compiler can't know its value.
var alwaysFalse bool
