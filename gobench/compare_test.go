package gobench

import (
	"math"
	"testing"

	"chronoscope/stats"
)

// unequal is a series whose process's CPU time is known to a fifth, and whose timer is exact;
// it slept for that share of it, or a hypervisor had the CPU.
func unequal(sleptShare float64) *Series {
	s := &Series{Benchmark: Benchmark{Name: "BenchmarkX"}, few: 10, many: 50}
	for i := range 12 {
		timedNs := 1e6 * (1 + 0.002*float64(i%3))
		cpuNs := timedNs * (1 - sleptShare + 0.1*float64(i%4-1)*sleptShare)
		of := func(n int) Observation {
			return Observation{N: n, Procs: 1, TimedNs: float64(n) * timedNs, WallNs: float64(n)*timedNs + 1e6, CPUNs: float64(n)*cpuNs + 1e6}
		}
		s.Repetitions = append(s.Repetitions, Repetition{Few: of(10), Many: of(50), Traced: true})
	}
	return s
}

// Where the figure of one of two rests on its timer and that of the other on its CPU time,
// though neither waited, they are compared by their timers. In 15 of 48 such pairs nothing
// but the two intervals was left of the comparison: half its interval was 20 % wide.
func TestPairsOnOneBasis(t *testing.T) {
	a, b := Conclude(unequal(0), QuickPlan, Setting{CPUs: 2}), Conclude(unequal(0.03), QuickPlan, Setting{CPUs: 2})
	if a.Basis != Timer || b.Basis != CPUTime {
		t.Fatalf("they rest on %s and %s", a.Basis, b.Basis)
	}
	for _, two := range [][2]*Result{{a, b}, {b, a}} {
		c := Compare(two[0], two[1], 0.02, 1)
		if c.Basis != Timer || c.Ratio.Value != 1 || c.Ratio.RelativeHalfWidth() > 1e-6 || c.Outcome != stats.Same {
			t.Errorf("on %s: %+v, %s", c.Basis, c.Ratio, c.Outcome)
		}
	}
	for _, c := range []struct {
		a, b Result
		want Basis
	}{
		{Result{Summary: Summary{Basis: CPUTime}, timed: times{kind: kind{alone: true}}}, Result{Summary: Summary{Basis: Timer}, timed: times{kind: kind{alone: true, undelayed: true}}}, CPUTime},
		{Result{Summary: Summary{Basis: Timer}, timed: times{kind: kind{undelayed: true}}}, Result{Summary: Summary{Basis: CPUTime}, timed: times{kind: kind{alone: true}}}, Bounds},
		{Result{Summary: Summary{Basis: Bounds}}, Result{Summary: Summary{Basis: Timer}, timed: times{kind: kind{undelayed: true}}}, Bounds},
		{Result{Summary: Summary{Basis: CPUTime}, timed: times{kind: kind{alone: true}}}, Result{Summary: Summary{Basis: CPUTime}, timed: times{kind: kind{alone: true}}}, CPUTime},
	} {
		if got := commonBasis(&c.a, &c.b); got != c.want {
			t.Errorf("%+v and %+v: compared by %s, want %s", c.a, c.b, got, c.want)
		}
	}
}

// Two benchmarks of which no time is known rest on nothing: a comparison of them crashed.
func TestTimesThatAreNotKnown(t *testing.T) {
	s := &Series{Benchmark: Benchmark{Name: "BenchmarkX"}}
	for i := range 13 {
		of := func(n int) Observation {
			ns := 200e6 - 1e6*float64(n) + 1e5*float64(i%3)
			return Observation{N: n, Procs: 1, TimedNs: ns, WallNs: ns + 3e6, CPUNs: ns + 3e6}
		}
		s.Repetitions = append(s.Repetitions, Repetition{Few: of(2), Many: of(4), Traced: true})
	}
	r := Conclude(s, QuickPlan, Setting{CPUs: 2})
	if r.Basis != "" {
		t.Fatalf("it rests on %s: %v", r.Basis, r.Estimate)
	}
	if c := Compare(r, r, 0.02, 1); c.Outcome != stats.Undecided || c.Why == "" {
		t.Errorf("%s: %q", c.Outcome, c.Why)
	}
}

