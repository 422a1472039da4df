package gobench

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/stats"
)

// crowded is a benchmark beside others on two CPUs, whose processes look at their iterations alone.
// Its runs are short or long; some short ones escape the others. Where they don't, threads without
// work wait in vain for as long as the one with work has a CPU.
type crowded struct {
	rng         *rand.Rand
	workNs      float64
	helps       float64 // a second thread works for this share of the time
	collects    bool    // it does so in long runs only, which collect garbage
	escapeShare float64 // of runs of 1 ms
}

func (c *crowded) Run(_ context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	work := c.workNs * float64(n) * (1 + 0.01*c.rng.NormFloat64())
	helps := c.helps
	o := Observation{N: n, Procs: 2, SlowedBefore: math.NaN(), SlowedAfter: math.NaN(), OthersNs: math.NaN(), RoundingNs: 0.5}
	if c.collects {
		o.Collections = math.Floor(work / 4e6)
		if o.Collections == 0 {
			helps = 0
		}
	}
	escapes := c.rng.Float64() < math.Pow(c.escapeShare, work/1e6)
	o.CPUNs = work * (1 + helps)
	o.WallNs, o.WaitNs = work, 0.02*work*c.rng.Float64()
	if !escapes {
		o.WallNs = work * (2 + c.rng.Float64())
		o.WaitNs = (o.WallNs-work)*(1+helps) + 0.5*c.rng.Float64()*o.WallNs
	}
	o.TimedNs, o.ProcessNs = o.WallNs, o.WallNs+5e6
	return o, nil
}

// A benchmark of one thread is told by the runs that escaped, and its pairs by their CPU time, where
// most runs have threads that wait in vain. One that is helped by another thread is not taken for it.
func TestEscapedRunsTellTheThreads(t *testing.T) {
	setting := Setting{CPUs: 2, Checks: env.ChecksOf(machine.Noise{WatchedNs: 1e9, SwitchNs: math.NaN()})}
	conclude := func(c crowded, seed uint64) *Result {
		c.rng = rand.New(rand.NewPCG(seed, 0xe5c))
		plan := QuickPlan.WithGate(&Gate{})
		plan.Seed = seed
		all, err := Measure(background, &c, [][]Benchmark{{{Name: "BenchmarkX", Revision: "then"}, {Name: "BenchmarkX"}}}, plan, setting, nil)
		if err != nil {
			t.Fatal(err)
		}
		return Conclude(all[0][1], plan, setting)
	}
	told := 0
	for seed := range uint64(20) {
		r := conclude(crowded{workNs: 1e4, escapeShare: 0.6}, seed)
		if !(r.Estimate.Lo <= 1.01e4 && r.Estimate.Hi >= 0.99e4) || r.Basis == CPUTime && r.Estimate.RelativeHalfWidth() > 0.05 {
			t.Errorf("seed %d, one thread: %s, %v", seed, r.Basis, r.Estimate)
		}
		if r.Basis == CPUTime {
			told++
		}
		for name, c := range map[string]crowded{
			"helped":              {workNs: 1e4, escapeShare: 0.6, helps: 0.5},
			"helped as it grows":  {workNs: 1e4, escapeShare: 0.6, helps: 0.5, collects: true},
			"none escapes":        {workNs: 1e4, escapeShare: 0},
			"helped, none escape": {workNs: 1e4, escapeShare: 0, helps: 0.5},
		} {
			if r := conclude(c, seed); r.Basis == CPUTime || r.Verdict == stats.Trusted && !r.Estimate.Covers(1e4) {
				t.Errorf("seed %d, %s: %s, %s: %v", seed, name, r.Basis, r.Verdict, r.Estimate)
			}
		}
	}
	if told < 14 { // in 12 pairs at most; elsewhere fewer than six runs escaped
		t.Errorf("one thread was told in %d of 20 benchmarks", told)
	}
}
