package kbest

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// beside is work of some length a call beside a neighbour, which adds so many waits of 20 ns on average
// to each call while it runs.
type beside struct {
	name    string
	ns      float64
	waits   int
	running func(nowNs float64) bool
	exact   bool // what the neighbour used is known exactly
	want    stats.Verdict
}

func (b beside) measure(seed uint64) *Result {
	s := newSimulated(seed, clocktest.Sharing{LookNs: 1000, Timers: []clocktest.Timer{{PeriodNs: 4e6, Kernel: true, Cost: clocktest.Above(2e3, 1e3, 0.5)}}}, 1, 10)
	rng := rand.New(rand.NewPCG(seed, 0xbe))
	last, used := s.machine.NowNs(), 0.0
	follow := func() {
		for now := s.machine.NowNs(); last < now; last += 1e5 {
			if b.running(last) {
				used += 1e5
			}
		}
	}
	since, sinceUsed := last, 0.0
	s.station.Neighbours = func() Neighbours {
		follow()
		n := Neighbours{OthersNs: used - sinceUsed, ElsewhereNs: used - sinceUsed, PassedNs: s.machine.NowNs() - since, Exact: b.exact}
		since, sinceUsed = s.machine.NowNs(), used
		if !b.exact {
			n.OthersNs = 10e6 * math.Floor(n.OthersNs/10e6+rng.Float64())
			n.ElsewhereNs = n.OthersNs
		}
		return n
	}
	plan := DefaultPlan
	plan.Seed, plan.MaxTime = seed, 200*time.Millisecond
	results, err := s.station.Measure(background, plan, Subject{Run: func(n int) {
		ns := float64(n) * b.ns
		if b.running(s.machine.NowNs()) {
			waits := float64(n * b.waits) // their sum is nearly normal
			ns += 20 * (waits + math.Sqrt(waits)*rng.NormFloat64())
		}
		s.machine.Run(ns)
	}})
	if err != nil {
		panic(err)
	}
	return results[0]
}

// A neighbour that uses memory all the time slows what waits for memory, and no chain of multiplications.
func TestNeighbours(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	always, never := func(float64) bool { return true }, func(float64) bool { return false }
	inTurns := func(nowNs float64) bool { return math.Mod(nowNs, 200e6) < 100e6 }
	for _, b := range []beside{
		{"memory, always", 1e3, 20, always, true, stats.Suspect},
		{"memory, always, known in steps", 1e3, 20, always, false, stats.Suspect},
		{"memory, a call of 1 ms, always", 1e6, 20e3, always, true, stats.Suspect},
		{"a little memory, always", 1e3, 2, always, true, stats.Suspect},
		{"memory, none", 1e3, 20, never, true, stats.Trusted},
		{"chain, always", 1e3, 0, always, true, stats.Trusted},
		{"chain, always, known in steps", 1e3, 0, always, false, stats.Trusted},
		{"chain of 1 ms, always", 1e6, 0, always, true, stats.Trusted},
		{"chain, in turns", 1e3, 0, inTurns, true, stats.Trusted},
	} {
		for seed := range uint64(3) {
			r := b.measure(seed)
			if r.Verdict != b.want {
				t.Errorf("%s, seed %d: %s, want %s: %+v %v", b.name, seed, r.Verdict, b.want, r.Estimate, r.Reasons)
			}
			if r.Verdict == stats.Trusted && !r.Estimate.Covers(b.ns) {
				t.Errorf("%s, seed %d: %+v, want %g ns", b.name, seed, r.Estimate, b.ns)
			}
		}
	}
	b := beside{"memory, in turns", 1e3, 20, inTurns, true, stats.Trusted}
	for seed := range uint64(3) {
		if r := b.measure(seed); r.Verdict == stats.Trusted && math.Abs(r.Estimate.Value/b.ns-1) > 0.01 {
			t.Errorf("%s, seed %d: trusted, %+v %v", b.name, seed, r.Estimate, r.Reasons)
		}
	}
}
