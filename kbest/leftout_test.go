package kbest

import (
	"math"
	"strings"
	"testing"

	"chronoscope/machine"
	"chronoscope/stats"
)

// notTrustedBelow says that a subject that costs truth on the whole is not trusted to cost less.
func notTrustedBelow(t *testing.T, r *Result, truth float64) {
	t.Helper()
	if m := (measured{result: r, truth: truth}); m.wrong() {
		t.Errorf("%+v of %.4g is trusted; rejected %v", r.Estimate, truth, r.Rejected)
	}
}

// A subject that asks for a garbage collection at each 100th call pays for it. The samples with a
// collection were left out and the others trusted: 10.8 µs for 11.5.
func TestOwnCollections(t *testing.T) {
	const ns = 10e3
	for seed := range uint64(4) {
		s := quiet(seed)
		var collections int64
		s.station.Collections = func() int64 { return collections }
		calls := 0
		r := measureOne(t, s, Subject{Run: func(n int) {
			for range n {
				if calls++; calls%100 == 0 {
					s.machine.Run(7 * ns)
					collections++
				}
				s.machine.Run(ns)
			}
		}})
		notTrustedBelow(t, r, ns*1.07)
	}
}

// Samples on a shared core are left out, those with slow calls of the work's own among them. What sharing
// can't explain moves the mean: 327 ns were trusted of calls of which one in 30,000 takes 1.6 ms.
func TestSlowCallsOnASharedCore(t *testing.T) {
	for times, want := range map[float64]float64{1.4: 0, 2.5: 0, 10: 0.75} { // of the time of the others
		c := conclusion{m: &measurement{}, Result: &Result{}}
		for range 3 {
			c.Samples = append(c.Samples, Sample{N: 1, Use: machine.ThreadUse{CPUNs: 1e6}})
		}
		c.Samples = append(c.Samples, Sample{N: 1, Use: machine.ThreadUse{CPUNs: int64(times * 1e6)}, Rejected: Shared})
		if got := c.leftOutMoves(); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v times as long: it moves the mean by %v, want %v", times, got, want)
		}
	}
}

// Where the samples that were left out are the fast ones, a call takes less with them: not "-13 % more", and they are not
// the slow ones.
func TestFastSamplesAreLeftOut(t *testing.T) {
	for ns, want := range map[int64]string{2e6: "takes 40 % less on the whole: they may be the usual ones", 20e6: "takes 50 % more on the whole: they may be the slow ones"} {
		c := conclusion{m: &measurement{}, Result: &Result{Judgement: stats.NewJudgement()}}
		for range 3 {
			c.Samples = append(c.Samples, Sample{N: 1, Use: machine.ThreadUse{CPUNs: 10e6}})
		}
		for range 3 {
			c.Samples = append(c.Samples, Sample{N: 1, Use: machine.ThreadUse{CPUNs: ns}, Rejected: Preempted})
		}
		c.full = []*Sample{&c.Samples[0]}
		c.judgeWhole()
		if said := strings.Join(c.Reasons, "; "); !strings.Contains(said, want) {
			t.Errorf("%d ns: %q, want %q", ns, said, want)
		}
	}
}

// Work that is slower in phases in which the core happens to be shared is not slowed by that: the samples
// of a slow phase take as long on a core of their own. These were compared with those of fast phases,
// the slow ones left out, and 2,206 ns trusted for 2,670.
func TestPhasesOnASharedCore(t *testing.T) {
	const phase = 64
	for _, slows := range []bool{false, true} {
		c := conclusion{m: &measurement{}, Result: &Result{}}
		var samples []*Sample
		for i := range 8 * phase {
			slowPhase := i/phase%2 == 1
			x := &Sample{N: 1, RunNs: 1000}
			if slowPhase {
				x.RunNs = 1500
			}
			if slowPhase && i%4 > 0 || !slowPhase && i%4 == 0 { // three in four, and one in four
				x.SlowedBefore, x.SlowedAfter = 0.5, 0.5
				if slows {
					x.RunNs *= 1.5
				}
			}
			samples = append(samples, x)
		}
		if got := c.sharingOf(samples).Told(); got != slows {
			t.Errorf("sharing slows the work: %v, told: %v", slows, got)
		}
	}
}

// A neighbour begins between two blocks of samples, so that no block shows samples with it and without. These blocks were
// taken to say that sharing costs nothing.
func TestNeighbourThatBeginsBetweenBlocks(t *testing.T) {
	for _, late := range []int{0, 3} { // the neighbour begins that many samples after a block
		c := conclusion{m: &measurement{}, Result: &Result{}}
		var samples []*Sample
		for i := range 16 * blockOf {
			x := &Sample{N: 1, RunNs: 1000}
			if i >= 8*blockOf+late {
				x.RunNs, x.SlowedBefore, x.SlowedAfter = 1500, 0.5, 0.5
			}
			samples = append(samples, x)
		}
		if got := c.sharingOf(samples); !got.Told() {
			t.Errorf("%d samples after a block: %+v", late, got.Cost)
		}
	}
}

// Slow calls that add one to three percent are within what rare disturbances may take. The time of the
// fast calls was trusted, with an interval without them: ± 0.2 % and 2.8 % off.
func TestSlowCallsThatAddLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for _, o := range []rarely{
		{"1 in 700", 1 + 0.015*700, func(call int) bool { return call%700 == 0 }, 1. / 700},
		{"1 in 3000", 1 + 0.02*3000, func(call int) bool { return call%3000 == 0 }, 1. / 3000},
	} {
		const n = 4
		all := make([]measured, n)
		parallel(n, func(i int) { all[i] = o.measure(uint64(i), 1+3*(i%2), 30e3, withAll) })
		usable := 0
		for _, m := range all {
			notTrustedBelow(t, m.result, m.truth)
			if m.result.Verdict != stats.Unusable {
				usable++
			}
		}
		if usable == 0 {
			t.Errorf("%s: no result is usable", o.name)
		}
	}
}
