package check

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// once returns a function that calls happen a single time, when the share of the watch that has
// passed reaches at.
func once(at float64, happen func()) func(share float64) {
	happened := false
	return func(share float64) {
		if share > at && !happened {
			happened = true
			happen()
		}
	}
}

// blamed fails the test if the finding lacks the verdict or the words says, and returns the
// finding.
func blamed(t *testing.T, r *Report, clock string, q Question, verdict stats.Verdict, says string) *Finding {
	t.Helper()
	f := of(r, clock, q)
	if f == nil || f.Verdict != verdict || !strings.Contains(strings.Join(f.Reasons, "; "), says) {
		t.Fatalf("%s of %s: %+v, want %s that says %q, among\n%s%v", q, clock, f, verdict, says, texts(r.Findings), r.Caveats())
	}
	return f
}

// The kernel's monotonic clock goes back, once by less than the time between two looks and once
// by more.
func TestMonotonicGoesBack(t *testing.T) {
	for seed := range uint64(clocktest.Cases(t, 20)) {
		for backNs, asks := range map[float64]Question{1e6: Stepped, 50e6: OrderWithin} {
			s := newSimulation(seed)
			c := fine()
			s.add("monotonic", c)
			s.meanwhile = once(0.3+0.4*s.seed().Float64(), func() { c.PhaseNs -= backNs })
			r := s.run(t.Context())
			blamed(t, r, "monotonic", asks, stats.Unusable, "back")
			f := blamed(t, r, "monotonic", Stepped, stats.Unusable, "it jumped back by")
			if math.Abs(f.WorstNs.Value()-backNs) > 0.05*backNs {
				t.Errorf("seed %d: by %v ns, want %v", seed, f.WorstNs.Value(), backNs)
			}
		}
	}
}

// One reading in a thousand is wrong, as with errata of arm64 counters, and the next one is
// right again.
func TestGlitches(t *testing.T) {
	for seed := range uint64(clocktest.Cases(t, 20)) {
		s := newSimulation(seed)
		c := fine()
		c.Faults.GlitchShare, c.Faults.GlitchNs = 1e-3, 1e5
		s.add("counter", c)
		f := blamed(t, s.run(t.Context()), "counter", OrderWithin, stats.Unusable, "readings of one thread step back")
		if f.WorstNs.Value() > 1e5+100 {
			t.Errorf("seed %d: by up to %v ns, of glitches of 100 µs", seed, f.WorstNs.Value())
		}
	}
}

// When a virtual machine is restored on another host, its counter may have another value or
// another rate.
func TestRestoredMachine(t *testing.T) {
	for seed := range uint64(clocktest.Cases(t, 20)) {
		s := newSimulation(seed)
		c := fine()
		s.add("counter", c)
		s.meanwhile = once(0.5, func() { c.PhaseNs = 1e6 - s.machine.NowNs() })
		r := s.run(t.Context())
		blamed(t, r, "counter", Stepped, stats.Unusable, "it jumped back by 1.")
		blamed(t, r, "counter", OrderWithin, stats.Unusable, "step back")
		if f := of(r, "counter", Wrap); f == nil || f.Verdict != stats.Trusted {
			t.Errorf("seed %d: a counter that was set anew is said to wrap: %+v", seed, f)
		}

		s = newSimulation(seed)
		c = fine()
		s.add("counter", c)
		s.meanwhile = once(0.5, func() { c.Faults.RatePPM, c.PhaseNs = 2e4, c.PhaseNs-2e-2*s.machine.NowNs() })
		blamed(t, s.run(t.Context()), "counter", RateChange, stats.Unusable, "its rate changed by")
	}
}

// A process that was stopped for a long time reports no jump of any clock, even of a coarse one.
func TestPauseIsNoJump(t *testing.T) {
	for seed := range uint64(clocktest.Cases(t, 50)) {
		s := newSimulation(seed)
		s.plan.Every = s.plan.Every * 5 / 2 // other clocks are looked at as well
		for i, quantumNs := range []float64{1e6, 4e6, 10e6} {
			s.add(fmt.Sprint("coarse", i), &clocktest.Clock{QuantumNs: quantumNs, UnitNs: 1, Cost: clocktest.Constant(5)})
		}
		s.add("counter", fine())
		s.meanwhile = once(0.1+0.8*s.seed().Float64(), func() { s.machine.Idle(math.Pow(10, 8+3*s.seed().Float64())) })
		if bad := faults(s.run(t.Context())); len(bad) > 0 {
			t.Errorf("seed %d: %s", seed, texts(bad))
		}
	}
}

// The report on a coarse clock whose updates were late most of the time once said that its rate
// "changed by NaN ppm".
func TestUnknownChangeOfRateHasNoFigure(t *testing.T) {
	var mostlyStill []Pair
	for i := range 20 {
		mostlyStill = append(mostlyStill, Pair{ReferenceNs: float64(i) * 1e8, ErrorNs: 1e7})
	}
	if got := byPPM(KeepsRate(mostlyStill)); got != "" {
		t.Errorf("a clock that stands still changed its rate%s", got)
	}
	if got := byPPM(KeepsRate(mostlyStill[:2])); got != "" {
		t.Errorf("two looks show a rate that changed%s", got)
	}
	if got := byPPM(Rate{WorstDeviation: 2.5e-5}); got != " by 25 ppm" {
		t.Errorf("25 ppm are written as %q", got)
	}
}
