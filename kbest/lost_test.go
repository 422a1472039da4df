package kbest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/machine"
	"chronoscope/stats"
)

// Of 164 samples of 3 ms beside a bursty neighbour some 30 kept their CPU, and all of these may hold an
// interruption: the figure was off by 0.1 to 0.8 %, where the source's K = 3 was off by less than 0.1 %.
func TestLeastOfSamplesThatLostTheirCPU(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for _, name := range []string{"xeon-bursty", "epyc-bursty"} {
		all := recorded(t)
		r := all[slices.IndexFunc(all, func(r clocktest.Recording) bool { return r.Name == name })]
		n := cases(16)
		off, covered := make([]float64, n), make([]bool, n)
		parallel(n, func(i int) {
			m := replayed(&r, uint64(i), 3e6, withAll)
			off[i], covered[i] = math.Abs(m.error()), m.result.Estimate.Covers(3e6)
		})
		hit := len(slices.DeleteFunc(covered, func(is bool) bool { return !is }))
		t.Logf("%s: off by %.2g %% at the median, %.2g %% at most; %d of %d covered", name, 100*stats.Median(off), 100*slices.Max(off), hit, n)
		if stats.Median(off) > 0.0007 || slices.Max(off) > 0.0025 || hit < atLeast(n)-1 {
			t.Errorf("%s: off by %.2g %% at the median, %.2g %% at most; %d of %d covered", name, 100*stats.Median(off), 100*slices.Max(off), hit, n)
		}
	}
}

// A kernel that leaves 90 µs of CPU time out at each switch is contradicted by the samples that kept their CPU.
// Taken at its word it made 2.8 ms of 3.
func TestCPUTimeThatIsTooShort(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	all := recorded(t)
	r := all[slices.IndexFunc(all, func(r clocktest.Recording) bool { return r.Name == "epyc-bursty" })]
	n := cases(8)
	results := make([]measured, n)
	parallel(n, func(i int) {
		results[i] = replayed(&r, uint64(i), 3e6, func(s *Station) {
			use := s.Use
			var leftOut, switches int64
			s.Use = func() (machine.ThreadUse, error) {
				u, err := use()
				if now := u.InvoluntarySwitches; now > switches {
					leftOut, switches = leftOut+(now-switches)*90e3, now
				}
				u.CPUNs -= leftOut
				return u, err
			}
		})
	})
	for i, m := range results {
		if m.wronglyTrusted() || math.Abs(m.error()) > 0.01 {
			t.Errorf("seed %d: 3 ms measured as %v, %s", i, m.result.Estimate, m.result.Verdict)
		}
	}
}

// Two goroutines hand a value to and fro: each sample of 3 µs lost its CPU once. What a switch may cost, 110 µs or
// more by what is known beforehand, was taken off: -6,864 ns.
func TestSwitchesCostNoMoreThanTheirSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var samples []*Sample
	for i := range 100 {
		x := &Sample{N: 1, RunNs: 3000 + float64(i)}
		x.Use.InvoluntarySwitches = 1 + int64(i%2)
		samples = append(samples, x)
	}
	cost := newSwitchCost(samples, coreSpeed{}, 0)
	for _, c := range []switchCost{cost, cost.bounded(samples)} {
		for range 1000 {
			if ns := c.draw(rng); ns > 3110/2 {
				t.Fatalf("a switch costs %v ns, of two in 3 µs", ns)
			}
		}
	}
	// Long samples say nothing of what a switch costs.
	for _, x := range samples {
		x.RunNs += 1e9
	}
	if most := newSwitchCost(samples, coreSpeed{}, 0).mostNs; most < mostSwitchNs {
		t.Errorf("a switch in samples of 1 s costs %v ns at most", most)
	}
}

// Eight samples of 100 ms lost their CPU 15 times each, for 20 µs: that is too short to displace the data of the caches,
// and their time was known to 3.4 % for want of that. After a time slice of others it is not.
func TestShortWaitsDisplaceLittle(t *testing.T) {
	for _, c := range []struct{ awayNs, least, most float64 }{{20e3, 0, 150e3}, {12e6, 200e3, inf}, {0, 200e3, inf}} {
		var samples []*Sample
		for range 8 {
			x := &Sample{N: 1, RunNs: 100e6}
			x.Use.InvoluntarySwitches, x.Use.WaitNs = 15, int64(15*c.awayNs)
			samples = append(samples, x)
		}
		rng, cost, drawn := rand.New(rand.NewPCG(1, 2)), newSwitchCost(samples, coreSpeed{}, 0), []float64(nil)
		for range 2000 {
			drawn = append(drawn, cost.draw(rng))
		}
		if p95 := quantileOf(drawn, 0.95); p95 < c.least || p95 > c.most {
			t.Errorf("others had the CPU for %v ns at a time: a switch costs up to %v ns, want %v to %v", c.awayNs, p95, c.least, c.most)
		}
	}
}

