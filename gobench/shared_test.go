package gobench

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"chronoscope/env"
	"chronoscope/stats"
)

// sharedRunner runs benchmarks on cores whose sibling is busy now and then, which makes independent
// instructions take half as long again.
type sharedRunner struct {
	*simulated
	busy  func(run int) bool
	costs float64 // by what share the benchmark takes longer meanwhile
	spare bool    // the old revision takes no longer
	// blind runs tell nothing of the sharing; blindNow those of the new revision.
	blind, blindNow bool
}

func (s *sharedRunner) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	busy := s.busy(s.runs)
	usualNs := s.truthNs
	if busy && !(s.spare && b.Revision != "") {
		s.truthNs *= 1 + s.costs
	}
	o, err := s.simulated.Run(ctx, b, n, traced)
	s.truthNs = usualNs
	if busy && !s.blind && !(s.blindNow && b.Revision == "") {
		o.SlowedBefore, o.SlowedAfter = 0.5, 0.5
	}
	return o, err
}

// A busy hyperthread sibling slows a benchmark by 30 %, unseen by its own times and the kernel's
// counts: 1,300 ns were trusted for 1,000. Repetitions beside it are left out where there are others.
// A benchmark that it does not slow keeps them all.
func TestSharedCore(t *testing.T) {
	always := func(int) bool { return true }
	phases := func(run int) bool { return run/20%2 == 0 }
	for _, c := range []struct {
		name    string
		busy    func(int) bool
		costs   float64
		blind   bool
		trusted bool
		says    string
		rejects bool
		truthNs float64
	}{
		{"always", always, 0.3, false, false, "the core was shared", false, 1300},
		{"always, no probe", always, 0.3, true, true, "", false, 1300},
		{"comes and goes", phases, 0.3, false, true, "", true, 1000},
		{"comes and goes, a chain", phases, 0, false, true, "", false, 1000},
		{"never", func(int) bool { return false }, 0.3, false, true, "", false, 1000},
	} {
		for seed := range uint64(5) {
			s, noise := newShared(seed, 1, 1000)
			setting := Setting{Checks: env.ChecksOf(noise), CPUs: 1}
			runner := &sharedRunner{simulated: s, busy: c.busy, costs: c.costs, blind: c.blind}
			plan := DefaultPlan
			plan.LeastRepetitions = 24
			all, err := Measure(background, runner, [][]Benchmark{{{Name: "BenchmarkWork"}}}, plan, setting, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := Conclude(all[0][0], plan, setting)
			if (r.Verdict == stats.Trusted) != c.trusted || !strings.Contains(strings.Join(r.Reasons, "\n"), c.says) {
				t.Errorf("%s, seed %d: %s %q", c.name, seed, r.Verdict, r.Reasons)
			}
			if (r.Rejected > 0) != c.rejects || !r.Estimate.Covers(c.truthNs) {
				t.Errorf("%s, seed %d: %v, %d of %d left out, want %v", c.name, seed, r.Estimate, r.Rejected, len(r.Repetitions), c.truthNs)
			}
		}
	}
}

// One of two equal revisions leaves out the repetitions beside a busy hyperthread, and the other one does not, since its probes
// missed it: its slowed repetitions were set beside those of the first that nothing slowed, and all ratios were shifted.
func TestSharedRepetitionsThatOneLeavesOut(t *testing.T) {
	s, noise := newShared(1, 1, 1000)
	setting := Setting{Checks: env.ChecksOf(noise), CPUs: 1}
	rng := rand.New(rand.NewPCG(1, 2))
	runner := &sharedRunner{simulated: s, busy: func(int) bool { return rng.IntN(10) < 7 }, costs: 0.3, blindNow: true}
	plan := DefaultPlan
	plan.LeastRepetitions = 24
	all, err := Measure(background, runner, [][]Benchmark{{{Name: "BenchmarkWork", Revision: "then"}, {Name: "BenchmarkWork"}}}, plan, setting, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, b := Conclude(all[0][0], plan, setting), Conclude(all[0][1], plan, setting)
	c := Compare(a, b, 0, 1)
	if !a.leftShared || b.leftShared || !c.Ratio.Covers(1) || math.Abs(c.Ratio.Value-1) > 0.1 || c.pairs.Len() != len(b.Repetitions) || c.Why == "" {
		t.Errorf("left out: %v, %v; %d of %d pairs: %+v", a.leftShared, b.leftShared, c.pairs.Len(), len(b.Repetitions), c.Ratio)
	}
}

// A hyperthread slows the new revision by 30 %, and the old one not at all. Alone both take as long, and the repetitions
// without it say so: those beside it are in no pair, although only one of both leaves them out.
func TestSharingThatSlowsOneRevision(t *testing.T) {
	held := 0
	const seeds = 20
	for seed := range uint64(seeds) {
		s, noise := newShared(seed, 1, 1000)
		setting := Setting{Checks: env.ChecksOf(noise), CPUs: 1}
		rng := rand.New(rand.NewPCG(seed, 3))
		runner := &sharedRunner{simulated: s, busy: func(int) bool { return rng.IntN(5) == 0 }, costs: 0.3, spare: true}
		plan := DefaultPlan
		plan.LeastRepetitions = 60
		all, err := Measure(background, runner, [][]Benchmark{{{Name: "BenchmarkWork", Revision: "then"}, {Name: "BenchmarkWork"}}}, plan, setting, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, b := Conclude(all[0][0], plan, setting), Conclude(all[0][1], plan, setting)
		c := Compare(a, b, 0, 1)
		if a.leftShared || !b.leftShared {
			t.Errorf("seed %d: left out: %v, %v", seed, a.leftShared, b.leftShared)
		}
		if c.Ratio.Covers(1) && c.pairs.Len() < len(b.Repetitions) {
			held++
		}
	}
	if held < atLeast(seeds) {
		t.Errorf("%d of %d ratios hold 1", held, seeds)
	}
}

// beside is a runner beside which a program on another CPU sweeps memory in some runs, which makes the
// benchmark take a fifth longer.
type beside struct {
	*simulated
	sweeps func(run int) bool
	seen   bool
}

func (b *beside) Run(ctx context.Context, bench Benchmark, n int, traced bool) (Observation, error) {
	usualNs, sweeps := b.truthNs, b.sweeps(b.runs)
	if sweeps {
		b.truthNs *= 1.2
	}
	o, err := b.simulated.Run(ctx, bench, n, traced)
	b.truthNs = usualNs
	if sweeps && b.seen {
		o.OthersNs = o.WallNs
	}
	return o, err
}

// A neighbour on another CPU that uses the caches and the memory bus at the same rate all the time
// shows in no time of the benchmark: 1,200 ns were trusted for 1,000. What other processes used of the
// CPUs meanwhile is known, and without them the figure is trusted.
func TestNeighboursOnOtherCPUs(t *testing.T) {
	for name, c := range map[string]struct {
		sweeps        func(int) bool
		seen, trusted bool
	}{
		"always":              {func(int) bool { return true }, true, false},
		"always, not seen":    {func(int) bool { return true }, false, true},
		"in half of the time": {func(run int) bool { return run/30%2 == 0 }, true, false},
		"never":               {func(int) bool { return false }, true, true},
	} {
		for seed := range uint64(5) {
			s, noise := newShared(seed, 1, 1000)
			setting := Setting{Checks: env.ChecksOf(noise), CPUs: 1}
			plan := DefaultPlan
			plan.LeastRepetitions = 24
			all, err := Measure(background, &beside{s, c.sweeps, c.seen}, [][]Benchmark{{{Name: "BenchmarkWork"}}}, plan, setting, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := Conclude(all[0][0], plan, setting)
			says := strings.Contains(strings.Join(r.Reasons, "\n"), "other programs used other CPUs")
			if (r.Verdict == stats.Trusted) != c.trusted || says != (name == "always") {
				t.Errorf("%s, seed %d: %v %s %q", name, seed, r.Estimate, r.Verdict, r.Reasons)
			}
		}
	}
}
