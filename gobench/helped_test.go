package gobench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"chronoscope/env"
	"chronoscope/machine"
	"chronoscope/stats"
)

// helped is a benchmark on two CPUs whose iterations take workNs on one thread, while another
// one collects garbage for a share of that time. Where others compete for the CPUs both take
// load times as long, or nearly so, and a thread that has nothing to do is woken in vain: it
// waits for a share of the time, idle, for a CPU. It sleeps for a share of its work.
type helped struct {
	rng                                *rand.Rand
	workNs, helps, load, idles, sleeps float64
	bursty                             bool // the load comes and goes from run to run
	// known says that the CPU time of other programs is known. A thread of the benchmark is preempted
	// once in a millisecond.
	known bool
	// others is the share of the time for which other programs ran on other CPUs, or on those of a server.
	others float64
	// signals says that it gets so many signals that every other repetition is not traced.
	signals bool
	// single says that it has one goroutine. The Go runtime then uses 2 % more CPU time to watch it.
	single bool
}

func (h *helped) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	vary := func(share float64) float64 { return 1 + share*h.rng.NormFloat64() }
	work := h.workNs * float64(n) * vary(0.002)
	load := math.Max(1, 1+(h.load-1)*vary(0.15))
	if h.bursty {
		load = 1 + (load-1)*2*float64(h.rng.IntN(2))*h.rng.Float64()
	}
	const startNs = 3e6
	o := Observation{N: n, Procs: 2, WallNs: startNs + work*(load+h.sleeps), CPUNs: startNs + work*(1+h.helps)}
	o.WaitNs = work*(load-1)*(1+h.helps) + h.idles*math.Max(0, vary(0.5))*work*load
	if h.known {
		othersNs := work * (load - 1) * (1 + h.helps)
		o.SelfWaitNs, o.InvoluntarySwitches = math.Max(0, o.WaitNs-othersNs), work/1e6
	}
	if o.OthersNs = h.others * o.WallNs; h.signals && traced {
		o.Signals = int(o.WallNs / 1e6)
	}
	if o.Single = h.single; o.Single {
		o.CPUNs += 0.02 * work
	}
	o.TimedNs, o.RoundingNs = printed(work*(load+h.sleeps), n)
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
				for _, bursty := range []bool{false, true} {
					if load > 1 || idles == 0 {
						measureHelped(t, helped{helps: helps, load: load, idles: idles, bursty: bursty})
					}
				}
			}
		}
	}
}

