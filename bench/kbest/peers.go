package main

import (
	"flag"
	"math"
	"slices"
	"testing"
	"time"

	"chronoscope/bench/internal/chain"
	"chronoscope/kbest"
	"chronoscope/stats"

	"github.com/loov/hrtime"
)

// peer is one way to find out how long a function takes, as a user would.
type peer struct {
	name    string
	measure func(e experiment, f func()) answer
}

var peers = []peer{
	{"kbest.Measure", func(e experiment, f func()) answer { return e.kbest(f) }},
	{"kbest.Compare with a chain", func(e experiment, f func()) answer { return e.compare(f) }},
	{"K-best as in the source", theSource},
	{"testing.B 1 s", func(_ experiment, f func()) answer { return goBenchmark(f, "1s") }},
	{"testing.B 100 ms", func(_ experiment, f func()) answer { return goBenchmark(f, "100ms") }},
	{"hrtime median of calls", func(_ experiment, f func()) answer {
		return answer{ns: stats.Median(hrtimeLaps(f, 1)) - float64(hrtime.Overhead())}
	}},
	{"hrtime least of batches", func(_ experiment, f func()) answer {
		calls := callsFor(f, 25e3)
		return answer{ns: (slices.Min(hrtimeLaps(f, calls)) - float64(hrtime.Overhead())) / float64(calls)}
	}},
}

func peerNames() []string {
	var names []string
	for _, p := range peers {
		names = append(names, p.name)
	}
	return names
}

// precision is the half-width of the interval that K-best is asked for, as a share.
const precision = 0.005

func (e experiment) kbest(f func()) answer {
	plan := kbest.DefaultPlan
	plan.Precision, plan.MinTrials = precision, e.trials
	r, err := kbest.Measure(f, kbest.WithContext(e.ctx), kbest.WithPlan(plan))
	if err != nil && r == nil {
		return answer{ns: math.NaN()}
	}
	of := func(e stats.Estimate) answer {
		return answer{ns: e.Value, lo: e.Lo, hi: e.Hi, interval: true, verdict: r.Verdict}
	}
	a := of(r.Estimate)
	if r.Cycles.Value > 0 {
		cycles := of(r.Cycles)
		a.cycles = &cycles
	}
	wall := answer{ns: r.Wall.Value, lo: r.Wall.Value * (1 - r.WallClaim), hi: r.Wall.Value * (1 + r.WallClaim), interval: true, verdict: stats.Suspect}
	if r.WallClaim <= plan.Epsilon {
		wall.verdict = stats.Trusted
	}
	a.wall = &wall
	return a
}

// compare measures the work in turn with a chain of known length: their ratio holds however the core's rate
// changes meanwhile.
func (e experiment) compare(f func()) answer {
	station, release, err := kbest.Here(e.ctx, kbest.Setting{})
	if err != nil {
		return answer{ns: math.NaN()}
	}
	defer release()
	plan := kbest.DefaultPlan
	plan.Precision, plan.MinTrials = precision, e.trials
	run := func(f func()) func(int) {
		return func(n int) {
			for range n {
				f()
			}
		}
	}
	reference, cycles := chain.Reference()
	results, err := station.Measure(e.ctx, plan, kbest.Subject{Run: run(reference.Do)}, kbest.Subject{Run: run(f)})
	if err != nil {
		return answer{ns: math.NaN()}
	}
	c, err := kbest.Compare(results[0], results[1], 0)
	if err != nil {
		return answer{ns: math.NaN()}
	}
	return answer{ns: results[1].Estimate.Value, lo: results[1].Estimate.Lo, hi: results[1].Estimate.Hi, interval: true, verdict: c.Verdict,
		cycles: &answer{ns: c.Ratio.Value * cycles, lo: c.Ratio.Lo * cycles, hi: c.Ratio.Hi * cycles, interval: true, verdict: c.Verdict}}
}

// theSource is the scheme of Bryant 2003, section 9.4.3, with its K = 3, its epsilon of 0.1 % and its M = 30,
// by the wall clock; short calls are made in batches. The interval is what the scheme claims.
func theSource(_ experiment, f func()) answer {
	calls := callsFor(f, 25e3)
	best := kbest.NewBest(3)
	for trials := 0; trials < 30 && !best.Converged(0.001); trials++ {
		start := time.Now()
		for range calls {
			f()
		}
		best.Add(float64(time.Since(start)) / float64(calls))
	}
	v := best.Values()
	a := answer{ns: v[0], lo: v[0] * (1 - best.Claim()), hi: v[0] * (1 + best.Claim()), interval: true, verdict: stats.Suspect}
	if best.Converged(0.001) {
		a.verdict = stats.Trusted
	}
	return a
}

// callsFor returns how many calls take ns nanoseconds.
func callsFor(f func(), ns float64) int {
	least := math.Inf(1)
	for range 3 {
		start := time.Now()
		f()
		least = math.Min(least, float64(time.Since(start)))
	}
	return max(1, int(ns/math.Max(least-30, 5)))
}

func goBenchmark(f func(), benchtime string) answer {
	testing.Init()
	if err := flag.Set("test.benchtime", benchtime); err != nil {
		return answer{ns: math.NaN()}
	}
	r := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			f()
		}
	})
	return answer{ns: float64(r.T) / float64(r.N)}
}

// hrtimeLaps returns laps of the given number of calls, in nanoseconds: 4,096 laps as in that library's
// examples, or as many as fit into a second.
func hrtimeLaps(f func(), calls int) []float64 {
	laps := min(4096, callsFor(f, 1e9)/calls+1)
	b := hrtime.NewBenchmark(max(10, laps))
	for b.Next() {
		for range calls {
			f()
		}
	}
	return b.Float64s()
}
