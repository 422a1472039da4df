package check

import (
	"math"
	"testing"

	"chronoscope/clock"
)

func TestWrappedAt(t *testing.T) {
	for _, c := range []struct {
		before, after int64
		want          int
	}{
		{1<<24 - 5, 10, 24},
		{1<<32 - 1, 0, 32},
		{1<<48 - 1000, 1 << 20, 48},
		{math.MaxInt64, 0, 63},
		{5, 10, 0},            // a step forward
		{1 << 24, 10, 0},      // a step back from the middle of 25 bits
		{1<<24 - 5, 1e7, 0},   // a step back that does not end near zero
		{1<<15 - 1, 0, 0},     // too narrow for a counter
		{1<<24 - 5, -1, 0},    // a step back that ends below zero
		{-5, -10, 0},          // a step back below zero
		{math.MinInt64, 0, 0}, // a step forward
	} {
		if got := wrappedAt(c.before, c.after); got != c.want {
			t.Errorf("from %d to %d: %d, want %d", c.before, c.after, got, c.want)
		}
	}
}

// The test makes up readings of a reference in ns and of a counter that advances by the same
// amount, except for one step.
func TestWrapBits(t *testing.T) {
	at := func(ns, ticks int64) clock.Sandwich {
		return clock.Sandwich{Before: ns, Counter: ticks, After: ns + 50}
	}
	const turn = 1 << 24
	for name, c := range map[string]struct {
		sandwiches []clock.Sandwich
		want       int
	}{
		"none":        {nil, 0},
		"rises":       {[]clock.Sandwich{at(0, turn-1e6), at(1e6, turn-1)}, 0},
		"wraps":       {[]clock.Sandwich{at(0, turn-1e6), at(5e6, 4e6), at(10e6, 9e6)}, 24},
		"wraps twice": {[]clock.Sandwich{at(0, turn-1e6), at(5e6+turn, 4e6), at(10e6+turn, 9e6)}, 24},
		"steps back":  {[]clock.Sandwich{at(0, turn-1e6), at(5e6, turn-6e6), at(10e6, turn-1e6)}, 0},
		"set to zero": {[]clock.Sandwich{at(0, turn-8e6), at(5e6, 0), at(10e6, 5e6)}, 0},
		"by little":   {[]clock.Sandwich{at(0, turn-1e6), at(5e6, turn-1e6-10), at(10e6, turn-1e6)}, 0},
		"negative":    {[]clock.Sandwich{at(0, 10), at(5, -10)}, 0},
	} {
		if got := wrapBits(c.sandwiches, 1, 1); got != c.want {
			t.Errorf("%s: %d bits, want %d", name, got, c.want)
		}
	}
	whole := unwrapped([]clock.Sandwich{at(0, turn-1e6), at(5e6, 4e6), at(10e6+2*turn, 9e6)}, 24, 1, 1)
	if whole[1].Counter != turn+4e6 || whole[2].Counter != 3*turn+9e6 {
		t.Errorf("unwrapped to %+v", whole)
	}
}
