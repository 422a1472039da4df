package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// All have a figure, whatever it is.
func TestCosts(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"-rounds", "7", "-calls", "640"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"meter, tails, 1 in 16", "Prometheus, native", "HdrHistogram", "DDSketch", "64 goroutines"} {
		if !strings.Contains(out.String(), name) {
			t.Errorf("no %q in\n%s", name, &out)
		}
	}
	if strings.Contains(out.String(), "NaN") {
		t.Error(out.String())
	}
}

// Fewer calls than goroutines would be no calls at all.
func TestFewCalls(t *testing.T) {
	if err := run(t.Context(), []string{"-rounds", "7", "-calls", "63"}, &strings.Builder{}); err == nil {
		t.Error("63 calls were shared by 64 goroutines")
	}
}

// On a simulated machine a call takes 3 ns, and starting 64 goroutines takes 6,400: the cost is that of the call.
func TestGoroutinesAreTakenOff(t *testing.T) {
	var calls atomic.Int64
	cpuTime := func(f func()) float64 {
		before := calls.Load()
		f()
		return 3*float64(calls.Load()-before) + 6400
	}
	costs, err := measure(t.Context(), []subject{{"call", func() { calls.Add(1) }}}, 4, 128, 64, cpuTime)
	if err != nil || !slices.Equal(costs[0], []float64{3, 3, 3, 3}) {
		t.Errorf("%v, %v", costs, err)
	}
}

// After an interrupt no further round is made, and the rounds before it are there.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := 0
	costs, err := measure(ctx, []subject{{"call", func() {
		if calls++; calls == 2 { // the first round warms up
			cancel()
		}
	}}}, 10, 1, 1, func(f func()) float64 { f(); return 1 })
	if !errors.Is(err, context.Canceled) || len(costs[0]) != 1 {
		t.Errorf("%v, %v", costs, err)
	}
}
