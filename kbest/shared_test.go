package kbest

import (
	"math"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// shareCore is a machine whose core has a sibling.
func shareCore(seed uint64, sibling clocktest.Sibling) *simulated {
	s := newSimulated(seed, clocktest.Sharing{LookNs: 1000, Sibling: sibling}, 1, 10)
	return s
}

// wide is a subject with as many independent instructions as the core has room for.
func (s *simulated) wide(ns float64) Subject {
	return Subject{Name: "wide", Run: func(n int) { s.machine.RunWide(float64(n) * ns) }}
}

// A busy hyperthread slows work that fills the core's ports, and no chain of dependent
// instructions. The time on the shared core was trusted: 1,400 ns for 1,000.
func TestSharedCoreIsTold(t *testing.T) {
	for _, slows := range []float64{0.15, 0.8} {
		for _, ns := range []float64{1e3, 3e6} {
			s := shareCore(1, clocktest.Sibling{Slows: slows})
			if r := measureOne(t, s, s.wide(ns)); !says(r, "the core was shared") {
				t.Errorf("%v ns on a core that is slowed by %v: %+v %v", ns, slows, r.Estimate, r.Judgement)
			}
			s = shareCore(1, clocktest.Sibling{Slows: slows})
			s.station.Slowed = nil
			if r := measureOne(t, s, s.wide(ns)); r.Verdict != stats.Trusted || math.Abs(r.Estimate.Value/ns/(1+slows)-1) > 0.01 {
				t.Errorf("%v ns, without the probe: %+v %v: the case does not show what the probe is for", ns, r.Estimate, r.Judgement)
			}
		}
	}
}

// Where the sibling comes and goes, the samples without it tell the time.
func TestSharingComesAndGoes(t *testing.T) {
	for _, ns := range []float64{1e3, 30e3, 300e3} {
		for seed := range uint64(3) {
			s := shareCore(seed, clocktest.Sibling{Slows: 0.5, BusyNs: 20e6, IdleNs: 20e6})
			r := measureOne(t, s, s.wide(ns))
			if r.Verdict != stats.Trusted || !r.Estimate.Covers(ns) || r.Rejected[Shared] == 0 {
				t.Errorf("%v ns, seed %d: %+v %v, rejected %v", ns, seed, r.Estimate, r.Judgement, r.Rejected)
			}
		}
	}
	for seed := range uint64(10) {
		s := shareCore(seed, clocktest.Sibling{Slows: 0.5, BusyNs: 3e6, IdleNs: 3e6})
		if r := measureOne(t, s, s.wide(5e6)); r.Verdict == stats.Trusted && !r.Estimate.Covers(5e6) {
			t.Errorf("samples that are longer than the sibling is idle, seed %d: %+v", seed, r.Estimate)
		}
	}
}

// Work that a sibling slows by 1 % is off by less where the sibling comes and goes unseen.
func TestSharingThatHardlyMatters(t *testing.T) {
	s := shareCore(3, clocktest.Sibling{Slows: 0.2, BusyNs: 3e6, IdleNs: 3e6})
	r := measureOne(t, s, Subject{Run: func(n int) {
		for range n {
			s.machine.Run(950e3)
			s.machine.RunWide(50e3)
		}
	}})
	if r.Verdict != stats.Trusted || !r.Estimate.Covers(1e6) {
		t.Errorf("%+v %v, rejected %v", r.Estimate, r.Judgement, r.Rejected)
	}
}

// Work that a sibling does not slow is as good on a shared core as on one of its own.
func TestSharedCoreOfAChain(t *testing.T) {
	for _, ns := range []float64{1e3, 100e3, 3e6} {
		s := shareCore(2, clocktest.Sibling{Slows: 0.5, BusyNs: 20e6, IdleNs: 20e6})
		if r := measureOne(t, s, s.work(ns)); r.Verdict != stats.Trusted || !r.Estimate.Covers(ns) || r.Rejected[Shared] > 0 {
			t.Errorf("%v ns: %+v %v, rejected %v", ns, r.Estimate, r.Judgement, r.Rejected)
		}
	}
}

// Something else on the core comes and goes as it was recorded, on all scales from 50 µs to seconds. Whether it slows work or
// not, no figure is wrongly trusted.
func TestRecordedSharing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	cores, err := clocktest.SharedCores()
	if err != nil {
		t.Fatal(err)
	}
	const seeds = 12
	for _, ns := range []float64{1e3, 100e3, 1e6, 5e6} {
		for _, slows := range []float64{0.15, 0.3, 0.5} {
			for _, wide := range []bool{false, true} {
				results := make([]*Result, seeds)
				parallel(seeds, func(i int) {
					s := shareCore(uint64(i), clocktest.Sibling{Slows: slows, Recorded: &cores[i%len(cores)]})
					subject := s.work(ns)
					if wide {
						subject = s.wide(ns)
					}
					results[i] = measureOne(t, s, subject)
				})
				held, trusted, wrong := 0, 0, 0
				for _, r := range results {
					if r.Estimate.Covers(ns) {
						held++
					}
					if r.Verdict == stats.Trusted {
						trusted++
						if !r.Estimate.Covers(ns) {
							wrong++
						}
					}
				}
				t.Logf("%g ns, slowed by %g if wide, wide %v: held %d of %d, trusted %d, wrong %d", ns, slows, wide, held, seeds, trusted, wrong)
				if held < seeds-1 || wrong > 0 || !wide && trusted < seeds/4 {
					t.Errorf("%g ns, slowed by %g if wide, wide %v: held %d of %d, trusted %d, wrong %d", ns, slows, wide, held, seeds, trusted, wrong)
				}
			}
		}
	}
}

// A sibling slows one of two subjects, which alone take as long. That one leaves out its samples beside it, and so does the other
// in the comparison, in which each round's samples are a pair.
func TestComparisonLeavesOutShared(t *testing.T) {
	s := shareCore(1, clocktest.Sibling{Slows: 0.5, BusyNs: 20e6, IdleNs: 20e6})
	chain, wide := s.work(100e3), s.wide(100e3)
	chain.Name = "chain"
	results, err := s.station.Measure(background, DefaultPlan, chain, wide)
	if err != nil {
		t.Fatal(err)
	}
	a, b := results[0], results[1]
	p := newPair(a.from, b.from)
	if a.Rejected[Shared] > 0 || b.Rejected[Shared] == 0 || p.a.Rejected[Shared]+p.b.Rejected[Shared] == 0 || p.isUnknown {
		t.Errorf("rejected by themselves %v, %v; in the comparison %v, %v, unknown %v", a.Rejected, b.Rejected, p.a.Rejected, p.b.Rejected, p.isUnknown)
	}
	for i := range p.rounds {
		if x, y := &p.a.Samples[i], &p.b.Samples[i]; p.a.probed(x).Shared() && p.a.counts(x) || p.b.probed(y).Shared() && p.b.counts(y) {
			t.Fatalf("round %d: a sample on a shared core counts", i)
		}
	}
	c, err := Compare(a, b, 0)
	if err != nil || !c.Ratio.Covers(1) || c.Outcome != stats.Undecided {
		t.Errorf("%+v: %v", c, err)
	}
}
