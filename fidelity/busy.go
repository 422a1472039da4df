package fidelity

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// fibonacci returns number n of the sequence, modulo 2^64. Each step needs the result of the one
// before, so that its time depends on the core alone.
//
//go:noinline
func fibonacci(n int) uint64 {
	a, b := uint64(0), uint64(1)
	for range n {
		a, b = b, a+b
	}
	return a
}

// computed stores the result, so that the compiler can't remove the computation.
var computed atomic.Uint64

// compute returns a function that computes for about ns nanoseconds. It measures the speed of the
// core once; after that the time depends on the core, and no clock is read.
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

// prepareFibonacci is Kuperberg's second workload (2011b, section 3): it computes the sequence, up
// to a number that depends on the requested time.
func prepareFibonacci(_ context.Context, s *Sampler) (Task, error) {
	return around(s, compute(), nil), nil
}

// prepareThreads keeps all of Go's threads busy while the measuring thread computes, so that the
// measuring thread has a CPU for at most half of the time.
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

// prepareFrequency sleeps and computes for shares of the time that change from sample to sample.
// If a counter has different rates in the two, its samples contradict one another.
func prepareFrequency(_ context.Context, s *Sampler) (Task, error) {
	work, asleep := compute(), 0.25
	return around(s, func(ns float64) {
		sleepFor(asleep * ns)
		work((1 - asleep) * ns)
		asleep = 1 - asleep
	}, nil), nil
}

// collectGarbage allocates memory and runs the garbage collector until ns nanoseconds are over.
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
