package kbest

import (
	"math"
	"testing"

	"chronoscope/clock/clocktest"
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

// Slow calls last longer than the sibling is idle, and samples on a shared core are left out: the slow
// calls were, and the others trusted.
func TestSlowCallsOnASharedCore(t *testing.T) {
	const ns = 10e3
	for seed := range uint64(4) {
		s := shareCore(seed, clocktest.Sibling{Slows: 0.2, BusyNs: 3e6, IdleNs: 3e6})
		calls := 0
		r := measureOne(t, s, Subject{Run: func(n int) {
			for range n {
				if calls++; calls%1000 == 0 {
					s.machine.RunWide(500 * ns)
				}
				s.machine.RunWide(ns)
			}
		}})
		notTrustedBelow(t, r, ns*1.5)
	}
}

// Work has slow phases in which the core happens to be shared. These samples were left out as slowed
// by sharing, and the fast phases trusted: 2,206 ns for 2,670.
func TestPhasesOnASharedCore(t *testing.T) {
	const ns, phaseNs = 10e3, 150e6
	for seed := range uint64(4) {
		s := quiet(seed)
		slow := func() bool { return math.Mod(s.machine.NowNs(), 2*phaseNs) < phaseNs }
		probes := 0
		s.station.Slowed = func() float64 {
			probes++
			if often := probes%4 > 0; often == slow() {
				return 0.5
			}
			return 0
		}
		r := measureOne(t, s, Subject{Run: func(n int) {
			for range n {
				if slow() {
					s.machine.Run(ns / 2)
				}
				s.machine.Run(ns)
			}
		}})
		notTrustedBelow(t, r, ns*1.25)
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
