package activity

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// simulatedSwitches returns round trips of a machine whose switches take costNs. The cost changes
// from block to block by drift, and from switch to switch by noise, both standard deviations as
// shares of the cost; one switch in a hundred is disturbed.
func simulatedSwitches(rng *rand.Rand, blocks int, costNs, callsNs, tickNs, drift, noise float64) [][]roundTrip {
	disturbance := func() float64 {
		if rng.Float64() < 0.01 {
			return costNs * rng.ExpFloat64()
		}
		return 0
	}
	all := make([][]roundTrip, blocks)
	for b := range all {
		cost := costNs * (1 + drift*rng.NormFloat64())
		for range RoundTripsPerBlock {
			calls := callsNs*(1+noise*rng.NormFloat64()) + disturbance()
			trip := callsNs + 2*(cost+noise*costNs*rng.NormFloat64()) + disturbance()
			all[b] = append(all[b], roundTrip{int64(calls / tickNs), int64(trip / tickNs)})
		}
	}
	return all
}

// The interval covers the true cost 95 times in 100, the least and the 95th percentile are those of
// the simulated distribution, and the verdict is trusted.
func TestCostOfASwitch(t *testing.T) {
	cases := clocktest.Cases(t, 300)
	covered := 0
	for seed := range uint64(cases) {
		rng := rand.New(rand.NewPCG(seed, 4))
		cost, calls := 500*math.Exp(2*rng.Float64()), 300+2000*rng.Float64()
		const drift, noise = 0.02, 0.02
		tick := 0.3 + rng.Float64()
		s := Switching{Judgement: stats.NewJudgement()}
		s.costOf(simulatedSwitches(rng, 30+rng.IntN(90), cost, calls, tick, drift, noise), tick)
		if s.Cost.Covers(cost) {
			covered++
		}
		p95 := cost * (1 + 1.645*math.Hypot(drift, noise))
		if s.Verdict != stats.Trusted || math.Abs(s.P95Ns.Value()-p95) > 0.02*cost || !(s.LeastNs.Value() > 0.8*cost && s.LeastNs.Value() < 0.97*cost) || s.Cost.Unit != "ns" {
			t.Errorf("seed %d, cost %v: %+v", seed, cost, s)
		}
	}
	if covered < clocktest.FewestCovered(cases) {
		t.Errorf("%d of %d intervals cover the cost", covered, cases)
	}
	t.Logf("%d of %d covered", covered, cases)
}

// Each doubt has its reason, and the reason says what to do.
func TestSwitchingDoubts(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	quiet := simulatedSwitches(rng, 40, 2000, 1400, 1, 0.01, 0.01)
	busy := simulatedSwitches(rng, 40, 2000, 1400, 1, 0.01, 0.01)
	for b := range busy {
		busy[b][b%RoundTripsPerBlock].trip += 3e6 // another thread's time slice
	}
	for name, c := range map[string]struct {
		blocks  [][]roundTrip
		tickNs  float64
		verdict stats.Verdict
		says    string
	}{
		"nothing":       {nil, 1, stats.Unusable, "measure for longer"},
		"free":          {simulatedSwitches(rng, 40, 0, 1400, 1, 0, 0), 1, stats.Unusable, "no switch was measured"},
		"few":           {quiet[:5], 1, stats.Suspect, "needs 6 samples"},
		"competitor":    {busy, 1, stats.Suspect, "something else ran on CPU 3"},
		"unsteady":      {simulatedSwitches(rng, 40, 2000, 1400, 1, 0.5, 0.01), 1, stats.Suspect, "changed meanwhile"},
		"coarse":        {simulatedSwitches(rng, 40, 2000, 1400, 250, 0.01, 0.01), 250, stats.Suspect, "finer ticks"},
		"none of these": {quiet, 1, stats.Trusted, ""},
	} {
		s := Switching{CPU: 3, Judgement: stats.NewJudgement()}
		s.costOf(c.blocks, c.tickNs)
		if s.Verdict != c.verdict || !strings.Contains(strings.Join(s.Reasons, "; "), c.says) || len(s.Reasons) > 0 != (c.says != "") {
			t.Errorf("%s: %s %q, want %s that says %q", name, s.Verdict, s.Reasons, c.verdict, c.says)
		}
	}
}

// The number of switches is compared with the kernel's count.
func TestSwitchesAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		counted *SwitchCount
		verdict stats.Verdict
	}{
		"all voluntary":    {&SwitchCount{1003, 2}, stats.Trusted},
		"a few preempted":  {&SwitchCount{960, 44}, stats.Trusted},
		"half preempted":   {&SwitchCount{500, 500}, stats.Suspect},
		"never took place": {&SwitchCount{20, 3}, stats.Unusable},
		"not told":         {nil, stats.Trusted},
	} {
		s := Switching{Switches: 1000, Counted: c.counted, Judgement: stats.NewJudgement()}
		s.judgeCount()
		if s.Verdict != c.verdict || (len(s.Caveats) > 0) != (c.counted == nil) {
			t.Errorf("%s: %s %q %q, want %s", name, s.Verdict, s.Reasons, s.Caveats, c.verdict)
		}
	}
}

func TestSwitchingRefusals(t *testing.T) {
	c := finest(t)
	for name, o := range map[string]SwitchingOptions{
		"a duration of -1ns": {Duration: -1},
		"a duration of 24h":  {Duration: 24 * time.Hour},
		"-1 bytes":           {SweepBytes: -1},
		"choose 1 to":        {SweepBytes: MostSweepBytes + 1},
	} {
		if s, err := MeasureSwitching(t.Context(), c, 1, o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	for _, tick := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := MeasureSwitching(t.Context(), c, tick, SwitchingOptions{}); err == nil || !strings.Contains(err.Error(), "calibrate") {
			t.Errorf("a tick of %v: %v", tick, err)
		}
	}
	_, err := MeasureSwitching(t.Context(), c, 1, SwitchingOptions{CPU: 1 << 20})
	if err == nil || errors.Is(err, errors.ErrUnsupported) != (runtime.GOOS != "linux") {
		t.Errorf("CPU %d: %v", 1<<20, err)
	}
}
