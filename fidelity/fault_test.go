package fidelity

import (
	"errors"
	"math"
	"strings"
	"testing"

	"chronoscope/clock"
	"chronoscope/clock/clocktest"
	"chronoscope/machine"
	"chronoscope/stats"
)

// Counters without faults, of any quantum and cost, with jitter, on a machine that preempts the
// thread and moves it between CPUs, are trusted in each workload, and the interval of their rate
// holds the true one.
func TestSoundCountersAreTrusted(t *testing.T) {
	const seeds = 200
	covered, results := 0, 0
	for seed := range uint64(seeds) {
		w := newWorld(seed)
		if seed%2 == 0 {
			w.preempted()
		}
		c := w.fine()
		c.quantumNs = w.between(1, 1e6)
		c.lateNs = c.quantumNs * w.rng.Float64() * float64(w.rng.IntN(2))
		c.tickNs = []float64{1, c.quantumNs, c.quantumNs / float64(1+w.rng.IntN(30))}[w.rng.IntN(3)]
		c.cost = clocktest.WithOutliers(clocktest.Jittered(w.between(5, 1000), 0.3), 0.01, 100)
		o := w.experiment(c.rated("counter", 2), w.workloads()...)
		if len(o.Results) != 4 || len(o.Caveats) > 0 {
			t.Fatalf("seed %d: %d results, caveats %q", seed, len(o.Results), o.Caveats)
		}
		for _, r := range o.Results {
			results++
			if r.Rate.Covers(1e9 / c.tickNs) {
				covered++
			}
			if r.Verdict != stats.Trusted || len(r.Reasons) != 0 {
				t.Errorf("seed %d, quantum %.4g ns, tick %.4g ns: %s is %s: %q", seed, c.quantumNs, c.tickNs, r.Workload, r.Verdict, r.Reasons)
			}
			if moves := r.Migrations; r.Workload == Migration && moves != len(r.Samples) || r.Workload != Migration && moves != 0 {
				t.Errorf("seed %d: %d of %d samples of %s are said to have migrated", seed, moves, len(r.Samples), r.Workload)
			}
		}
	}
	if covered < 940*results/1000 {
		t.Errorf("the interval holds the true rate in %d of %d results", covered, results)
	}
}

// planted is a fault together with the finding that it must cause.
type planted struct {
	name string
	// plant makes the counter faulty and returns the true size in the fault's unit, or NaN if the
	// size differs between samples.
	plant func(w *world, c *counter) float64
	kind  FaultKind
	says  string
	// shown are workloads that must show the fault, spared are workloads that must not.
	shown, spared []string
	slackNs       float64 // half a hand-over round trip, for faults in nanoseconds
}

var faults = []planted{
	{
		name: "stops during sleep",
		plant: func(w *world, c *counter) float64 {
			c.seenNs = func() float64 { return w.NowNs() - w.idleNs }
			return math.NaN()
		},
		kind: StopsInSleep, says: "stands still while the thread sleeps",
		shown: []string{Sleep, Frequency}, spared: []string{Fibonacci, Migration},
	},
	{
		name: "follows the core's frequency",
		plant: func(w *world, c *counter) float64 {
			times := 0.3 + 0.6*w.rng.Float64()
			c.seenNs = func() float64 { return w.NowNs() - (1-times)*w.idleNs }
			return times
		},
		kind: FollowsFrequency, says: "its rate follows the core's frequency",
		shown: []string{Sleep, Frequency}, spared: []string{Fibonacci, Migration},
	},
	{
		name: "an offset of 200 ns on one CPU",
		plant: func(w *world, c *counter) float64 {
			odd := w.rng.IntN(w.cpus)
			c.seenNs = func() float64 {
				if w.cpu == odd {
					return w.NowNs() + 200
				}
				return w.NowNs()
			}
			return 200
		},
		kind: CPUOffset, says: "an offset of ", slackNs: 100,
		shown: []string{Migration}, spared: []string{Fibonacci, Sleep, Frequency},
	},
	{
		name: "80 ppm fast",
		plant: func(w *world, c *counter) float64 {
			c.seenNs = func() float64 { return w.NowNs() * (1 + 80e-6) }
			return 80
		},
		kind: WrongRate, says: " ppm fast",
		shown: []string{Sleep, Fibonacci, Migration, Frequency},
	},
	{
		name: "80 ppm slow",
		plant: func(w *world, c *counter) float64 {
			c.seenNs = func() float64 { return w.NowNs() * (1 - 80e-6) }
			return -80
		},
		kind: WrongRate, says: " ppm slow",
		shown: []string{Sleep, Fibonacci, Migration, Frequency},
	},
	{
		name: "jumps once by 3 ms",
		plant: func(w *world, c *counter) float64 {
			at := 1e9 + 8e9*w.rng.Float64()
			jump := 3e6 * float64(1-2*w.rng.IntN(2))
			c.phaseNs += 1e9 // so that a jump back does not lead below zero
			c.seenNs = func() float64 {
				if w.NowNs() > at {
					return w.NowNs() + jump
				}
				return w.NowNs()
			}
			return 3e6
		},
		kind: Jumped, says: "it jumped once",
	},
}

