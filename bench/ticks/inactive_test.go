package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/env"
)

// simulatedReader is a clock whose readings are 20 ticks apart, and every now and
// then 20 + pause, longer by one each time.
func simulatedReader(every int, pause int64) *clock.Clock {
	now, readings := int64(0), 0
	return clock.New(clock.Clock{Name: "simulated"}, func() int64 {
		now += 20
		if readings++; readings%every == 0 {
			now += pause + int64(readings/every)
		}
		return now
	})
}

// Homework 9.11: the first pause that is longer than the threshold, to the tick.
func TestInactiveDuration(t *testing.T) {
	const every, pause = 50021, 4980
	got, err := InactiveDuration(t.Context(), simulatedReader(every, pause), 1000)
	// Some pauses go by while the threshold is checked, or between two watches.
	if nth := got - 20 - pause; err != nil || nth < 1 || nth > 10 {
		t.Errorf("%d ticks, %v; want 5000 or a few more", got, err)
	}
	// Of pauses that grow the first one beyond the threshold counts.
	got, err = InactiveDuration(t.Context(), simulatedReader(every, pause), 20+pause+20)
	if nth := got - 20 - pause; err != nil || nth < 21 || nth > 30 {
		t.Errorf("%d ticks, %v; want a few more than %d", got, err, 20+pause+20)
	}
}

// The first watches are of one reading each: what falls before it may be the way
// through Go, and is passed over.
func TestInactiveDurationPassesOverItsOwn(t *testing.T) {
	now, readings, checked := int64(0), 0, 8*4096 // to find what the clock can reach
	c := clock.New(clock.Clock{Name: "simulated"}, func() int64 {
		now += 20
		switch readings++; readings {
		case checked + 3:
			now += 5000
		case checked + 50000:
			now += 7000
		}
		return now
	})
	if got, err := InactiveDuration(t.Context(), c, 1000); err != nil || got != 7020 {
		t.Errorf("%d, %v; want 7020", got, err)
	}
}

// It never hangs, whatever the clock does.
func TestInactiveDurationEnds(t *testing.T) {
	for name, c := range map[string]*clock.Clock{
		"steady": simulatedReader(1<<60, 0),
		"stuck":  clock.New(clock.Clock{Name: "stuck"}, func() int64 { return 7 }),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if got, err := InactiveDuration(ctx, c, 1000); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %d, %v", name, got, err)
		}
		cancel()
	}
}

func TestInactiveDurationRefusesWhatTheClockReaches(t *testing.T) {
	for _, threshold := range []int64{-1, 0, 19} {
		if got, err := InactiveDuration(t.Context(), simulatedReader(1<<60, 0), threshold); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a threshold of %d: %d, %v", threshold, got, err)
		}
	}
}

// On any machine what is found exceeds the threshold.
func TestInactiveDurationLive(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	const threshold = 2000
	if got, err := InactiveDuration(ctx, finest(t), threshold); err == nil && got <= threshold {
		t.Errorf("%d ticks at a threshold of %d", got, threshold)
	}
}

// finest is the best clock that can be read here.
func finest(t *testing.T) *clock.Clock {
	t.Helper()
	c, err := env.Open(t.Context(), time.Millisecond, env.Clocks()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.Clock
}
