package kbest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// phasesCase is work that takes times as long in slowShare of each period.
type phasesCase struct {
	measured
	periodNs, slowShare, times float64
}

// longestNs is the longest phase.
func (p phasesCase) longestNs() float64 { return p.periodNs * math.Max(p.slowShare, 1-p.slowShare) }

// measurePhases measures such work, in trials spread over that span.
func measurePhases(seed uint64, span time.Duration) phasesCase {
	rng := rand.New(rand.NewPCG(seed, 21))
	p := phasesCase{periodNs: logUniform(rng, 0.1e9, 4e9), slowShare: 0.2 + 0.6*rng.Float64(), times: logUniform(rng, 1.1, 30)}
	load, ns := []int{1, 1, 4}[rng.IntN(3)], logUniform(rng, 1e3, 3e6)
	s := newSimulated(seed, clocktest.Sharing{LookNs: 1000, Load: load, SliceNs: 3e6, SliceJitter: 0.2, SwitchNs: clocktest.Constant(2e3),
		Timers: []clocktest.Timer{{PeriodNs: 4e6, Cost: clocktest.Above(5e3, 1e3, 0.3), Kernel: true}}}, 1, 10)
	s.station.Pause = func(_ context.Context, length time.Duration) { s.machine.Idle(float64(length)) }
	first := p.periodNs * rng.Float64()
	plan := DefaultPlan
	plan.Seed, plan.Span = seed, span
	results, err := s.station.Measure(background, plan, Subject{Run: func(n int) {
		for range n {
			cost := ns
			if math.Mod(s.machine.NowNs()+first, p.periodNs) < p.slowShare*p.periodNs {
				cost *= p.times
			}
			s.machine.Run(cost)
		}
	}})
	if err != nil {
		panic(err)
	}
	p.measured = measured{trialCase: trialCase{seed: seed, load: load, truthNs: ns}, result: results[0], truth: ns * (1 + p.slowShare*(p.times-1))}
	return p
}

// Work whose cost changes in phases of 0.05 to 2 s. What was seen for 0.2 s, often in one phase, was
// trusted. Phases that are shorter than the time for which the subject was watched are noticed, and
// the result says how long that was.
func TestPhases(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	n := cases(16)
	count := func(span time.Duration) (wrong, trusted, long int) {
		all := make([]phasesCase, n)
		parallel(n, func(i int) { all[i] = measurePhases(uint64(i), span) })
		for _, p := range all {
			watched := fmt.Sprintf("watched for %s:", stats.Duration(float64(p.result.Watched), 2))
			if !strings.Contains(strings.Join(p.result.Caveats, "\n"), watched) {
				t.Errorf("seed %d: %q, want %q", p.seed, p.result.Caveats, watched)
			}
			switch {
			case p.longestNs() > float64(p.result.Watched) && span > 0:
				long++
			case p.wrong():
				wrong++
				if span > 0 {
					t.Errorf("seed %d: %.3g ns, %.3g times as long for %.2g of each %.3g s, load %d, watched for %v in %d trials of %d: %+v of %.4g, mean %+v", p.seed, p.truthNs, p.times, p.slowShare, p.periodNs/1e9, p.load, p.result.Watched, p.result.Trials, p.result.Calls, p.result.Estimate, p.truth, p.result.Mean)
				}
			}
			if p.result.Verdict == stats.Trusted {
				trusted++
			}
		}
		return wrong, trusted, long
	}
	wrong, trusted, long := count(DefaultPlan.Span)
	t.Logf("spread: %d of %d wrongly trusted, %d trusted, %d with longer phases", wrong, n, trusted, long)
	if wrong, trusted, _ = count(0); wrong < max(1, n/20) {
		t.Errorf("at once: %d of %d wrongly trusted: the test above shows nothing", wrong, n)
	}
	t.Logf("at once: %d of %d wrongly trusted, %d trusted", wrong, n, trusted)
}
