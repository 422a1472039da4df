package program

import (
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"chronoscope/clock/clocktest"
	"chronoscope/process"
	"chronoscope/stats"
)

// A busy hyperthread of another virtual machine slows xz by 40 % in more than half of its runs: 27.2 to 27.6 ms alone
// on its core were 35.9 ± 7.6 % and 40.0 ± 4.5 %. A chain of dependent instructions is not slowed,
// and a program with slow runs of its own has as many of them on either kind of core: all of their runs count.
func TestSharedCores(t *testing.T) {
	for name, c := range map[string]struct {
		shared  float64 // share of the runs
		slows   float64
		modes   bool
		within  bool
		kept    bool
		verdict stats.Verdict
	}{
		"nothing shares it":    {0, 0.4, false, false, false, stats.Trusted},
		"slowed":               {0.6, 0.4, false, false, true, stats.Trusted},
		"not slowed":           {0.6, 0, false, false, false, stats.Trusted},
		"all runs shared":      {1, 0.4, false, false, false, stats.Suspect},
		"slow runs of its own": {0.5, 0, true, false, false, stats.Suspect},
		"for a part of a run":  {0.6, 0.4, false, true, false, stats.Suspect},
	} {
		rng := rand.New(rand.NewPCG(7, 8))
		const alone, runs = 27 * ms, 200
		s := series{probed: true}
		left := 0
		r := s.concluded(runs, func(i int) Run {
			works := alone * (1 + 0.005*rng.NormFloat64())
			if c.modes && rng.IntN(2) == 0 {
				works *= 1.4
			}
			shared := rng.Float64() < c.shared
			part := 0.0
			if shared {
				part = 1
				left++
			}
			if c.within && shared && i%2 == 0 {
				part = 0.5
			}
			run := keptFor(works*(1+c.slows*part)/ms, 0)
			run.slowedBefore, run.slowedAfter = 0.5*math.Ceil(part), 0.5*math.Floor(part)
			return run
		})
		if kept := strings.Contains(r.Explanation, "shared a core"); kept != c.kept {
			t.Errorf("%s: %q", name, r.Explanation)
		}
		if n := len(r.Outliers); c.kept && (n == 0 || r.Outliers[n-1].Causes[0] != "something shared its core") {
			t.Errorf("%s: outliers %+v", name, r.Outliers)
		}
		if c.kept && (math.Abs(r.Estimate.Value/alone-1) > 0.005 || r.Estimate.N != runs-left || r.Estimate.Discarded != left) {
			t.Errorf("%s: %+v", name, r.Estimate)
		}
		if c.kept && r.Percentiles.Wall.Known()[0].N != runs {
			t.Errorf("%s: percentiles of the clock leave runs out: %+v", name, r.Percentiles.Wall.Known()[0])
		}
		if !c.modes && (r.Estimate.Lo > alone || c.shared < 1 && r.Estimate.Hi < alone) {
			t.Errorf("%s: %+v", name, r.Estimate)
		}
		if r.Verdict != c.verdict {
			t.Errorf("%s: %s, %q, %+v", name, r.Verdict, r.Reasons, r.Estimate)
		}
	}
}

// Where too few runs were alone on their core to leave the others out, the interval holds what sharing may have cost.
func TestSharedRunsThatCount(t *testing.T) {
	const alone = 10 * ms
	for name, c := range map[string]struct {
		shared int // of 7 runs
		slowed float64
		holds  bool
	}{
		"all":         {7, 0.5, true},
		"more than 3": {4, 0.8, true},
		"3":           {3, 0.8, true}, // four others tell what it costs
		"none":        {0, 0, false},
	} {
		s := series{probed: true}
		r := s.concluded(7, func(i int) Run {
			run := keptFor(alone*1.05/ms, 0)
			run.slowedBefore, run.slowedAfter = 0.01, 0.01
			if i < c.shared {
				run = keptFor(alone*1.2/ms, 0)
				run.slowedBefore, run.slowedAfter = c.slowed, 0.01
			} else if c.holds {
				run = keptFor((1+0.001*float64(i))*alone/ms, 0)
				run.slowedBefore, run.slowedAfter = 0.01, 0.01
			}
			return run
		})
		if got := r.Estimate.Lo <= 1.001*alone; got != c.holds || r.Estimate.Lo < 0.5*alone {
			t.Errorf("%s: from %v of it on, %s, %q", name, r.Estimate.Lo/alone, r.Verdict, r.Reasons)
		}
	}
}

