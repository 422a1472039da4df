package kbest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// callsOf times calls whose lengths are drawn, on a simulated machine, and gives these in order.
func callsOf(t *testing.T, s *simulated, plan CallsPlan, draw func() float64) (*Calls, []float64) {
	t.Helper()
	var truth []float64
	c, err := s.station.Calls(background, plan, Subject{Name: "work", Run: func(int) {
		ns := draw()
		truth = append(truth, ns)
		s.machine.Run(ns)
	}})
	if err != nil {
		t.Fatal(err)
	}
	truth = truth[1:] // the first is not kept
	slices.Sort(truth)
	return c, truth
}

// The percentiles of the calls by themselves are covered, on what CPUs of two real machines lost, and
// their intervals are no wider than that of the calls as they were and what was lost.
func TestCallsOnReplayedNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	plan, trials := CallsPlan{Calls: 4000}, cases(8)
	for _, r := range recorded(t) {
		var covered, known, all [4]int
		var width, off, sorted [4]float64
		results, quantiles := make([]*Calls, trials), make([]func(p float64) float64, trials)
		parallel(trials, func(trial int) {
			random := rand.New(rand.NewPCG(uint64(trial), 23))
			s := newSimulated(uint64(trial), clocktest.Sharing{LookNs: 1500, Recorded: &r}, 1, 10)
			median := logUniform(random, 2e3, 1e6)
			quantile := func(p float64) float64 { return median * math.Exp(0.4*stdNormal(p)) }
			results[trial], _ = callsOf(t, s, plan, func() float64 { return quantile(random.Float64()) })
			quantiles[trial] = quantile
		})
		for trial, c := range results {
			quantile := quantiles[trial]
			for i, e := range c.Undisturbed.Percentiles {
				if math.IsNaN(e.Value) {
					continue
				}
				known[i]++
				off[i] += e.Value/quantile(stats.TailPercentiles[i]) - 1
				sorted[i] += c.All.Percentiles[i].Value/quantile(stats.TailPercentiles[i]) - 1
				width[i] += (e.Hi - e.Lo) / quantile(stats.TailPercentiles[i])
				if e.Covers(quantile(stats.TailPercentiles[i])) {
					covered[i]++
				}
				if c.All.Percentiles[i].Covers(quantile(stats.TailPercentiles[i])) {
					all[i]++
				}
			}
		}
		for i, n := range known {
			if covered[i] < atLeast(n)-1 {
				t.Errorf("%s: p %v: %d of %d cover", r.Name, stats.TailPercentiles[i], covered[i], n)
			}
			width[i], off[i], sorted[i] = width[i]/float64(n), off[i]/float64(n), sorted[i]/float64(n)
		}
		t.Logf("%-12s by themselves %v of %v, width %.2f, bias %+.3f; as they were %v, bias %+.3f", r.Name, covered, known, width, off, all, sorted)
	}
}

// stdNormal is the p-quantile of the normal distribution.
func stdNormal(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// Beside three loops a call of 1 ms that loses its CPU takes up to 13 ms by the clock: the tail shows it,
// the calls are marked, and the tail without what others took does not have it.
func TestCallsThatLoseTheirCPU(t *testing.T) {
	s := newSimulated(3, clocktest.Sharing{Load: 4, SliceNs: 3e6, LookNs: 1500, SwitchNs: clocktest.Jittered(2e3, 0.1)}, 1, 10)
	c, _ := callsOf(t, s, CallsPlan{Calls: 1000}, func() float64 { return 1e6 })
	if c.Marked[Preempted] < 100 {
		t.Errorf("marked: %v of 1,000 calls", c.Marked)
	}
	as, alone := c.All.Percentiles[2], c.Undisturbed.Percentiles[2]
	if as.Value < 5e6 || alone.Value > 1.1e6 || !alone.Covers(1e6) {
		t.Errorf("p99 %v as they were, %v by themselves", as, alone)
	}
}

func TestCallsThatTheClockCannotTellApart(t *testing.T) {
	s := newSimulated(1, clocktest.Sharing{Load: 1, LookNs: 1500}, 100, 50)
	c, _ := callsOf(t, s, CallsPlan{Calls: 400}, func() float64 { return 60 })
	if c.Verdict != stats.Unusable || !strings.Contains(fmt.Sprint(c.Reasons), "the clock tells single calls apart by") {
		t.Errorf("%s %q", c.Verdict, c.Reasons)
	}
}

func TestCallsRefuse(t *testing.T) {
	s := newSimulated(1, clocktest.Sharing{Load: 1}, 1, 10)
	for name, call := range map[string]func() error{
		"nothing to run": func() error { _, err := s.station.Calls(background, DefaultCalls, Subject{}); return err },
		"no call":        func() error { _, err := s.station.Calls(background, CallsPlan{}, s.work(1)); return err },
		"no clock":       func() error { _, err := new(Station).Calls(background, DefaultCalls, s.work(1)); return err },
	} {
		if call() == nil {
			t.Errorf("%s was measured", name)
		}
	}
}

// On the real machine there are percentiles, in order, and those without what others took are no
// longer.
func TestRealCalls(t *testing.T) {
	station, release, err := Here(background, Setting{})
	if err != nil {
		t.Skip(err)
	}
	defer release()
	x := uint64(1)
	c, err := station.Calls(background, CallsPlan{Calls: 400}, Subject{Name: "chain", Run: func(n int) {
		for range n * 20_000 {
			x = x*6364136223846793005 + 1442695040888963407
		}
		Keep(x)
	}})
	if err != nil || len(c.Samples) != 400 || len(c.All.Known()) != 3 {
		t.Fatalf("%+v, %v", c, err)
	}
	for i, e := range c.All.Known() {
		u := c.Undisturbed.Percentiles[i]
		if !(e.Lo <= e.Value && e.Value <= e.Hi) || !(u.Lo <= u.Value && u.Value <= u.Hi) || u.Hi > e.Hi {
			t.Errorf("%v as they were, %v by themselves", e, u)
		}
	}
}
