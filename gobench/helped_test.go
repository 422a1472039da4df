package gobench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"chronoscope/stats"
)

// helped is a benchmark on two CPUs whose iterations take workNs on one thread, while another
// one collects garbage for a share of that time. Where others compete for the CPUs both take
// load times as long, or nearly so, and a thread that has nothing to do is woken in vain: it
// waits for a share of the time, idle, for a CPU.
type helped struct {
	rng                        *rand.Rand
	workNs, helps, load, idles float64
}

func (h *helped) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	vary := func(share float64) float64 { return 1 + share*h.rng.NormFloat64() }
	work := h.workNs * float64(n) * vary(0.002)
	load := math.Max(1, 1+(h.load-1)*vary(0.15))
	const startNs = 3e6
	o := Observation{N: n, Procs: 2, WallNs: startNs + work*load, CPUNs: startNs + work*(1+h.helps)}
	o.WaitNs = work*(load-1)*(1+h.helps) + h.idles*work*load
	o.TimedNs, o.RoundingNs = printed(work*load, n)
	if !traced {
		o.WaitNs = math.NaN()
	}
	return o, nil
}

// A benchmark that allocates was trusted with its CPU time where others competed with it, up to
// 8 % more than it takes: the collector's part runs beside it. And one of which an idle thread
// waits for a CPU now and then was unusable, from nothing to what the clock says.
func TestWhatRunsBesideIsInTheInterval(t *testing.T) {
	for _, helps := range []float64{0, 0.02, 0.05, 0.15, 0.3} {
		for _, load := range []float64{1, 1.03, 1.2, 3, 7} {
			for _, idles := range []float64{0, 0.05, 0.2} {
				if load == 1 {
					idles = 0
				}
				name := fmt.Sprintf("helped for %g, load %g, idle waits %g", helps, load, idles)
				covered, usable, trusted := 0, 0, 0
				for seed := range uint64(20) {
					h := &helped{rand.New(rand.NewPCG(seed, 5)), 1e5, helps, load, idles}
					setting := quietSetting()
					setting.CPUs = 2
					plan := DefaultPlan
					plan.Seed, plan.MaxTime = seed, 5e9
					all, err := Measure(background, h, [][]Benchmark{{{Name: "BenchmarkX"}}}, plan, setting, nil)
					if err != nil {
						t.Fatal(err)
					}
					r := Conclude(all[0][0], plan, setting)
					if r.Estimate.Lo <= 1.002e5 && r.Estimate.Hi >= 0.998e5 {
						covered++
					}
					if r.Verdict != stats.Unusable {
						usable++
					}
					if off := math.Abs(r.Estimate.Value/1e5 - 1); r.Verdict == stats.Trusted {
						if trusted++; off > 0.01 && off > 2*r.Estimate.RelativeHalfWidth() {
							t.Errorf("%s: wrongly trusted: %+v", name, r.Estimate)
						}
					}
				}
				t.Logf("%s: %d of 20 hold the truth, %d usable, %d trusted", name, covered, usable, trusted)
				if covered < 17 || helps+idles <= 0.3 && usable < 18 {
					t.Errorf("%s: %d of 20 hold the truth, %d are usable", name, covered, usable)
				}
			}
		}
	}
}
