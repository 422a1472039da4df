package kbest

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// callPhases is work whose cost changes with the number of calls: once, as where something is built up or a mode is
// left for good, or again and again.
type callPhases struct {
	every  int // calls in a phase
	once   bool
	times  float64 // how many times as long the second phase takes
	costNs float64 // of a call in the first phase
}

// ns is what the calls up to number n take.
func (p callPhases) ns(n int) float64 {
	second := max(0, n-p.every)
	if !p.once {
		second = n/(2*p.every)*p.every + max(0, n%(2*p.every)-p.every)
	}
	return p.costNs * (float64(n-second) + p.times*float64(second))
}

// longRunNs is what a call costs in the long run.
func (p callPhases) longRunNs() float64 {
	if p.once {
		return p.costNs * p.times
	}
	return p.costNs * (1 + p.times) / 2
}

// callPhasesCase is such work on a random machine.
type callPhasesCase struct {
	callPhases
	measured
	unseen float64 // the share of the samples before the first change
	phases int     // by the end of the measurement
}

func measureCallPhases(seed uint64) callPhasesCase {
	rng := rand.New(rand.NewPCG(seed, 34))
	p := callPhases{every: int(logUniform(rng, 5e3, 60e3)), once: rng.IntN(2) == 0, times: logUniform(rng, 1.02, 1.4), costNs: logUniform(rng, 100, 20e3)}
	if rng.IntN(2) == 0 {
		p.times = 1 / p.times
	}
	load := []int{1, 1, 4}[rng.IntN(3)]
	s := newSimulated(seed, clocktest.Sharing{LookNs: 1000, Load: load, SliceNs: 3e6, SliceJitter: 0.2, SwitchNs: clocktest.Constant(2e3),
		Timers: []clocktest.Timer{{PeriodNs: 4e6, Cost: clocktest.Above(5e3, 1e3, 0.3), Kernel: true}}}, 1, 10)
	plan, calls := DefaultPlan, 0
	plan.Seed = seed
	results, err := s.station.Measure(background, plan, Subject{Run: func(n int) {
		s.machine.Run(p.ns(calls+n) - p.ns(calls))
		calls += n
	}})
	if err != nil {
		panic(err)
	}
	r := results[0]
	c := callPhasesCase{callPhases: p, measured: measured{trialCase: trialCase{seed: seed, load: load, truthNs: p.costNs}, result: r, truth: p.longRunNs()}}
	at := calls - r.Timed
	for i := range r.Samples {
		if at += r.Samples[i].N; at > p.every {
			c.unseen = float64(i) / float64(len(r.Samples))
			break
		}
		c.unseen = 1
	}
	c.phases = 1 + calls/p.every
	return c
}

// A call's cost changes after 87 % of the samples, by 3 %, and after 10 % of them. The earlier half of the samples was
// compared with the later one, whose medians are the same: 7.508 µs ± 0.1 % was trusted for 7.62.
func TestLateChange(t *testing.T) {
	for _, share := range []float64{0.1, 0.87, 0.95} {
		s := quiet(31)
		var results []*Result
		for _, times := range []float64{1, 1.03} {
			p, calls := callPhases{every: math.MaxInt, once: true, times: times, costNs: 7.5e3}, 0
			if results != nil {
				p.every = int(share * float64(results[0].Timed))
			}
			results = append(results, measureOne(t, s, Subject{Run: func(n int) {
				s.machine.Run(p.ns(calls+n) - p.ns(calls))
				calls += n
			}}))
		}
		if results[0].Verdict != stats.Trusted || results[1].Verdict == stats.Trusted {
			t.Errorf("a change after %.2g of the calls: %+v %v, without: %v", share, results[1].Estimate, results[1].Judgement, results[0].Judgement)
		}
	}
}

// Phases of 5,000 to 60,000 calls that differ by 2 to 40 %: where samples show the change, no wrong time is trusted.
func TestCallPhases(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	n := cases(24)
	all := make([]callPhasesCase, n)
	parallel(n, func(i int) { all[i] = measureCallPhases(uint64(i)) })
	type count struct{ n, seen, trusted, wrong int }
	strata := map[string]*count{}
	for _, p := range all {
		for _, name := range []string{"all", fmt.Sprintf("once %v", p.once)} {
			if strata[name] == nil {
				strata[name] = &count{}
			}
			c := strata[name]
			c.n++
			if p.unseen > 1-leastPhase {
				continue
			}
			c.seen++
			if p.result.Verdict == stats.Trusted {
				c.trusted++
			}
			if p.wrong() {
				c.wrong++
			}
		}
		if p.wrong() && p.unseen <= 1-leastPhase {
			t.Errorf("seed %d: once %v, %.3g ns, %.3g times from call %d on, change after %.3g of the samples, %d phases, load %d: %d samples of %d calls: %+v of %.4g, mean %+v", p.seed, p.once, p.costNs, p.times, p.every, p.unseen, p.phases, p.load, len(p.result.Samples), p.result.Calls, p.result.Estimate, p.truth, p.result.Mean)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(strata)) {
		c := strata[name]
		t.Logf("%-12s %4d: %4d with a change, %4d trusted, %4d wrongly", name, c.n, c.seen, c.trusted, c.wrong)
	}
}
