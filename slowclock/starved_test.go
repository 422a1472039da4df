package slowclock_test

import (
	"context"
	"math"
	"testing"
	"time"

	"chronoscope/clock"
	"chronoscope/clock/clocktest"
	"chronoscope/slowclock"
	"chronoscope/stats"
)

// cachedCounter is a counter whose readings are cheaper while it stands still, since no other core
// takes the count's cache line.
type cachedCounter struct {
	counter
	stillNs float64
}

func (c *cachedCounter) read() int64 {
	if c.machine.NowNs() < c.until {
		shorter := c.counter
		shorter.costNs = c.stillNs
		defer func() { shorter.costNs = c.costNs; c.counter = shorter }()
		return shorter.read()
	}
	return c.counter.read()
}

// starving holds the ranges of how often a thread is kept from running, and for how long, in ms.
type starving struct{ every, lasts [2]float64 }

// Other programs take the CPU of either thread, for a moment or for slices. Events are as short as
// the readings of the counter, or up to 50 times longer. No trusted result is wrong by more than 1
// % and two half-widths. The truth is the time of the same executions.
func TestCounterBesideLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	short, rare, slices := starving{[2]float64{1, 30}, [2]float64{0.01, 0.3}}, starving{[2]float64{20, 300}, [2]float64{0.5, 12}}, starving{[2]float64{3, 50}, [2]float64{3, 4}}
	for name, c := range map[string]struct{ counting, measuring starving }{
		"alone":                         {},
		"counting thread briefly":       {counting: short},
		"counting thread now and then":  {counting: rare},
		"counting thread by slices":     {counting: slices},
		"measuring thread now and then": {measuring: rare},
		"both briefly":                  {short, short},
		"both now and then":             {rare, rare},
	} {
		t.Run(name, func(t *testing.T) {
			var all coverage
			trusted, wrong := 0, 0
			for seed := range uint64(clocktest.Cases(t, 15)) {
				r, truthNs := besideLoad(t, seed, c.counting, c.measuring)
				all.add(r, truthNs)
				if r.Verdict != stats.Trusted {
					continue
				}
				trusted++
				if off := math.Abs(r.Estimate.Value - truthNs); off > 0.01*truthNs && off > 2*r.Estimate.HalfWidth() {
					wrong++
					t.Errorf("seed %d: %s %s for %.1f ns", seed, r.Verdict, r.Estimate, truthNs)
				}
			}
			t.Logf("%v, %d trusted, %d of these wrong", all, trusted, wrong)
			if all.covered < clocktest.FewestCovered(all.cases) {
				t.Errorf("%v", all)
			}
		})
	}
}

// besideLoad measures an event by a counting thread. It returns the result, and the true mean of
// the same executions.
func besideLoad(t *testing.T, seed uint64, counting, measuring starving) (result slowclock.Result, truthNs float64) {
	m := clocktest.NewMachine(seed)
	r := m.Rand()
	tick := []float64{0.2e6, 1e6, 4e6}[r.IntN(3)]
	count := &cachedCounter{counter: counter{machine: m, periodNs: 1 + 2*r.Float64(), costNs: 110 + 60*r.Float64()}}
	count.stillNs = count.costNs - 10 - 40*r.Float64()
	if counting.every[0] > 0 {
		count.everyNs, count.off = 1e6*logUniform(r, counting.every[0], counting.every[1]), 1e6*logUniform(r, counting.lasts[0], counting.lasts[1])
	}
	if measuring.every[0] > 0 {
		m.Preemption = &clocktest.Preemption{
			EveryNs: 1e6 * logUniform(r, measuring.every[0], measuring.every[1]), ForNs: 1e6 * logUniform(r, measuring.lasts[0], measuring.lasts[1]), Regular: r.IntN(2) == 0,
		}
	}
	length := clocktest.Jittered(logUniform(r, 300, 10e3), 0.02)
	var sumNs, events float64
	lab := slowclock.Lab{Seed: seed, Delay: m.Run, Dither: true, Event: func() {
		begun := m.NowNs()
		m.Run(length(r))
		sumNs, events = sumNs+m.NowNs()-begun, events+1
	}}
	lab.Clock = slow(&clocktest.Clock{Machine: m, QuantumNs: tick, UnitNs: tick, PhaseNs: tick * r.Float64(), Cost: clocktest.Jittered(20+40*r.Float64(), 0.1)})
	result, err := lab.Counter(context.Background(), clock.New(clock.Clock{Name: "counter", Kind: clock.KindCounter}, count.read), slowclock.Plan{Duration: time.Duration(math.Max(100*tick, 250e6)), Precision: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	return result, sumNs / events
}