// The time of a program of more than a second is what the kernel charges, of which sharing is taken off, too. 90 % of the
// runs are shared, in phases, and take 30 % longer: 1.22 to 1.30 was trusted.
func TestChargedTimeOnSharedCores(t *testing.T) {
	const aloneMs = 1500.
	for seed := range 20 {
		rng := rand.New(rand.NewPCG(uint64(seed), 15))
		shared := rng.Float64() < 0.9
		s := series{probed: true}
		r := s.concluded(60, func(int) Run {
			before, part := shared, 0.0
			if phase := map[bool]float64{true: 20, false: 20 * 0.1 / 0.9}[shared]; rng.Float64() < 1/phase {
				shared = !shared
			}
			if part = 0.5; before == shared {
				part = map[bool]float64{true: 1}[shared]
			}
			run := keptFor(aloneMs*(1+0.3*part)*(1+0.005*rng.NormFloat64()), 0)
			run.slowedBefore, run.slowedAfter = map[bool]float64{true: 0.5}[before], map[bool]float64{true: 0.5}[shared]
			return run
		})
		if r.Method != ByIntervalCounting {
			t.Fatalf("%s: nothing is charged", r.Method)
		}
		if r.Verdict == stats.Trusted && !r.Estimate.Covers(aloneMs*ms) || r.Estimate.Lo > aloneMs*ms {
			t.Errorf("seed %d: %s, %+v", seed, r.Verdict, r.Estimate)
		}
	}
}

// A neighbour on the core slows only what runs: a sleep of 100 ms was suspect beside one that is always busy.
func TestSleepsOnSharedCores(t *testing.T) {
	for runsMs, want := range map[float64]bool{0.2: false, 25: true} {
		s := series{probed: true}
		r := s.concluded(20, func(int) Run {
			events := begun().at(runsMs, process.Blocked, 1, 1, 0).at(99, process.SwitchedIn, 1, 1, 0).at(100, process.Exited, 1, 1, 0)
			run := events.run(100, runsMs+1, process.Thread{ID: 1, CPUNs: int64((runsMs + 1) * ms), ReadNs: 100 * ms})
			run.CoreHz, run.StealNs, run.ThrottledNs = math.NaN(), math.NaN(), math.NaN()
			run.slowedBefore, run.slowedAfter = 0.5, 0.5
			return run
		})
		if got := strings.Contains(strings.Join(r.Reasons, "; "), "the core was shared"); got != want {
			t.Errorf("of 100 ms it runs for %v: %q", runsMs, r.Reasons)
		}
	}
}

// The CPUs count that a program ran on, by what the kernel noted of it.
func TestSlowedWhereItRan(t *testing.T) {
	slowed := map[int]float64{0: 0.5, 1: 0.01}
	for _, c := range []struct {
		cpus []int
		want float64
	}{{[]int{1, 1}, 0.01}, {[]int{1, 0, 1}, 0.5}, {[]int{2}, math.NaN()}, {nil, math.NaN()}} {
		events := []process.Event{{AtNs: -5, CPU: 0}} // before its exec
		for i, cpu := range c.cpus {
			events = append(events, process.Event{AtNs: int64(i), CPU: cpu})
		}
		if got := slowedWhere(slowed, events); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v: %v, want %v", c.cpus, got, c.want)
		}
	}
	if got := slowedWhere(nil, []process.Event{{AtNs: 1}}); !math.IsNaN(got) {
		t.Errorf("without a probe: %v", got)
	}
}