// A benchmark that sleeps until a server answers waits for no CPU itself, whoever has the server's.
func TestWhatItWaitsForMayBeDelayed(t *testing.T) {
	setting, plan := quietSetting(), DefaultPlan
	setting.CPUs, plan.MaxTime = 2, 5e9
	for _, others := range []float64{0, 0.02, 0.3} {
		for seed := range uint64(10) {
			h := helped{rng: rand.New(rand.NewPCG(seed, 8)), workNs: 1e5, load: 1, sleeps: 2, others: others, signals: seed%2 == 1}
			all, err := Measure(background, &h, [][]Benchmark{{{Name: "BenchmarkX"}}}, plan, setting, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := Conclude(all[0][0], plan, setting)
			if trusted := r.Verdict == stats.Trusted; trusted != (others < 0.1) || !r.Estimate.Covers(3e5*(1-others)) || !r.Estimate.Covers(3e5) {
				t.Errorf("others ran for %g, seed %d: %s, %s: %v", others, seed, r.Verdict, r.Estimate, r.Reasons)
			}
		}
	}
}

// Beside loops the threads of the Go runtime are runnable for long, so that a benchmark of one goroutine seemed to run
// several at a time, and its interval was +-15 to 20 %.
func TestOneGoroutine(t *testing.T) {
	setting, plan := quietSetting(), DefaultPlan
	setting.CPUs, plan.MaxTime = 2, 5e9
	for _, load := range []float64{1.2, 3, 7} {
		for _, idles := range []float64{0.05, 0.2} {
			var widths []float64
			for seed := range uint64(20) {
				plan.Seed = seed
				h := helped{rng: rand.New(rand.NewPCG(seed, 7)), workNs: 1e5, load: load, idles: idles, single: true}
				all, err := Measure(background, &h, [][]Benchmark{{{Name: "BenchmarkX"}}}, plan, setting, nil)
				if err != nil {
					t.Fatal(err)
				}
				r := Conclude(all[0][0], plan, setting)
				if widths = append(widths, r.Estimate.RelativeHalfWidth()); r.Estimate.Lo > 1.002e5 || r.Estimate.Hi < 0.998e5 {
					t.Errorf("load %g, idle waits %g, seed %d: %s, %s by %s: %v", load, idles, seed, r.Verdict, r.Estimate, r.Basis, r.Reasons)
				}
			}
			if width := stats.Median(widths); !(width < 0.05) {
				t.Errorf("load %g, idle waits %g: ± %.2g %%", load, idles, 100*width)
			}
		}
	}
}

// The Go runtime's own threads wait for one another, and for idle CPUs to wake up. Taken for waits for others, that
// made benchmarks on an idle machine suspect, up to 13 % wide, and what the threads took from one another was taken
// off, as preemptions.
func TestOwnWaitsAreItsOwn(t *testing.T) {
	setting, plan := quietSetting(), DefaultPlan
	setting.CPUs, setting.Checks, plan.MaxTime = 2, env.ChecksOf(machine.Noise{WatchedNs: 1e9, SwitchNs: 10e3}), 5e9
	for _, helps := range []float64{0, 0.02, 0.15, 0.3} {
		for _, load := range []float64{1, 1.003, 1.01} {
			for _, idles := range []float64{0.01, 0.05, 0.2} {
				for seed := range uint64(20) {
					plan.Seed = seed
					h := helped{rng: rand.New(rand.NewPCG(seed, 6)), workNs: 1e5, helps: helps, load: load, idles: idles, known: true}
					all, err := Measure(background, &h, [][]Benchmark{{{Name: "BenchmarkX"}}}, plan, setting, nil)
					if err != nil {
						t.Fatal(err)
					}
					r := Conclude(all[0][0], plan, setting)
					if width := r.Estimate.RelativeHalfWidth(); r.Verdict != stats.Trusted && load < 1.01 || r.Estimate.Lo > 1.002e5 || r.Estimate.Hi < 0.998e5 || !(width < 0.01+2*(load-1)) {
						t.Errorf("helped for %g, load %g, idle waits %g, seed %d: %s, %s by %s, ± %.2g %%: %v", helps, load, idles, seed, r.Verdict, r.Estimate, r.Basis, 100*width, r.Reasons)
					}
				}
			}
		}
	}
}

// Idle threads that wait for a CPU for as long as a benchmark sleeps hide that it does.
func TestHiddenSleepIsNotTrusted(t *testing.T) {
	setting, plan := quietSetting(), DefaultPlan
	setting.CPUs, plan.MaxTime = 2, 5e9
	for _, sleeps := range []float64{0.02, 0.05, 0.2} {
		for _, load := range []float64{1.05, 1.5, 3} {
			for seed := range uint64(20) {
				h := helped{rng: rand.New(rand.NewPCG(seed, 5)), workNs: 1e5, load: load, idles: sleeps, sleeps: sleeps}
				all, err := Measure(background, &h, [][]Benchmark{{{Name: "BenchmarkX"}}}, plan, setting, nil)
				if err != nil {
					t.Fatal(err)
				}
				if r := Conclude(all[0][0], plan, setting); r.Verdict == stats.Trusted && !r.Estimate.Covers(1e5*(1+sleeps)) {
					t.Errorf("sleeps for %g, load %g, seed %d: wrongly trusted: %+v", sleeps, load, seed, r.Estimate)
				}
			}
		}
	}
}

func measureHelped(t *testing.T, h helped) {
	name := fmt.Sprintf("helped for %g, load %g, idle waits %g, bursty %v", h.helps, h.load, h.idles, h.bursty)
	setting, plan := quietSetting(), DefaultPlan
	setting.CPUs, plan.MaxTime, h.workNs = 2, 5e9, 1e5
	covered, usable := 0, 0
	var widths []float64
	for seed := range uint64(20) {
		h.rng, plan.Seed = rand.New(rand.NewPCG(seed, 5)), seed
		all, err := Measure(background, &h, [][]Benchmark{{{Name: "BenchmarkX"}}}, plan, setting, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := Conclude(all[0][0], plan, setting)
		widths = append(widths, r.Estimate.RelativeHalfWidth())
		if r.Estimate.Lo <= 1.002e5 && r.Estimate.Hi >= 0.998e5 {
			covered++
		}
		if r.Verdict != stats.Unusable {
			usable++
		}
		if off := math.Abs(r.Estimate.Value/1e5 - 1); r.Verdict == stats.Trusted && off > 0.01 && off > 2*r.Estimate.RelativeHalfWidth() {
			t.Errorf("%s: wrongly trusted: %+v", name, r.Estimate)
		}
	}
	t.Logf("%s: %d of 20 hold the truth, %d usable, half-width %.2g %%", name, covered, usable, 100*stats.Median(widths))
	if covered < 17 || h.helps <= 0.05 && h.idles <= 0.05 && usable < 17 {
		t.Errorf("%s: %d of 20 hold the truth, %d are usable", name, covered, usable)
	}
}
