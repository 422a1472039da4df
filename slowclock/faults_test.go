package slowclock_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/clock/clocktest"
	"chronoscope/slowclock"
	"chronoscope/stats"
)

const ms = 1e6

// faulty returns a lab with a clock of 1 ms, an event of 50 µs and a fault.
func faulty(seed uint64, faults clocktest.Faults) (slowclock.Lab, *clocktest.Machine) {
	m := clocktest.NewMachine(seed)
	c := &clocktest.Clock{Machine: m, QuantumNs: ms, UnitNs: ms, Cost: clocktest.Constant(500), Faults: faults}
	return slowclock.Lab{Clock: slow(c), Event: func() { m.Run(0.05 * ms) }, Dither: true, Delay: m.Run, Seed: seed}, m
}

// each runs every method on a lab with those faults, and calls check with the result.
func each(t *testing.T, faults clocktest.Faults, plan slowclock.Plan, check func(*testing.T, slowclock.Result)) {
	t.Helper()
	for seed := range uint64(5) {
		lab, _ := faulty(seed, faults)
		two, err := lab.Bernoulli(context.Background(), plan)
		if err != nil {
			t.Fatal(err)
		}
		lab, _ = faulty(seed, faults)
		classic, err := lab.Classic(context.Background(), plan)
		if err != nil {
			t.Fatal(err)
		}
		lab, m := faulty(seed, faults)
		count := &counter{machine: m, periodNs: 10, costNs: 60}
		counted, err := lab.Counter(context.Background(), count.clock(), plan)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range append(two[:], classic, counted) {
			t.Run(string(r.Method), func(t *testing.T) { check(t, r) })
		}
	}
}

// near fails if a result that is not unusable is wrong by more than a tenth.
func near(t *testing.T, r slowclock.Result) {
	t.Helper()
	if r.Verdict != stats.Unusable && math.Abs(r.Estimate.Value-0.05*ms) > 0.005*ms {
		t.Errorf("%v, %s %v", r.Estimate.Value, r.Verdict, r.Reasons)
	}
}

func TestNoFault(t *testing.T) {
	each(t, clocktest.Faults{}, slowclock.Plan{Duration: 1200 * time.Millisecond}, func(t *testing.T, r slowclock.Result) {
		near(t, r)
		if r.Verdict != stats.Trusted {
			t.Errorf("%s: %v", r.Verdict, r.Reasons)
		}
	})
}

// A clock that is set forward by an hour is detected, and the jump is left out.
func TestSetForward(t *testing.T) {
	each(t, clocktest.Faults{JumpAtNs: 400 * ms, JumpNs: 3600e9}, slowclock.Plan{Trials: 12_000}, func(t *testing.T, r slowclock.Result) {
		near(t, r)
		said := slices.ContainsFunc(r.Reasons, func(reason string) bool { return strings.Contains(reason, "jump") })
		if r.Method != slowclock.CounterClock && (r.Verdict == stats.Trusted || !said) {
			t.Errorf("%s: %v", r.Verdict, r.Reasons)
		}
	})
}

// A clock that is set back is detected too.
func TestSetBack(t *testing.T) {
	each(t, clocktest.Faults{JumpAtNs: 400 * ms, JumpNs: -1e9}, slowclock.Plan{Trials: 12_000}, func(t *testing.T, r slowclock.Result) {
		near(t, r)
		said := slices.ContainsFunc(r.Reasons, func(reason string) bool { return strings.Contains(reason, "backwards") })
		if r.Method != slowclock.CounterClock && (r.Verdict == stats.Trusted || !said) {
			t.Errorf("%s: %v", r.Verdict, r.Reasons)
		}
	})
}

// A counter of eight bits wraps every quarter of a second.
func TestWrap(t *testing.T) {
	each(t, clocktest.Faults{WrapBits: 8}, slowclock.Plan{Trials: 12_000}, func(t *testing.T, r slowclock.Result) {
		near(t, r)
		if r.Method == slowclock.Discrete && (r.Verdict != stats.Suspect || r.Estimate.Discarded == 0 && !strings.Contains(r.Reasons[0], "backwards")) {
			t.Errorf("%s: %v", r.Verdict, r.Reasons)
		}
	})
}

