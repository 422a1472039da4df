package cli

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/clock/clocktest"
	"chronoscope/slowclock"
	"chronoscope/stats"
)

// The two threads have separate CPUs if there are two. Both threads on one CPU once measured 22 µs
// for an event of 10 µs, and the counter stood still for half of the time.
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

// A method that takes longer than its share is cut short, which is no error. An interruption by the
// user, or a failure of the method, is an error.
func TestMethodsAreBounded(t *testing.T) {
	flags := &slowFlags{maxTime: 10 * time.Millisecond, methods: []string{"classic"}}
	share := func(ctx context.Context, measure func(context.Context) error) error {
		return flags.budget(time.Now).share(ctx, func(ctx context.Context, _ time.Duration) error { return measure(ctx) })
	}
	waits := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	if err := share(context.Background(), waits); err != nil {
		t.Errorf("out of time: %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := share(ended, waits); !errors.Is(err, context.Canceled) {
		t.Errorf("ended by the user: %v", err)
	}
	broken := errors.New("no slow clock")
	if err := share(context.Background(), func(context.Context) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("failed: %v", err)
	}
}

// A time that is over before the clock is calibrated is not a machine without a clock.
func TestTooShortToCalibrate(t *testing.T) {
	flags := &slowFlags{maxTime: time.Nanosecond, methods: []string{"classic"}}
	e := &slowExperiment{flags: flags, call: &call{}, time: flags.budget(time.Now)}
	if err := e.open(t.Context()); err == nil || err.Error() != "--max-time: 1ns is over before the fine clock is calibrated: give more" {
		t.Errorf("%v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.open(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("ended by the user: %v", err)
	}
}

// --max-time 300ms once took 20 to 45 s beside load. The simulated thread has no CPU for most of the
// time, the preparation takes half of the time, and no timer of the Go runtime fires.
func TestSlowClockKeepsItsTimeBesideLoad(t *testing.T) {
	const ms = 1e6
	for _, c := range []struct {
		name           string
		tickNs, awayNs float64
		setupNs        float64
		stuck          bool
	}{
		{name: "calm", tickNs: ms},
		{name: "beside three loops", tickNs: ms, awayNs: 12 * ms, setupNs: 450 * ms},
		{name: "a tick of 16 ms", tickNs: 16 * ms, awayNs: 12 * ms, setupNs: 450 * ms},
		{name: "all spent by what is set up", tickNs: ms, awayNs: 12 * ms, setupNs: 2000 * ms},
		{name: "a clock that stands still", tickNs: ms, stuck: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := clocktest.NewMachine(7)
			if c.awayNs > 0 {
				m.Preemption = &clocktest.Preemption{EveryNs: 4 * ms, ForNs: c.awayNs}
			}
			ticking := &clocktest.Clock{Machine: m, QuantumNs: c.tickNs, UnitNs: c.tickNs, Cost: clocktest.Constant(500)}
			read := ticking.Read
			if c.stuck {
				read = func() int64 { m.Run(500); return 7 }
			}
			slow, err := slowclock.NewClock(clock.New(clock.Clock{Name: "simulated", UnitNs: c.tickNs}, read), c.tickNs)
			if err != nil {
				t.Fatal(err)
			}
			flags := &slowFlags{maxTime: 300 * time.Millisecond, methods: []string{"bernoulli", "discrete", "classic", "counter"}}
			b := flags.budget(func() time.Time { return time.Unix(0, int64(m.NowNs())) })
			m.Idle(c.setupNs)
			lab := slowclock.Lab{Clock: slow, Event: func() { m.Run(0.01 * ms) }, Dither: true, Delay: m.Run, Seed: 1}
			counter := clock.New(clock.Clock{Name: "counter"}, func() int64 { m.Run(60); return int64(m.NowNs() / 10) })
			var results []slowclock.Result
			for _, measure := range []func(context.Context, time.Duration) error{
				func(ctx context.Context, d time.Duration) error {
					r, err := lab.Counter(ctx, counter, slowclock.Plan{Duration: d})
					results = append(results, r)
					return err
				},
				func(ctx context.Context, d time.Duration) error {
					both, err := lab.Bernoulli(ctx, slowclock.Plan{Duration: d})
					results = append(results, both[:]...)
					return err
				},
				func(ctx context.Context, d time.Duration) error {
					r, err := lab.Classic(ctx, slowclock.Plan{Duration: d})
					results = append(results, r)
					return err
				},
			} {
				if err := b.share(context.Background(), measure); err != nil {
					t.Fatal(err)
				}
			}
			// Allowed are a tenth more, and for each method one check of the time while the thread
			// has no CPU.
			limitNs := math.Max(c.setupNs, 900*ms) + 90*ms + 3*(2*c.awayNs+1024*0.02*ms)
			if took := m.NowNs(); took > limitNs {
				t.Errorf("three methods of 300 ms took %.0f ms", took/ms)
			}
			for _, r := range results {
				whole := !c.stuck && c.setupNs < 900*ms
				if r.Verdict == stats.Trusted && !whole {
					t.Errorf("%s is trusted without any time: %v", r.Method, r.Estimate)
				}
				if r.Verdict != stats.Trusted && len(r.Reasons) == 0 {
					t.Errorf("%s: %s without a reason", r.Method, r.Verdict)
				}
			}
		})
	}
}