// Two revisions with the same threads are delayed alike. Others are not: if one has more threads, if it waits longer
// than the other one, or if either blocks, so that it may wait for another process.
func TestDelayedAlike(t *testing.T) {
	alone := kind{alone: true, runnable: 1.03, waitPerTimed: 0.02}
	changed := func(change func(*kind)) kind { k := alone; change(&k); return k }
	for name, c := range map[string]struct {
		k    kind
		want bool
	}{
		"the same":            {alone, true},
		"a little more":       {changed(func(k *kind) { k.runnable, k.waitPerTimed = 1.1, 0.025 }), true},
		"hardly any wait":     {changed(func(k *kind) { k.waitPerTimed = 0.017 }), true},
		"two threads":         {changed(func(k *kind) { k.runnable = 1.9 }), false},
		"not alone":           {changed(func(k *kind) { k.alone = false }), false},
		"waits twice":         {changed(func(k *kind) { k.waitPerTimed = 0.04 }), false},
		"may block":           {changed(func(k *kind) { k.mayBlock = true }), false},
		"unknown":             {changed(func(k *kind) { k.runnable, k.waitPerTimed = math.NaN(), math.NaN() }), false},
		"each call by itself": {changed(func(k *kind) { k.apart = true }), false},
	} {
		if got := delayedAlike(alone, c.k) && delayedAlike(c.k, alone); got != c.want {
			t.Errorf("%s: delayed alike: %v", name, got)
		}
	}
}

// Others delayed both revisions by up to a tenth of their time, by how much is not known. Since both have the same
// threads, and wait as long, the ratio is known all the same; if one blocks, it is not.
func TestDelaysThatBothShare(t *testing.T) {
	result := func(factor float64, mayBlock bool) *Result {
		k := delayed(20, factor).kind
		k.mayBlock = mayBlock
		return &Result{timed: times{kind: k}}
	}
	for _, blocks := range []bool{false, true} {
		pairs, at, _ := pairsOn(Bounds, result(1, blocks), result(1.05, blocks))
		ratio := pairs.Compare(0, 1).Ratio
		if known := ratio.HalfWidth() < 0.005; len(at) != 20 || known == blocks || !ratio.Covers(1.05) {
			t.Errorf("it blocks: %v: %v to %v of %d pairs", blocks, ratio.Lo, ratio.Hi, len(at))
		}
	}
}

// By chance a few repetitions of one revision look as if it blocked. Those of both don't, so that the ratio is known; if
// half of them do, it is not.
func TestBlocksOfBothTell(t *testing.T) {
	for blocking, known := range map[int]bool{0: true, 7: true, 20: false} {
		first, second := delayed(20, 1), delayed(20, 1.05)
		for i := range blocking {
			first.kind.idle[i] = 2 * aloneWithin
		}
		first.kind.mayBlock = blocking > 5
		pairs, _, _ := pairsOn(Bounds, &Result{timed: first}, &Result{timed: second})
		if ratio := pairs.Compare(0, 1).Ratio; ratio.HalfWidth() < 0.005 != known || !ratio.Covers(1.05) {
			t.Errorf("%d of 20 repetitions seem to block: %v to %v", blocking, ratio.Lo, ratio.Hi)
		}
	}
}

// What chance makes of a revision's kind, in both bounds at once, does not shift the ratio of two that are equal.
func TestOneKindOfBoth(t *testing.T) {
	first, second := delayed(20, 1), delayed(20, 1)
	first.kind.runnable, first.kind.missingMost = 1.25, 0
	second.kind.runnable, second.kind.missingMost = 1.1, 0.1
	pairs, _, _ := pairsOn(Bounds, &Result{timed: first}, &Result{timed: second})
	if ratio := pairs.Compare(0, 1).Ratio; ratio.HalfWidth() > 0.005 || !ratio.Covers(1) {
		t.Errorf("%v to %v", ratio.Lo, ratio.Hi)
	}
}

// delayed returns the times of n repetitions, slower by a factor, that others delayed by up to a tenth.
func delayed(n int, factor float64) times {
	k := kind{runnable: 1 / 0.9, escaped: true, waitPerTimed: 0.1, cpus: 2, idle: make([]float64, n)}
	for i := range n {
		ns := 1e6 * factor * (1 + 1e-4*float64(i%5))
		o := func(n float64) Observation {
			return Observation{N: int(n), Procs: 2, TimedNs: n * ns, WallNs: n * ns, CPUNs: n * ns, WaitNs: 0.1 * n * ns}
		}
		k.used, k.at = append(k.used, Repetition{Few: o(1), Many: o(11), Traced: true}), append(k.at, i)
	}
	return times{kind: k}
}