// With a clock that stands still a measurement ends only with its context, without a value.
func TestStuckClock(t *testing.T) {
	stuck := clock.New(clock.Clock{Name: "stuck", UnitNs: ms}, func() int64 { return 7 })
	c, err := slowclock.NewClock(stuck, ms)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	lab := slowclock.Lab{Clock: c, Event: func() {}}
	two, err := lab.Bernoulli(ctx, slowclock.Plan{Duration: time.Second})
	if !errors.Is(err, context.DeadlineExceeded) || two[1].Verdict != stats.Unusable {
		t.Errorf("%v, %+v", err, two[1])
	}
	classic, err := lab.Classic(ctx, slowclock.Plan{Duration: time.Second})
	if !errors.Is(err, context.DeadlineExceeded) || classic.Verdict != stats.Unusable {
		t.Errorf("%v, %+v", err, classic)
	}
	counted, err := lab.Counter(ctx, stuck, slowclock.Plan{Duration: time.Second})
	if !errors.Is(err, context.DeadlineExceeded) || counted.Verdict != stats.Unusable {
		t.Errorf("%v, %+v", err, counted)
	}
	if _, err := slowclock.FindTick(ctx, stuck); err == nil || !strings.Contains(err.Error(), "did not tick") {
		t.Errorf("%v", err)
	}
	var reading int64
	fine := clock.New(clock.Clock{Name: "fine", UnitNs: 1}, func() int64 { reading += 25; return reading })
	if _, err := slowclock.FindTick(context.Background(), fine); err == nil || !strings.Contains(err.Error(), "moves in most of its readings") {
		t.Errorf("a clock that is no slow one: %v", err)
	}
}

