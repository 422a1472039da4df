package main

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"chronoscope/activity"
	"chronoscope/clock"
)

// Homework 9.10 on simulated systems: whatever the rate of the ticks, and
// whatever the kernel's own timer that brings their count up to date, the bounds
// hold the rate, and are as narrow as the count allows.
func TestTicksPerSecondSimulated(t *testing.T) {
	for seed := range uint64(5000) {
		rng := rand.New(rand.NewPCG(seed, 910))
		hz := []float64{60, 100, 128, 1000, 1024}[rng.IntN(5)]
		kernelHz := hz * (1 + 9*rng.Float64())
		at := rng.Float64() // seconds
		call := func() { at += 1e-6 + 1e-4*rng.ExpFloat64() }
		now := func() time.Duration { return time.Duration(at * 1e9) }
		count := func() (int64, error) {
			call()
			seen := math.Floor(at*kernelHz) / kernelHz
			defer call()
			return int64(seen * hz), nil
		}
		sleep := 0.2 + 2*rng.Float64()
		e, err := ticksPerSecond(now, count, func() error { at += sleep; return nil })
		if err != nil || !e.Covers(hz) || math.Abs(e.Value-hz) > 2.1/sleep {
			t.Errorf("seed %d: %+v, %v; want %v Hz", seed, e, err, hz)
		}
		if e.HalfWidth() > 2.1/sleep+0.01*hz {
			t.Errorf("seed %d: %+v: wider than two ticks in %v s", seed, e, sleep)
		}
	}
}

// 200 ticks in 2 s at least and 4 at most, whose ends leave two of doubt each.
func TestTickRate(t *testing.T) {
	e := tickRate(tickReading{before: 0, after: time.Second, ticks: 1000}, tickReading{before: 3 * time.Second, after: 4 * time.Second, ticks: 1200})
	if e.Value != 200.0/3 || e.Lo != 198.0/4 || e.Hi != 202.0/2 || e.N != 200 {
		t.Errorf("%+v", e)
	}
}

// What was counted until the context ended is kept.
func TestTicksPerSecondInterrupted(t *testing.T) {
	at := time.Duration(0)
	count := func() (int64, error) { return int64(at / (10 * time.Millisecond)), nil }
	e, err := ticksPerSecond(func() time.Duration { return at }, count, func() error { at += time.Second; return context.Canceled })
	if !activity.Interrupted(err) || e.Value != 100 || e.N != 100 {
		t.Errorf("%+v, %v", e, err)
	}
	e, err = ticksPerSecond(func() time.Duration { return at }, count, func() error { return context.Canceled })
	if !activity.Interrupted(err) || !math.IsNaN(e.Value) {
		t.Errorf("without any time: %+v, %v", e, err)
	}
}

func TestTicksPerSecondLive(t *testing.T) {
	e, err := TicksPerSecond(t.Context(), 200*time.Millisecond)
	var unavailable *clock.Unavailable
	switch {
	case errors.As(err, &unavailable):
		if runtime.GOOS == "linux" || unavailable.Remedy == "" {
			t.Error(err)
		}
	case err != nil:
		t.Skip(err) // a sandbox without the call
	case !(e.Lo <= e.Value && e.Value <= e.Hi && e.N > 0):
		t.Errorf("%+v", e)
	}
	for _, sleep := range []time.Duration{0, -1, activity.LongestDuration + 1} {
		if e, err := TicksPerSecond(t.Context(), sleep); err == nil {
			t.Errorf("a sleep of %v: %+v", sleep, e)
		}
	}
}