// The CPUs that a command is bound to are probed, where there are few.
func TestProbesWhereItMayRun(t *testing.T) {
	p := newSharingProbe(fstest.MapFS{}, func() float64 { return 0.3 })
	cpu := p.cpus[len(p.cpus)-1]
	if got := p.now([]int{cpu}); len(got) != 1 || got[cpu] != 0.3 {
		t.Errorf("%v", got)
	}
	unknown := newSharingProbe(fstest.MapFS{}, math.NaN)
	if got := unknown.now([]int{cpu}); len(got) != 0 {
		t.Errorf("a CPU whose kind is not known, which must not hide what was found of others: %v", got)
	}
	if got := p.now([]int{0, 1, 2, 3, 4}); got != nil {
		t.Errorf("of %d CPUs %v", mostProbed+1, got)
	}
	if got := newSharingProbe(nil, nil).now(nil); got != nil {
		t.Errorf("without a probe %v", got)
	}
}

// On a machine of many CPUs those are probed on which the run was. None were, so that a guest whose cores others shared
// was trusted.
func TestProbesWhereItWas(t *testing.T) {
	probed := 0
	p := newSharingProbe(fstest.MapFS{}, func() float64 { probed++; return 0.1 * float64(probed) })
	cpu := p.cpus[len(p.cpus)-1]
	was := []process.Event{
		{AtNs: -5, Thread: 1, CPU: cpu + 1}, {AtNs: -1, Thread: 1, Kind: process.Blocked, CPU: cpu + 1},
		{AtNs: 1, Thread: 1, CPU: cpu}, {AtNs: 3, Thread: 1, Kind: process.Exited, CPU: cpu},
	}
	if got := p.after([]int{cpu}, was); !math.IsNaN(got) || probed > 0 {
		t.Errorf("a CPU that is probed around the run: %v", got)
	}
	p.cpus = []int{0, 1, 2, 3, 4}
	if got := p.after(nil, was); got != 0.1 || probed != 1 {
		t.Errorf("%v after %d probes, want 0.1 after one", got, probed)
	}
	if got := p.after(nil, nil); !math.IsNaN(got) || probed != 1 {
		t.Errorf("it is not known where it was: %v", got)
	}
}

// A run is on four CPUs, for 1 of 16 ms on the last one, which alone is shared. The worst of the four counted, so that every
// run was shared.
func TestProbesWhereItWasForLong(t *testing.T) {
	events := begun()
	for i, of := range []struct{ from, to, cpu int }{{0, 5, 3}, {5, 10, 6}, {10, 15, 9}, {15, 16, 12}} {
		if i > 0 {
			events = events.at(float64(of.from), process.SwitchedIn, 1, 1, of.cpu)
		} else {
			events[1].CPU, events[1].AtNs = of.cpu, -2*ms // since before its exec
		}
		events = events.at(float64(of.to), process.Blocked, 1, 1, of.cpu)
	}
	ran := ranOn(events)
	if want := map[int]int64{3: 5 * ms, 6: 5 * ms, 9: 5 * ms, 12: ms}; !maps.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
	const draws = 16_000
	shared := 0
	for range draws {
		if cpu, ok := drawn(ran); !ok {
			t.Fatal("nothing is drawn")
		} else if cpu == 12 {
			shared++
		}
	}
	if shared < draws/16-200 || shared > draws/16+200 { // six standard deviations
		t.Errorf("%d of %d are shared, want about one of 16", shared, draws)
	}
}