// Each planted fault is named with its size by the workloads that it affects, and no other fault is
// found. The other workloads trust the counter.
func TestFaultsAreNamedWithTheirSize(t *testing.T) {
	const seeds = 40
	for _, f := range faults {
		for seed := range uint64(seeds) {
			w := newWorld(1000 + seed)
			if seed%2 == 0 {
				w.preempted()
			}
			c := w.fine()
			size := f.plant(w, c)
			o := w.experiment(c.rated("counter", 1), w.workloads()...)
			found := map[string]bool{}
			for _, r := range o.Results {
				for _, fault := range r.Faults {
					found[r.Workload] = true
					f.check(t, seed, size, r, fault)
				}
				if len(r.Faults) == 0 && r.Verdict != stats.Trusted {
					t.Errorf("%s, seed %d: %s is %s without a fault: %q", f.name, seed, r.Workload, r.Verdict, r.Reasons)
				}
			}
			if len(found) == 0 {
				t.Errorf("%s, seed %d: not found", f.name, seed)
			}
			for _, workload := range f.shown {
				if !found[workload] {
					t.Errorf("%s, seed %d: not found in %s", f.name, seed, workload)
				}
			}
			for _, workload := range f.spared {
				if found[workload] {
					t.Errorf("%s, seed %d: found in %s, which does not meet it", f.name, seed, workload)
				}
			}
		}
	}
}

// check compares the fault that was found with the planted one.
func (f planted) check(t *testing.T, seed uint64, size float64, r Result, found Fault) {
	t.Helper()
	if math.IsNaN(size) {
		// A counter that stops loses the whole sleep. The sleep that the thread requested is the
		// least length of it.
		size = lostBySleeping(r)
	}
	if found.Kind != f.kind || !strings.Contains(found.Says, f.says) {
		t.Errorf("%s, seed %d, %s: %s, %q, want %s and %q", f.name, seed, r.Workload, found.Kind, found.Says, f.kind, f.says)
	}
	if off := math.Abs(found.Size.Value() - size); !(off <= math.Max(0.05*math.Abs(size), f.slackNs)) {
		t.Errorf("%s, seed %d, %s: %.5g %s, want %.5g: %q", f.name, seed, r.Workload, found.Size.Value(), found.Unit, size, found.Says)
	}
	if found.Verdict == stats.Trusted || r.Verdict == stats.Trusted || len(r.Reasons) == 0 {
		t.Errorf("%s, seed %d, %s: the verdict is %s, the reasons %q", f.name, seed, r.Workload, r.Verdict, r.Reasons)
	}
}

// lostBySleeping returns the longest time in a sample of a workload in which the thread used no CPU,
// by the kernel's count.
func lostBySleeping(r Result) float64 {
	longest := 0.0
	for _, s := range r.Samples {
		longest = math.Max(longest, s.ReferenceNs-float64(s.Use.CPUNs))
	}
	return longest
}

