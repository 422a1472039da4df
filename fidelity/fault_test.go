package fidelity

import (
	"errors"
	"math"
	"strings"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/machine"
	"chronoscope/stats"
)

// Sound counters of any quantum and cost, with jitter, on a machine that is
// preempted and moves the thread about, are trusted in each workload, and the
// interval of their rate holds the true one.
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

// planted is a fault and what is to be said of it.
type planted struct {
	name string
	// plant makes the counter faulty, and gives the true size in the fault's unit;
	// of what depends on the sample, NaN.
	plant func(w *world, c *counter) float64
	kind  FaultKind
	says  string
	// shown and spared are workloads that have to show it, or must not.
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
			c.phaseNs += 1e9 // it does not jump below zero
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

// Each planted fault is named with its size by the workloads that meet it, and no
// other is found; the others trust the counter.
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

// check holds a fault against the planted one.
func (f planted) check(t *testing.T, seed uint64, size float64, r Result, found Fault) {
	t.Helper()
	if math.IsNaN(size) {
		// A counter that stops loses all of the sleep, of which the thread's own
		// part is the least.
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

// lostBySleeping is the largest sleep of a workload's samples, by the kernel's
// count of the time that the thread did not use.
func lostBySleeping(r Result) float64 {
	longest := 0.0
	for _, s := range r.Samples {
		longest = math.Max(longest, s.ReferenceNs-float64(s.Use.CPUNs))
	}
	return longest
}

// A counter that was calibrated while the thread slept is believed to be as slow as
// it is when idle; it is found out all the same, also where most samples are of
// sleep.
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

// The source's own finding (Figure 1): sleep alone, of which different parts are
// lost each time.
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

// Where the kernel does not count, what was asked of the workload stands in for how
// long the thread slept.
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

// Time that was gained is not put down to sleep that was lost.
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

// A counter of which nothing is believed is judged by its own steadiness.
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

// A counter that stands still, and one that runs backwards, are no sound ones.
func TestBrokenCounters(t *testing.T) {
	for name, seen := range map[string]func(w *world) float64{
		"stuck":     func(*world) float64 { return 1e9 },
		"backwards": func(w *world) float64 { return 1e12 - w.NowNs() },
	} {
		w := newWorld(1)
		c := w.fine()
		c.seenNs = func() float64 { return seen(w) }
		for _, r := range w.experiment(c.rated("counter", 1), w.workloads()...).Results {
			if r.Verdict != stats.Unusable {
				t.Errorf("%s: %s is %s: %q", name, r.Workload, r.Verdict, r.Reasons)
			}
		}
	}
}
