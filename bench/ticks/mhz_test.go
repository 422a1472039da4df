package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"chronoscope/clock"
)

// The rates are those of a processor, where it has a counter.
func TestMHz(t *testing.T) {
	r, err := MHz(t.Context(), 20*time.Millisecond)
	var unavailable *clock.Unavailable
	if errors.As(err, &unavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !(r.CounterHz.Value > 1e5) || r.Counter == "" {
		t.Errorf("%+v", r)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := MHz(ended, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}
