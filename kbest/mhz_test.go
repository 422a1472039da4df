package kbest

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"
	"time"

	"chronoscope/clock"
)

// The rates are those of a processor, or the error says why there are none.
func TestMHz(t *testing.T) {
	r, err := MHz(background, fstest.MapFS{}, 20*time.Millisecond)
	var unavailable *clock.Unavailable
	if err != nil {
		if !errors.As(err, &unavailable) {
			t.Log(err)
		}
		return
	}
	if !(r.CounterHz.Value > 1e5) || r.Reference == "" || r.Counter == "" {
		t.Errorf("%+v", r)
	}
	ended, cancel := context.WithCancel(background)
	cancel()
	if _, err := MHz(ended, fstest.MapFS{}, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}
