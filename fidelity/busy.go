package fidelity

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// fibonacci is number n of the sequence, modulo 2^64. Each step waits for the one
// before, so that its time is the core's and nobody else's.
//
//go:noinline
func fibonacci(n int) uint64 {
	a, b := uint64(0), uint64(1)
	for range n {
		a, b = b, a+b
	}
	return a
}

// computed takes the outcome, so that the compiler can't leave the work out.
var computed atomic.Uint64

// compute is the computing of about ns nanoseconds, at a speed that is measured
// once: how long it takes then is up to the core, no clock is asked.
func compute() func(ns float64) {
	const trial, tries = 100_000, 5
	least := time.Duration(math.MaxInt64)
	for range tries {
		start := time.Now()
		computed.Store(fibonacci(trial))
		least = min(least, time.Since(start))
	}
	perNs := trial / math.Max(1, float64(least.Nanoseconds()))
	return func(ns float64) { computed.Store(fibonacci(int(ns * perNs))) }
}

// prepareFibonacci is the source's second workload (Kuperberg 2011b, section 3):
// the size is how far the sequence is computed.
func prepareFibonacci(_ context.Context, s *Sampler) (Task, error) {
	return around(s, compute(), nil), nil
}

// prepareThreads keeps as many threads busy as Go runs at once while the workload
// lasts, while the measuring one computes, and has a CPU half of the time at most.
func prepareThreads(_ context.Context, s *Sampler) (Task, error) {
	work := compute()
	var stop atomic.Bool
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for !stop.Load() {
				computed.Store(fibonacci(10_000))
			}
		})
	}
	return around(s, func(ns float64) { work(ns / 2) }, func() error {
		stop.Store(true)
		all.Wait()
		return nil
	}), nil
}

// prepareFrequency sleeps and computes for different shares of the time in turn,
// so that a counter whose rate differs between the two disagrees with itself.
func prepareFrequency(_ context.Context, s *Sampler) (Task, error) {
	work, asleep := compute(), 0.25
	return around(s, func(ns float64) {
		sleepFor(asleep * ns)
		work((1 - asleep) * ns)
		asleep = 1 - asleep
	}, nil), nil
}

// collectGarbage allocates and collects until the time is over.
func collectGarbage(ns float64) {
	const pieces, bytes = 64, 16 << 10
	for begun := time.Now(); float64(time.Since(begun)) < ns; {
		var garbage [pieces][]byte
		for i := range garbage {
			garbage[i] = make([]byte, bytes)
		}
		runtime.KeepAlive(garbage)
		runtime.GC()
	}
}
