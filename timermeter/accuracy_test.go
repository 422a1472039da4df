package timermeter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"chronoscope/clock/clocktest"
)

func simulated(seed uint64) (*clocktest.Clock, *rand.Rand, string) {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := clocktest.NewMachine(seed)
	logUniform := func(lo, hi float64) float64 { return lo * math.Exp(rng.Float64()*math.Log(hi/lo)) }
	q := logUniform(1, 16e6)
	cost := logUniform(5, 30e3)
	unit := q / logUniform(2, 1e6)
	if rng.IntN(2) == 0 {
		unit = q / math.Round(q/unit)
	}
	sigma := []float64{0, 0.01, 0.05, 0.2}[rng.IntN(4)]
	c := &clocktest.Clock{Machine: m, QuantumNs: q, UnitNs: unit, PhaseNs: rng.Float64() * q,
		Cost: clocktest.WithOutliers(clocktest.Jittered(cost, sigma), 0.01, 100)}
	if rng.IntN(2) == 0 {
		c.EdgeJitterNs = 0.1 * q
	}
	return c, rng, fmt.Sprintf("seed %d q=%g ns=%g units, cost %g (%g q) sigma %g", seed, q, q/unit, cost, cost/q, sigma)
}

func TestX(t *testing.T) {
	bad, miss, n := 0, 0, 1000
	for seed := range uint64(n) {
		c, rng, desc := simulated(seed)
		s := NewSampler(Subject{UnitNs: c.UnitNs, Chain: c.Chain}, c.Machine.NowNs, Patience{20e6, 500e6}, rng)
		s.Sample(t.Context())
		a := s.Accuracy()
		truth := c.QuantumNs / c.UnitNs
		if !(math.Abs(a.Units.Value/truth-1) < 0.01) {
			bad++
			t.Logf("BAD %s: got %g [%g %g] %v %v n=%d ch=%d", desc, a.Units.Value, a.Units.Lo, a.Units.Hi, a.Verdict, a.Reasons, a.Units.N, a.Changes)
		}
		if !a.Units.Covers(truth) {
			miss++
			t.Logf("MISS %s: got %g [%g %g] %v %v n=%d ch=%d", desc, a.Units.Value, a.Units.Lo, a.Units.Hi, a.Verdict, a.Reasons, a.Units.N, a.Changes)
		}
	}
	t.Logf("bad %d miss %d of %d", bad, miss, n)
}

func TestY(t *testing.T) {
	for _, c := range []struct{ lo, hi float64 }{{0.01, 1}, {1, 1.3}, {1.3, 1.6}, {1.6, 2}, {2, 2.2}, {2.2, 4}} {
		for _, extra := range []string{"", "glitch", "unique", "preempt", "coarsecost"} {
			bad, miss, wrong, sus, un, n := 0, 0, 0, 0, 0, 60
			ex := ""
			for seed := range uint64(n) {
				clk, rng, desc := simulated(seed)
				clk.EdgeJitterNs = 0
				ratio := c.lo + rng.Float64()*(c.hi-c.lo)
				clk.UnitNs = clk.QuantumNs / ratio
				switch extra {
				case "glitch":
					clk.Faults.GlitchShare, clk.Faults.GlitchNs = 0.01, clk.QuantumNs
				case "unique":
					clk.Unique = true
				case "preempt":
					clk.Machine.Preemption = &clocktest.Preemption{EveryNs: 1e6, ForNs: 3e6}
				}
				s := NewSampler(Subject{UnitNs: clk.UnitNs, Chain: clk.Chain}, clk.Machine.NowNs, Patience{20e6, 500e6}, rng)
				s.Sample(t.Context())
				a := s.Accuracy()
				truth := math.Max(1, ratio)
				if !(math.Abs(a.Units.Value/truth-1) < 0.01) {
					bad++
				}
				if !a.Units.Covers(truth) && a.Verdict != "unusable" {
					miss++
					ex = fmt.Sprintf("%s r %g: got %g [%g %g] %v %v n=%d ch=%d", desc, ratio, a.Units.Value, a.Units.Lo, a.Units.Hi, a.Verdict, a.Reasons, a.Units.N, a.Changes)
				}
				e := math.Abs(a.Units.Value - truth)
				if a.Verdict == "trusted" && e > 0.05*truth && e > 3*a.Units.HalfWidth() {
					wrong++
				}
				if a.Verdict == "suspect" {
					sus++
				}
				if a.Verdict == "unusable" {
					un++
				}
			}
			t.Logf("%v %s: bad %d miss %d wrong %d suspect %d unusable %d of %d %s", c, extra, bad, miss, wrong, sus, un, n, ex)
		}
	}
}
