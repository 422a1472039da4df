package slowclock_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/clock/clocktest"
	"chronoscope/slowclock"
	"chronoscope/stats"
)

// stepper returns a lab whose loop takes an exact time, except for jitter, and whose timed region
// is the given share of it. Once in interruptedTicks, on average, other programs take the CPU.
func stepper(seed uint64, loopTicks, share, jitter, interruptedTicks float64, fine bool) slowclock.Lab {
	m := clocktest.NewMachine(seed)
	r := m.Rand()
	const tick = 1e6
	period, phase := loopTicks*tick, tick*r.Float64()
	cost := (1 - share) * period
	read := func() int64 {
		reading := math.Floor((m.NowNs() + phase) / tick)
		m.Run(cost / 2)
		return int64(reading)
	}
	simulated, err := slowclock.NewClock(clock.New(clock.Clock{Name: "simulated", Kind: clock.KindWall, UnitNs: tick}, read), tick)
	if err != nil {
		panic(err)
	}
	lab := slowclock.Lab{Clock: simulated, Seed: seed, Delay: m.Run}
	// The event ends at the time that the timetable gives.
	due, late := m.NowNs(), 0.0
	lab.Event = func() {
		if r.Float64() < loopTicks/interruptedTicks {
			m.Idle(tick * (period/tick + 3*r.Float64()))
		}
		if late = m.NowNs() - due; late > period {
			due += late
		}
		due += period
		m.Idle(math.Max(0, due-m.NowNs()-cost+cost/2+jitter*period*r.NormFloat64()))
	}
	if fine {
		lab.Fine = fineOf(m)
	}
	return lab
}

// fineOf returns a perfect clock.
func fineOf(m *clocktest.Machine) *clock.Rated {
	c := clocktest.Clock{Machine: m, QuantumNs: 1, UnitNs: 1, Cost: clocktest.Constant(0)}
	return &clock.Rated{
		Clock:  clock.New(clock.Clock{Name: "fine", Kind: clock.KindWall, UnitNs: 1}, c.Read),
		TickNs: stats.Estimate{Value: 1, Lo: 1, Hi: 1}, AccuracyNs: 1,
	}
}

// Loops that keep step with the clock are found, even if other programs take the CPU now and then,
// and no other loops are.
func TestPhaseLock(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const cases = 200
	for _, fine := range []bool{false, true} {
		var found [2]int
		alarms := 0
		for seed := range uint64(cases) {
			r := rand.New(rand.NewPCG(seed, 0x10c4))
			// Loops are in step if ticks and loops are whole multiples of one another; here a
			// pattern has up to four loops.
			pattern := float64(1 + r.IntN(4))
			loops := pattern*float64(1+r.IntN(40)) + float64(r.IntN(int(pattern)))
			for i, interrupted := range []float64{math.Inf(1), 100 * pattern} {
				if locked(t, stepper(seed, pattern/loops, 0.1+0.8*r.Float64(), 1e-3, interrupted, fine), 400*pattern) {
					found[i]++
				} else if testing.Verbose() {
					t.Logf("fine %v: missed %v loops to %v ticks, interrupted every %v ticks", fine, loops, pattern, interrupted)
				}
			}
			free := conditions{eventFrom: 2e-3, eventTo: 3, jitter: 0.1, dither: r.IntN(2) == 0, preempted: r.IntN(2) == 0}.bench(seed)
			if fine {
				free.lab.Fine = fineOf(free.machine)
			}
			if locked(t, free.lab, 400) {
				alarms++
			}
		}
		t.Logf("fine clock %v: %d of %d found, of interrupted ones %d, %d false alarms", fine, found[0], cases, found[1], alarms)
		if min(found[0], found[1]) < cases*95/100 {
			t.Errorf("fine clock %v: %d of %d loops in step were found", fine, found, cases)
		}
		if alarms > cases*2/100 {
			t.Errorf("fine clock %v: %d of %d other loops were taken for them", fine, alarms, cases)
		}
	}
}

func locked(t *testing.T, lab slowclock.Lab, ticks float64) bool {
	t.Helper()
	results, err := lab.Bernoulli(context.Background(), slowclock.Plan{Duration: time.Duration(ticks * lab.Clock.TickNs)})
	if err != nil {
		t.Fatal(err)
	}
	return results[1].Locked
}

// An event that waits for the clock to tick sees one tick wherever it starts. An earlier version
// trusted 4 ms for an event of 2.3 ms, if other programs took the CPU so often that no stretch of
// trials showed the step.
func TestEventWaitsForTheClock(t *testing.T) {
	const tick, cases = 4e6, 10
	for _, laterTicks := range []float64{0, 0.08} {
		found := 0
		for seed := range uint64(cases) {
			m := clocktest.NewMachine(seed)
			r := m.Rand()
			m.Preemption = &clocktest.Preemption{EveryNs: tick * logUniform(r, 4, 12), ForNs: tick * logUniform(r, 0.3, 2)}
			c := slow(&clocktest.Clock{Machine: m, QuantumNs: tick, UnitNs: tick, PhaseNs: tick * r.Float64(), Cost: clocktest.Constant(1000)})
			event := func() {
				for last := c.Read(); c.Read() == last; {
					m.Run(2e4)
				}
				m.Run(laterTicks * tick)
			}
			if locked(t, slowclock.Lab{Clock: c, Event: event, Dither: true, Seed: seed, Delay: m.Run}, 400) {
				found++
			}
		}
		if t.Logf("%v ticks later: %d of %d found", laterTicks, found, cases); found < cases*9/10 {
			t.Errorf("an event that ends %v ticks after the clock ticked: %d of %d found", laterTicks, found, cases)
		}
	}
}

// Beside load whose time slices may end at the clock's ticks, no event that waits for the clock is
// trusted. Without load, an event that does not wait is trusted, even if it takes longer than a
// tick.
func TestEventWaitsBesideLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const tick, cases = 4e6, 10
	for seed := range uint64(cases) {
		for _, waits := range []bool{true, false} {
			m := clocktest.NewMachine(seed)
			r := m.Rand()
			if waits {
				clocktest.Share(m, clocktest.Sharing{
					Load: 2 + r.IntN(3), SliceNs: tick * logUniform(r, 0.7, 3), SliceJitter: 0.2, AtTicks: r.IntN(2) == 0,
					Timers: []clocktest.Timer{{PeriodNs: tick, Kernel: true, Cost: clocktest.Constant(2e3)}},
				})
			}
			c := slow(&clocktest.Clock{Machine: m, QuantumNs: tick, UnitNs: tick, PhaseNs: tick * r.Float64(), Cost: clocktest.Constant(1000)})
			lengthNs := tick * (1.1 + r.Float64())
			event := func() {
				if !waits {
					m.Run(lengthNs)
					return
				}
				for last := c.Read(); c.Read() == last; {
					m.Run(2e4)
				}
			}
			results, err := slowclock.Lab{Clock: c, Event: event, Dither: true, Seed: seed, Delay: m.Run}.Bernoulli(context.Background(), slowclock.Plan{Duration: 4e9})
			if err != nil {
				t.Fatal(err)
			}
			if got := results[1]; (got.Verdict == stats.Trusted) == waits {
				t.Errorf("seed %d, it waits for the clock: %v: %s, %v %v", seed, waits, got.Verdict, got.Estimate, got.Reasons)
			}
		}
	}
}
