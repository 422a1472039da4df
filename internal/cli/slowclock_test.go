package cli

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// The two threads have CPUs of their own, wherever there are two: both on one made an event
// of 10 µs one of 22, and the counter stand still for half of the time.
func TestSeats(t *testing.T) {
	for _, c := range []struct{ allowed, asked, measuring, counting []int }{
		{[]int{0, 1}, nil, []int{0}, []int{1}},
		{[]int{2, 5, 7}, nil, []int{2, 5}, []int{7}},
		{[]int{0, 1}, []int{1}, []int{1}, []int{0}},
		{[]int{0, 1, 2, 3}, []int{1, 2}, []int{1, 2}, []int{0, 3}},
		{[]int{3}, nil, nil, []int{3}},
		{[]int{0, 1}, []int{0, 1}, []int{0, 1}, nil},
	} {
		allowed, asked := slices.Clone(c.allowed), slices.Clone(c.asked)
		measuring, counting := seats(allowed, asked)
		if !slices.Equal(measuring, c.measuring) || !slices.Equal(counting, c.counting) {
			t.Errorf("%v of %v: %v and %v, want %v and %v", c.asked, c.allowed, measuring, counting, c.measuring, c.counting)
		}
		if !slices.Equal(allowed, c.allowed) || !slices.Equal(asked, c.asked) {
			t.Errorf("%v of %v became %v of %v", c.asked, c.allowed, asked, allowed)
		}
	}
}

// A method that takes longer than it may is cut short, and that is no error; what the user
// ends, and what fails by itself, is one.
func TestMethodsAreBounded(t *testing.T) {
	e := &slowExperiment{flags: &slowFlags{maxTime: 10 * time.Millisecond}}
	waits := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	if err := e.bounded(context.Background(), waits); err != nil {
		t.Errorf("out of time: %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := e.bounded(ended, waits); !errors.Is(err, context.Canceled) {
		t.Errorf("ended by the user: %v", err)
	}
	broken := errors.New("no slow clock")
	if err := e.bounded(context.Background(), func(context.Context) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("failed: %v", err)
	}
}
