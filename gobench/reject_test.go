package gobench

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"chronoscope/stats"
)

// wasStopped says what the simulated machine did to a repetition that counts.
func wasStopped(rep Repetition) bool { return len(rep.Few.Metrics)+len(rep.Many.Metrics) > 0 }

// Runs that are stopped in their midst, as by SIGSTOP, are left out: those, and no
// others, unless there are enough of them to be how the benchmark is. The rest
// is measured as well as without them.
func TestStoppedRuns(t *testing.T) {
	const n = 200
	covered, stopped, wrong := 0, 0, 0
	results := make([]*Result, n)
	truths := make([]float64, n)
	parallel(n, func(i int) {
		rng := rand.New(rand.NewPCG(uint64(i), 0x570))
		truths[i] = logUniform(rng, 1, 10e6)
		s, noise := newShared(uint64(i), 1, truths[i])
		s.stopNs = logUniform(rng, 50e6, 5e9)
		s.stops = func(n int) bool { return n > fewestFew && rng.IntN(12) == 0 }
		plan := DefaultPlan
		plan.MaxTime *= 10
		results[i] = measureOne(s, noise, plan)
	})
	for i, r := range results {
		rejected := map[int]bool{}
		for _, x := range r.Rejections {
			rejected[x.Repetition] = true
		}
		if r.Rejected != len(rejected) || r.Estimate.N+r.Rejected != len(r.Repetitions) {
			t.Errorf("seed %d: %d rejected, for %d reasons; %d of %d count", i, r.Rejected, len(rejected), r.Estimate.N, len(r.Repetitions))
		}
		if r.Estimate.N < DefaultPlan.LeastRepetitions {
			t.Errorf("seed %d: %d repetitions are left", i, r.Estimate.N)
		}
		var those []int
		for k, rep := range r.Repetitions {
			if wasStopped(rep) {
				those = append(those, k)
			}
		}
		stopped += len(those)
		if 3*len(those) <= len(r.Repetitions) && !slices.Equal(those, slices.Sorted(maps.Keys(rejected))) {
			wrong++
			t.Logf("seed %d: %v were stopped of %d, and rejected %+v", i, those, len(r.Repetitions), r.Rejections)
		}
		if r.Estimate.Covers(truths[i]) {
			covered++
		}
	}
	t.Logf("%d repetitions were stopped, %d benchmarks judged wrongly; %d of %d intervals cover", stopped, wrong, covered, n)
	if stopped < n/2 {
		t.Errorf("%d repetitions were stopped: the machine is not what the test takes it for", stopped)
	}
	if wrong > 0 {
		t.Errorf("in %d of %d others were rejected than those that were stopped", wrong, n)
	}
	if covered < atLeast(n) {
		t.Errorf("%d of %d intervals cover", covered, n)
	}
}

// A benchmark that blocks by itself may do so for longer at times: that is its time.
func TestBlockingIsNotRejected(t *testing.T) {
	for seed := range uint64(20) {
		s, noise := newShared(seed, 1, 200e3)
		s.sleepNs = 800e3
		s.stopNs, s.stops = 50e6, func(int) bool { return s.rng.IntN(12) == 0 }
		if r := measureOne(s, noise, DefaultPlan); r.Rejected > 0 {
			t.Errorf("seed %d: %+v", seed, r.Rejections)
		}
	}
}

// series are repetitions of 10 and 50 iterations of a millisecond; some of them stood
// still.
func series(stillNs ...float64) *Series {
	s := &Series{few: 10, many: 50}
	for _, ns := range stillNs {
		run := func(n int, stillNs float64) Observation {
			ranNs := 1e6 * float64(n)
			return Observation{N: n, Procs: 1, TimedNs: ranNs + stillNs, WallNs: ranNs + stillNs + 3e6, CPUNs: ranNs + 3e6}
		}
		s.Repetitions = append(s.Repetitions, Repetition{Few: run(10, 0), Many: run(50, ns), Traced: true})
	}
	return s
}

