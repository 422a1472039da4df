package bytecode

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"chronoscope/stats"
)

// If the measuring thread was preempted during trials, the results from currentTimeMillis are suspect,
// both of Bernoulli and of Discrete. If it was not, they are not suspect.
func TestPreemptedTrialsAreSuspect(t *testing.T) {
	for _, preempted := range []bool{false, true} {
		w := newWorld(5)
		if preempted {
			w.interruptNs, w.everyNs = 4e6, 40e6
		}
		r := w.series(t, 8, 2, 300, 2).Result()
		timing, _ := r.Timing("iadd", Homogeneous)
		for _, m := range []Method{Discrete, Bernoulli} {
			found, ok := timing.By(m)
			said := slices.ContainsFunc(found.Reasons, func(why string) bool { return strings.Contains(why, "kept from running") })
			if !ok || said != preempted || preempted && found.Verdict == stats.Trusted {
				t.Errorf("preempted %v, by %s: %s, %q", preempted, m, found.Verdict, found.Reasons)
			}
		}
		if found, _ := timing.By(TSC); strings.Contains(strings.Join(found.Reasons, " "), "kept from running") {
			t.Errorf("the reference is judged by ticks: %q", found.Reasons)
		}
	}
}

// All times of an instruction that was given up are marked.
func TestGivenUpIsMarked(t *testing.T) {
	s := newWorld(6).series(t, 4, 2, 100, 1)
	s.Failures = []Failure{{Sequence: "iadd", Problem: "it crashed", Dropped: true}}
	timing, _ := s.Result().Timing("iadd", Homogeneous)
	judgements := []stats.Judgement{timing.Judgement}
	for _, found := range timing.Measured {
		judgements = append(judgements, found.Judgement)
	}
	for _, j := range judgements {
		if j.Verdict == stats.Trusted || strings.Count(strings.Join(j.Reasons, " "), "it crashed") != 1 {
			t.Errorf("%s, %q", j.Verdict, j.Reasons)
		}
	}
	if len(judgements) != 1+len(simulatedMethods) {
		t.Errorf("%d judgements", len(judgements))
	}
}

// If a few short stretches happen to see the same number of ticks, the time is not known better: 940 of
// 1,000 intervals hold it, and none has a width of 0.
func TestTicksOfFewStretches(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, stretches := range []int{2, 3, 4} {
		hits := 0
		for range 1000 {
			p := 0.3 + 0.3*random.Float64()
			all := make([]counted, stretches)
			for i := range all {
				all[i] = counted{passed: 10, trials: 1000}
				for range 10 {
					if random.Float64() < p {
						all[i].sum++
					}
				}
			}
			e := ticksATrial(all)
			if e.Covers(p * 10 / 1000) {
				hits++
			}
			if e.HalfWidth() <= 0 {
				t.Fatalf("%+v of %+v", e, all)
			}
		}
		if hits < 940 {
			t.Errorf("%d stretches: %d of 1000 intervals hold the truth", stretches, hits)
		}
	}
}

// A time that fewer than three virtual machines gave is not trusted, however narrow its interval: each machine lays out
// code and memory anew. In compiled modes two are started, and two are enough.
func TestFewMachinesAreSuspect(t *testing.T) {
	for _, c := range []struct {
		mode     Mode
		machines int
		few      bool
	}{
		{Interpreter, 1, true}, {Interpreter, 2, true}, {Interpreter, 3, false}, {C2, 1, true}, {C2, 2, false},
	} {
		s := newWorld(8).series(t, 4, 4, 300, 2)
		s.Mode = c.mode
		for i := range s.Starts[c.machines:] { // the others were lost before they timed iadd
			start := &s.Starts[c.machines+i]
			start.Stretches = slices.DeleteFunc(start.Stretches, func(x Stretch) bool { return x.Sequence == "iadd" })
		}
		timing, _ := s.Result().Timing("iadd", Homogeneous)
		for _, m := range []Method{TSC, Counter, Discrete} {
			found, ok := timing.By(m)
			said := strings.Contains(strings.Join(found.Reasons, " "), "of 4 virtual machines gave a time")
			if !ok || said != c.few || c.few && found.Verdict == stats.Trusted {
				t.Errorf("%s, %d machines, by %s: %s, %q", c.mode, c.machines, m, found.Verdict, found.Reasons)
			}
		}
	}
	e := newEvaluation(&Series{Mode: Interpreter, TSCHz: 1e9, Starts: []Start{{Methods: []Method{TSC}, Stretches: []Stretch{
		{Sequence: "i2l", Kept: map[Method]Sums{TSC: {Trials: 1, Cycles: 9}}}, {Sequence: emptyName, Kept: map[Method]Sums{TSC: {Trials: 1, Cycles: 5}}},
	}}}})
	if n := e.fewestMachines(mustLookup("i2l"), Homogeneous, TSC); n != 0 {
		t.Errorf("i2l rests on %d machines, and none has timed pop2", n)
	}
}

// A time that can't be told from zero is not trusted, and neither is one below zero. In compiled modes that is what is left
// of most instructions, and a longer run does not change it.
func TestNothingIsLeft(t *testing.T) {
	for _, c := range []struct {
		mode          Mode
		value, half   float64
		verdict       stats.Verdict
		says, saysNot string
	}{
		{C1, -0.0003, 0.002, stats.Suspect, "less than 0.01 ns", "longer"},
		{C2, 0, 0, stats.Suspect, "less than 0.01 ns", "longer"},
		{C2, 0.001, 0.014, stats.Suspect, "less than 0.02 ns", "longer"},
		{C2, -0.02, 0.005, stats.Suspect, "less than 0.03 ns", "longer"},
		{C2, 0.01, 0.07, stats.Unusable, "let the run take longer", "nothing"},
		{C2, 0.02, 0.002, stats.Trusted, "", "nothing"},
		{C2, -0.2, 0.01, stats.Suspect, "below zero", "nothing"},
		{Interpreter, -0.2, 0.01, stats.Suspect, "below zero", "nothing"},
		{Interpreter, 0.02, 0.002, stats.Trusted, "", "nothing"},
	} {
		found := Measured{Time: stats.Estimate{Value: c.value, Lo: c.value - c.half, Hi: c.value + c.half}, Judgement: stats.NewJudgement()}
		found.judge(c.mode, nil, 4, 0)
		said := strings.Join(found.Reasons, "; ")
		if found.Verdict != c.verdict || !strings.Contains(said, c.says) || strings.Contains(said, c.saysNot) {
			t.Errorf("%s, %v ± %v: %s, %q, want %s, %q", c.mode, c.value, c.half, found.Verdict, found.Reasons, c.verdict, c.says)
		}
	}
}
