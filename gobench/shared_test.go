package gobench

import (
	"context"
	"strings"
	"testing"

	"chronoscope/stats"
)

// sharedRunner runs benchmarks on cores whose sibling is busy now and then, which makes independent
// instructions take half as long again.
type sharedRunner struct {
	*simulated
	busy  func(run int) bool
	costs float64 // by what share the benchmark takes longer meanwhile
	// blind runs tell nothing of the sharing.
	blind bool
}

func (s *sharedRunner) Run(ctx context.Context, b Benchmark, n int, traced bool) (Observation, error) {
	busy := s.busy(s.runs)
	usualNs := s.truthNs
	if busy {
		s.truthNs *= 1 + s.costs
	}
	o, err := s.simulated.Run(ctx, b, n, traced)
	s.truthNs = usualNs
	if busy && !s.blind {
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
			setting := Setting{Noise: noise, CPUs: 1}
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