func TestRejectionsAreSaid(t *testing.T) {
	s := series(0, 0, 0, 0, 0, 0, 0, 1e9)
	s.Repetitions[7].Many.MajorFaults = 12
	r := Conclude(s, DefaultPlan, Setting{CPUs: 1})
	if r.Rejected != 1 || r.Rejections[0].Repetition != 7 || r.Rejections[0].Why != "a run stood still for 1s and waited 12 times for memory from a disk" {
		t.Errorf("%+v", r.Rejections)
	}
	if says(r, "left out") {
		t.Errorf("one of eight is worth a word: %q", r.Reasons)
	}
	r = Conclude(series(0, 0, 0, 0, 0, 1e9, 1e9, 1e9), DefaultPlan, Setting{CPUs: 1})
	if r.Rejected != 3 || r.Verdict == stats.Trusted || !says(r, "3 of 8 repetitions were left out, the first because a run stood still for 1s") {
		t.Errorf("%d rejected: %q", r.Rejected, r.Reasons)
	}
	// Where most do, that is how the benchmark is.
	if r = Conclude(series(0, 0, 0, 1e9, 1e9, 1e9, 1e9), DefaultPlan, Setting{CPUs: 1}); r.Rejected != 0 {
		t.Errorf("%d rejected: %q", r.Rejected, r.Reasons)
	}
}

// Pairs stay pairs where one of two is left out.
func TestPairsOfWhatIsLeft(t *testing.T) {
	known := func(at []int, ns ...float64) *Result {
		k := kind{at: at, undelayed: true, alone: true}
		for _, ns := range ns {
			k.used = append(k.used, Repetition{Few: Observation{N: 1, TimedNs: ns}, Many: Observation{N: 11, TimedNs: 11 * ns}})
		}
		return &Result{Summary: Summary{Basis: Timer}, timed: times{kind: k}}
	}
	a, b := known([]int{0, 1, 3}, 10, 20, 40), known([]int{0, 2, 3}, 20, 60, 80)
	if c := Compare(a, b, 0.01, 1); c.Ratio.N != 2 || math.Abs(c.Ratio.Value-2) > 1e-12 {
		t.Errorf("%+v", c.Ratio)
	}
}

// A measurement that is interrupted after its first repetition, traced or not, has a document:
// NaN among the repetitions' times lost all of it.
func TestOneRepetitionHasADocument(t *testing.T) {
	for _, traced := range []bool{true, false} {
		s := series(0)
		s.Repetitions[0].Traced = traced
		s.Repetitions[0].Many.Procs, s.Repetitions[0].Many.WaitNs = 2, 20e6
		r := Conclude(s, DefaultPlan, Setting{CPUs: 2})
		if _, err := json.Marshal(NewReport(r)); err != nil {
			t.Errorf("traced %v: %v", traced, err)
		}
		if r.Verdict == stats.Trusted || (r.Basis == "") != math.IsNaN(r.Estimate.Value) {
			t.Errorf("traced %v: %s, on %q: %v", traced, r.Verdict, r.Basis, r.Estimate)
		}
	}
}

// Of one of two equal revisions it is known which repetitions stood still, of the other one not: then none is left out of the pairs.
func TestStandstillsOfOneRevision(t *testing.T) {
	k := func(at ...int) kind { return kind{used: make([]Repetition, len(at)), at: at} }
	a := &Result{whole: k(0, 1, 2), moving: k(0, 2), timed: times{kind: k(0, 2)}, standstillsTold: true}
	b := &Result{whole: k(0, 1, 2), moving: k(0, 1, 2), timed: times{kind: k(0, 1, 2)}}
	for _, c := range []struct {
		told bool
		then []int
	}{{false, []int{0, 1, 2}}, {true, []int{0, 2}}} {
		b.standstillsTold = c.told
		first, second, isUnknown := kindsToPair(a, b)
		if !slices.Equal(first.at, c.then) || !slices.Equal(second.at, []int{0, 1, 2}) || isUnknown {
			t.Errorf("told of both: %v: %v and %v", c.told, first.at, second.at)
		}
	}
}