func TestSharedCoresOfMany(t *testing.T) {
	for shared, want := range map[int]stats.Verdict{0: stats.Trusted, 2: stats.Trusted, 12: stats.Suspect, 20: stats.Suspect} {
		s := series{probed: true}
		r := s.concluded(20, func(i int) Run {
			run := keptFor(10, 0)
			run.slowedBefore, run.slowedAfter, run.slowedThere = math.NaN(), math.NaN(), 0.01
			if i < shared {
				run.slowedThere = 0.5
			}
			return run
		})
		if r.Verdict != want || strings.Contains(strings.Join(r.Reasons, "; "), "the core was shared") != (want == stats.Suspect) {
			t.Errorf("%d of 20 runs: %s, %q", shared, r.Verdict, r.Reasons)
		}
		if lowest := 10. / 1.5; (r.Estimate.Lo < (lowest+0.01)*ms) != (want == stats.Suspect) || r.Estimate.Lo < (lowest-0.1)*ms {
			t.Errorf("%d of 20 runs: from %v ms on", shared, r.Estimate.Lo/ms)
		}
	}
}

// Something else on the core slows a program as it was recorded. The more runs, the better it is known, and no result is
// wrongly trusted. With the cost taken from medians, and with sharing that lasts for a time of one kind, 19 of 20 results of
// programs of 30 ms that sharing slows by 10 % were.
func TestRecordedSharing(t *testing.T) {
	cores, err := clocktest.SharedCores()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		by      func(slowed float64) float64
		trusted int // of 100 results of 300 runs, at least
	}{
		"not slowed":             {clocktest.SlowedWhileShared(0), 60},
		"by 10 %":                {clocktest.SlowedWhileShared(0.1), 20},
		"by 30 %":                {clocktest.SlowedWhileShared(0.3), 0},
		"by 80 %":                {clocktest.SlowedWhileShared(0.8), 0},
		"as additions are":       {func(slowed float64) float64 { return slowed }, 0},
		"less where others more": {func(slowed float64) float64 { return clocktest.SlowedWhileShared(0.6)(slowed) * math.Exp(-slowed) }, 0},
	} {
		results, held, trusted, missed, wrong := 0, 0, 0, 0, 0
		ofMany, allTrusted := 0, 0
		for _, workMs := range []float64{1, 3, 10, 30} {
			for _, n := range []int{10, 20, 60, 300} {
				for seed := range 5 * len(cores) {
					work := cores[seed%len(cores)].Work(rand.New(rand.NewPCG(uint64(seed), 9)), n, workMs*ms, ms, c.by)
					s := series{probed: true}
					r := s.concluded(n, func(i int) Run {
						run := keptFor(work[i].Ns/ms, 0)
						run.slowedBefore, run.slowedAfter = work[i].SlowedBefore, work[i].SlowedAfter
						return run
					})
					if results++; n == 300 {
						ofMany++
					}
					holds := r.Estimate.Lo <= workMs*ms && workMs*ms <= r.Estimate.Hi
					if holds {
						held++
					}
					if r.Verdict == stats.Trusted {
						allTrusted++
						if n == 300 {
							trusted++
						}
						if !holds {
							missed++
						}
						if off := math.Abs(r.Estimate.Value/(workMs*ms) - 1); off > math.Max(0.01, 2*r.Estimate.RelativeHalfWidth()) {
							wrong++
						}
					}
				}
			}
		}
		t.Logf("%s: held %d of %d, trusted %d of %d with many runs, %d in all, of which %d miss, %d by far", name, held, results, trusted, ofMany, allTrusted, missed, wrong)
		// 80 % is more than independent instructions lose, and nothing but the verdict tells where that is all that is known.
		few := name != "by 80 %" && float64(held) < 0.95*float64(results)
		if few || wrong > 0 || missed > allTrusted-atLeast(allTrusted) || trusted < c.trusted*ofMany/100 {
			t.Errorf("%s: held %d of %d, trusted %d of %d with many runs, %d in all, of which %d miss, %d by far", name, held, results, trusted, ofMany, allTrusted, missed, wrong)
		}
	}
}