// A counter whose thread hardly runs gives no result that is trusted.
func TestStarvedCounter(t *testing.T) {
	for seed := range uint64(5) {
		lab, m := faulty(seed, clocktest.Faults{})
		count := &counter{machine: m, periodNs: 10, costNs: 60, everyNs: 3 * ms, off: 6 * ms}
		r, err := lab.Counter(context.Background(), count.clock(), slowclock.Plan{Duration: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict == stats.Trusted && !r.Estimate.Covers(0.05*ms) {
			t.Errorf("%+v", r)
		}
		if r.Verdict == stats.Trusted {
			t.Errorf("seed %d: %s, %d rounds left out", seed, r.Verdict, r.Estimate.Discarded)
		}
	}
}

// A counter that stands still gives no value, and the result says so.
func TestStillCounter(t *testing.T) {
	lab, m := faulty(1, clocktest.Faults{})
	still := clock.New(clock.Clock{Name: "still", Kind: clock.KindCounter}, func() int64 { m.Run(60); return 7 })
	r, err := lab.Counter(context.Background(), still, slowclock.Plan{Duration: 500 * time.Millisecond})
	if err != nil || r.Verdict != stats.Unusable || !math.IsNaN(r.Estimate.Value) {
		t.Errorf("%v: %s %v, %v", err, r.Verdict, r.Reasons, r.Estimate)
	}
}

// An event that never meets an edge of the clock has an upper bound, and the result is unusable.
func TestNoEdge(t *testing.T) {
	lab, _ := faulty(1, clocktest.Faults{})
	lab.Dither = false
	lab.Event = func() {}
	two, err := lab.Bernoulli(context.Background(), slowclock.Plan{Trials: 10, Duration: time.Second})
	if err != nil || two[1].Edges != 0 || two[1].Verdict != stats.Unusable || !(two[1].Estimate.Hi > 0) {
		t.Errorf("%v: %+v", err, two[1])
	}
}

// The tick of a clock is found in its readings, whatever its unit, while other programs take the
// CPU.
func TestFindTick(t *testing.T) {
	for seed := range uint64(100) {
		m := clocktest.NewMachine(seed)
		r := m.Rand()
		m.Preemption = &clocktest.Preemption{EveryNs: 40e6, ForNs: 10e6}
		c := &clocktest.Clock{Machine: m, QuantumNs: logUniform(r, 1e4, 16e6), UnitNs: 1, Cost: clocktest.Constant(2000)}
		found, err := slowclock.FindTick(context.Background(), clock.New(clock.Clock{Name: "c", UnitNs: 1}, c.Read))
		if err != nil || math.Abs(found.TickNs-c.QuantumNs) > 1.5 {
			t.Errorf("seed %d: %v, %v, want %v", seed, found.TickNs, err, c.QuantumNs)
		}
	}
}

// Divided readings tick evenly, also when they change sign.
func TestCoarsened(t *testing.T) {
	now := int64(-2500)
	fine := clock.Rated{
		Clock:  clock.New(clock.Clock{Name: "fine", UnitNs: 1}, func() int64 { now++; return now }),
		TickNs: stats.Estimate{Value: 1, Lo: 1, Hi: 1},
	}
	c, err := slowclock.Coarsened(fine, 1000)
	if err != nil || c.TickNs != 1000 || c.UnitNs != 1000 {
		t.Fatalf("%+v, %v", c, err)
	}
	seen := map[int64]int{}
	for range 4000 {
		seen[c.Read()]++
	}
	for reading := int64(-2); reading < 1; reading++ {
		if seen[reading] != 1000 {
			t.Errorf("%d stood for %d ns", reading, seen[reading])
		}
	}
	for _, tick := range []float64{0, 0.2, math.NaN(), math.Inf(1), -5} {
		if _, err := slowclock.Coarsened(fine, tick); err == nil {
			t.Errorf("a tick of %v was taken", tick)
		}
	}
}

// A measurement does not wait for a clock that is set back by hours, at whatever point of a round
// that happens.
func TestSetBackByHours(t *testing.T) {
	for at := 80.0; at < 115; at += 3 {
		lab, m := faulty(1, clocktest.Faults{JumpAtNs: at * ms, JumpNs: -3600e9})
		count := &counter{machine: m, periodNs: 10, costNs: 60}
		ctx, cancel := context.WithCancel(context.Background())
		limited := clock.New(clock.Clock{Name: "counter", Kind: clock.KindCounter}, func() int64 {
			if m.NowNs() > 20e9 { // the time of the simulated machine, not of the test
				cancel()
			}
			return count.read()
		})
		r, err := lab.Counter(ctx, limited, slowclock.Plan{Duration: 600 * time.Millisecond})
		cancel()
		if err != nil {
			t.Fatalf("at %v ms: %v", at, err)
		}
		near(t, r)
	}
}

// If a clock's tick is shorter than a reading takes, there are no edges to wait for.
func TestNoSlowClock(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var now int64
	fast, err := slowclock.NewClock(clock.New(clock.Clock{Name: "fast", UnitNs: 1}, func() int64 {
		if now += 20; now > 1e9 {
			cancel()
		}
		return now
	}), 1)
	if err != nil {
		t.Fatal(err)
	}
	lab := slowclock.Lab{Clock: fast, Event: func() { now += 1000 }, Dither: true}
	plan := slowclock.Plan{Duration: time.Millisecond}
	_, trials := lab.Bernoulli(ctx, plan)
	_, loops := lab.Classic(ctx, plan)
	_, counted := lab.Counter(ctx, fast.Clock, plan)
	for _, err := range []error{trials, loops, counted} {
		if err == nil || !strings.Contains(err.Error(), "shows each of its ticks") {
			t.Errorf("%v", err)
		}
	}
}

// A plan's duration includes what prepares the trials: with a long tick that is most of it.
func TestPlanHoldsItsPreparation(t *testing.T) {
	const ticks, overrun = 100, 7 // overrun is the length of a loop or a pause
	plan := slowclock.Plan{Duration: ticks * time.Millisecond}
	for seed := range uint64(10) {
		lab, m := faulty(seed, clocktest.Faults{})
		if _, err := lab.Bernoulli(context.Background(), plan); err != nil || m.NowNs() > (ticks+overrun)*ms {
			t.Errorf("trials: %v, after %v ms", err, m.NowNs()/ms)
		}
		lab, m = faulty(seed, clocktest.Faults{})
		if _, err := lab.Classic(context.Background(), plan); err != nil || m.NowNs() > (ticks+overrun)*ms {
			t.Errorf("loops: %v, after %v ms", err, m.NowNs()/ms)
		}
		lab, m = faulty(seed, clocktest.Faults{})
		count := &counter{machine: m, periodNs: 10, costNs: 60}
		if _, err := lab.Counter(context.Background(), count.clock(), plan); err != nil || m.NowNs() > (ticks+2*overrun)*ms {
			t.Errorf("counter: %v, after %v ms", err, m.NowNs()/ms)
		}
	}
}

// A plan with nothing to divide among empty trials and others never ended.
func TestPlanWithoutLimits(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, plan := range []slowclock.Plan{{}, {Precision: 0.5}} {
		lab, _ := faulty(1, clocktest.Faults{})
		_, err := lab.Bernoulli(ctx, plan)
		lab, _ = faulty(1, clocktest.Faults{})
		_, err2 := lab.Classic(ctx, plan)
		for _, err := range []error{err, err2} {
			if err == nil || !strings.Contains(err.Error(), "set Duration or Trials") {
				t.Errorf("%+v: %v", plan, err)
			}
		}
	}
}