// A counter that was calibrated while the thread slept is believed to be as slow as it is when idle.
// Its fault is found nevertheless, even if most samples are of sleep.
func TestFrequencyIsFoundBesideAWrongBelief(t *testing.T) {
	for seed := range uint64(40) {
		w := newWorld(2000 + seed)
		w.plan.SleepRepeats, w.plan.OtherRepeats = 20, 5
		c := w.fine()
		c.seenNs = func() float64 { return w.NowNs() - 0.4*w.idleNs }
		believed := c.rated("counter", 1)
		believed.TickNs = believed.TickNs.Scaled(1/0.6, "ns")
		o := w.experiment(believed, w.workloads()...)
		for _, r := range o.Results {
			follows := false
			for _, f := range r.Faults {
				follows = follows || f.Kind == FollowsFrequency && math.Abs(f.Size.Value()-0.6) < 0.03
			}
			if want := r.Workload == Sleep || r.Workload == Frequency; follows != want {
				t.Errorf("seed %d: %s: %q", seed, r.Workload, r.Reasons)
			}
			if r.Verdict != stats.Unusable {
				t.Errorf("seed %d: %s is %s", seed, r.Workload, r.Verdict)
			}
		}
	}
}

// The workload sleep alone shows a counter that loses a different part of each sleep (Kuperberg
// 2011b, Figure 1).
func TestSleepAloneShowsLostParts(t *testing.T) {
	for seed := range uint64(40) {
		w := newWorld(3000 + seed)
		c := w.fine()
		lost, worst := 0.0, 0.0
		c.seenNs = func() float64 { return w.NowNs() - lost }
		sleep := w.workloads()[0]
		sleep.Prepare = always(func(ns float64) {
			w.sleep(ns)
			part := (0.1 + 0.5*w.rng.Float64()) * ns
			lost, worst = lost+part, math.Max(worst, part)
		})
		r := w.experiment(c.rated("counter", 1), sleep).Results[0]
		if middle := medianHz(r.Samples); r.Rate.Statistic != "median" || math.Abs(r.Rate.Value/middle-1) > 1e-5 || !r.Rate.Covers(middle) {
			t.Errorf("seed %d: the rate is %+v, want the median %v", seed, r.Rate, middle)
		}
		if len(r.Faults) != 1 || r.Faults[0].Kind != StopsInSleep || !strings.Contains(r.Reasons[0], "for a part of the sleep") {
			t.Fatalf("seed %d: %q", seed, r.Reasons)
		}
		if size := r.Faults[0].Size.Value(); math.Abs(size-worst) > 0.05*worst {
			t.Errorf("seed %d: it lost %.4g ns at most, want %.4g", seed, size, worst)
		}
	}
}

// If the kernel does not count, the requested time is used as the time for which the thread slept.
func TestStopsAreFoundWithoutTheKernel(t *testing.T) {
	for seed := range uint64(40) {
		w := newWorld(5000 + seed)
		c := w.fine()
		c.seenNs = func() float64 { return w.NowNs() - w.idleNs }
		workloads := w.workloads()[:2]
		workloads[0].Sleeps = 1
		o, err := Run(t.Context(), Request{
			Counter: c.rated("counter", 1), Reference: w.reference(), Workloads: workloads, Plan: simPlan,
			Look: func() (machine.ThreadUse, error) { return machine.ThreadUse{}, errors.New("nobody counts") },
		})
		if err != nil {
			t.Fatal(err)
		}
		if f := o.Results[0].Faults; len(f) != 1 || f[0].Kind != StopsInSleep || math.Abs(f[0].Size.Value()-160e6) > 8e6 {
			t.Errorf("seed %d: %+v", seed, f)
		}
		if r := o.Results[1]; r.Verdict != stats.Trusted || r.Samples[0].Migrated() || r.Migrations > 0 {
			t.Errorf("seed %d: %s %q, %d migrations", seed, r.Verdict, r.Reasons, r.Migrations)
		}
	}
}

func medianHz(samples []Sample) float64 {
	var rates []float64
	for _, s := range samples {
		rates = append(rates, 1e9*float64(s.CounterTicks)/s.ReferenceNs)
	}
	return stats.Median(rates)
}