// Of 426 ns the interval began at -33 ns.
func TestNoTimeBelowZero(t *testing.T) {
	for _, c := range []struct{ value, lo, share, want float64 }{{426, -33, 0, 0}, {426, 20, 0.5, 0}, {426, 400, 0.01, 395.74}, {-2, -3, 0, -2}} {
		if got := widened(stats.Estimate{Value: c.value, Lo: c.lo, Hi: 1000}, c.share); math.Abs(got.Lo-c.want) > 1e-9 || got.Hi < 1000 {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// Work of about a millisecond beside interrupts that come each millisecond and take 40 µs. Either nearly all samples
// hold one, which stretches of looks that others' turns had torn apart did not show: 1.110 ms (1.109 to 1.111) for
// 1.075. Or trials kept step with the interrupts and escaped them, which took off what they had not lost: 931 µs
// (922 to 942) for 953. 13 of 96 such cases were wrong; DESIGN.md's limits have what is left. With the seeds named here, samples that were more alike than the model predicts gave away
// that none had escaped.
func TestSamplesAsLongAsATimersPeriod(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	all := recorded(t)
	r := all[slices.IndexFunc(all, func(r clocktest.Recording) bool { return r.Name == "turin-load4" })]
	for ns, alike := range map[float64][]uint64{953e3: {49, 82}, 1075e3: nil} {
		for _, seed := range alike {
			if m := replayed(&r, seed, ns, withAll); m.wrong() {
				t.Errorf("seed %d: %.4g ns measured as %+v", seed, ns, m.result.Estimate)
			}
		}
		n := cases(48)
		wrong, covered, trusted := make([]bool, n), make([]bool, n), make([]bool, n)
		parallel(n, func(i int) {
			m := replayed(&r, uint64(i), ns, withAll)
			wrong[i], covered[i], trusted[i] = m.wronglyTrusted() || m.wrong(), m.result.Estimate.Covers(ns), m.result.Verdict == stats.Trusted
		})
		count := func(of []bool) int { return len(slices.DeleteFunc(of, func(is bool) bool { return !is })) }
		wrongly, hit, trust := count(wrong), count(covered), count(trusted)
		t.Logf("%.4g ns: %d of %d covered, %d trusted, %d of them wrong", ns, hit, n, trust, wrongly)
		if wrongly > n/20 || hit < atLeast(n) || trust < n/2 {
			t.Errorf("%.4g ns: %d of %d covered, %d trusted, %d of them wrong", ns, hit, n, trust, wrongly)
		}
	}
}

// Work of 20 ms whose data interrupts displace, so that each costs it a quarter more than a chain of instructions, which
// is all that looks see.
func TestInterruptsDisplaceData(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	const ns = 20e6
	all := recorded(t)
	r := all[slices.IndexFunc(all, func(r clocktest.Recording) bool { return r.Name == "turin-quiet" })]
	n := cases(24)
	covered, wrong := make([]bool, n), make([]bool, n)
	parallel(n, func(i int) {
		s := newSimulated(uint64(i), clocktest.Sharing{LookNs: 1500, Recorded: &r}, 1, 10)
		plan := DefaultPlan
		plan.Seed = uint64(i)
		work := Subject{Name: "work", Run: func(n int) {
			begun := s.scheduler.RanNs()
			s.machine.Run(float64(n) * ns)
			s.machine.Run(0.25 * (s.scheduler.RanNs() - begun - float64(n)*ns))
		}}
		results, err := s.station.Measure(background, plan, work)
		if err != nil {
			panic(err)
		}
		m := measured{trialCase: trialCase{seed: uint64(i), truthNs: ns, load: 1}, result: results[0], truth: ns}
		covered[i], wrong[i] = m.result.Estimate.Covers(ns), m.wronglyTrusted() || m.wrong()
	})
	hit, wrongly := len(slices.DeleteFunc(covered, func(is bool) bool { return !is })), len(slices.DeleteFunc(wrong, func(is bool) bool { return !is }))
	t.Logf("%d of %d covered, %d wrongly trusted", hit, n, wrongly)
	if hit < atLeast(n) || wrongly > 0 {
		t.Errorf("%d of %d covered, %d wrongly trusted", hit, n, wrongly)
	}
}