// Time that the counter gained is not explained by lost sleep.
func TestTwoFaults(t *testing.T) {
	busy := Sample{ReferenceNs: 1e7, CounterTicks: 1e7, PairingNs: 100, ErrorNs: 101}
	asleep := Sample{ReferenceNs: 1e7, CounterTicks: 1e5, PairingNs: 100, ErrorNs: 101, IdleNs: 9.9e6}
	ahead := Sample{ReferenceNs: 1e7, CounterTicks: 12e6, PairingNs: 100, ErrorNs: 101, IdleNs: 9.9e6}
	results := []Result{
		{Samples: []Sample{busy, busy, busy, busy, busy, busy, busy}},
		{Samples: []Sample{asleep, asleep, ahead, asleep, asleep, asleep}},
	}
	judge(named("tsc", 1, 1), named("monotonic-raw", 1, 1), results)
	if results[0].Verdict != stats.Trusted {
		t.Errorf("busy: %q", results[0].Reasons)
	}
	f := results[1].Faults
	if len(f) != 2 || f[0].Kind != StopsInSleep || math.Round(f[0].Size.Value()) != 9.9e6 || f[1].Kind != Jumped || math.Round(f[1].Size.Value()) != 2e6 {
		t.Errorf("asleep: %+v", f)
	}
}

// A counter without a believed rate is judged by whether its own rate is constant.
func TestUnknownRate(t *testing.T) {
	for seed := range uint64(40) {
		w := newWorld(4000 + seed)
		c := w.fine()
		unknown := c.rated("counter", 1)
		unknown.TickNs = stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
		for _, r := range w.experiment(unknown, w.workloads()...).Results {
			if r.Verdict != stats.Trusted || !r.Rate.Covers(1e9/c.tickNs) {
				t.Errorf("seed %d: %s: rate %v, want %v; %q", seed, r.Workload, r.Rate, 1e9/c.tickNs, r.Reasons)
			}
			if r.CalibratedPPM.Known() {
				t.Errorf("seed %d: an error of %v ppm against a rate that nobody knows", seed, r.CalibratedPPM)
			}
		}
	}
}

// A counter that stands still and one that runs backwards are not trusted.
func TestBrokenCounters(t *testing.T) {
	for name, seen := range map[string]func(w *world) float64{
		"stuck":     func(*world) float64 { return 1e9 },
		"backwards": func(w *world) float64 { return 1e12 - w.NowNs() },
	} {
		w := newWorld(1)
		c := w.fine()
		c.seenNs = func() float64 { return seen(w) }
		unknown := c.rated("counter", 1)
		unknown.TickNs = stats.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
		for _, counter := range []clock.Rated{c.rated("counter", 1), unknown} {
			for _, r := range w.experiment(counter, w.workloads()...).Results {
				if r.Verdict != stats.Unusable {
					t.Errorf("%s, tick of %v ns: %s is %s: %q", name, counter.TickNs.Value, r.Workload, r.Verdict, r.Reasons)
				}
			}
		}
	}
}

// A counter that gains time irregularly while the thread sleeps does not stand still.
func TestGainInSleep(t *testing.T) {
	busy := Sample{ReferenceNs: 1e7, CounterTicks: 1e7, PairingNs: 100, ErrorNs: 101}
	asleep := func(gainedNs int64) Sample {
		return Sample{ReferenceNs: 1e7, CounterTicks: 1e7 + gainedNs, PairingNs: 100, ErrorNs: 101, IdleNs: 9.9e6}
	}
	r := []Result{
		{Samples: []Sample{busy, busy, busy, busy, busy, busy}},
		{Samples: []Sample{asleep(1e6), asleep(3e6), asleep(2e6), asleep(5e6), asleep(4e6)}},
	}
	judge(named("tsc", 1, 1), named("monotonic-raw", 1, 1), r)
	if f := r[1].Faults; len(f) != 1 || f[0].Says != "it gained 5.00 ms in 10.0 ms: it runs faster while the thread sleeps, by a different amount each time" {
		t.Errorf("%+v", f)
	}
}
