package kbest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// replayed measures work of known length on what a CPU of a real machine lost. without
// switches corrections off.
func replayed(r *clocktest.Recording, seed uint64, ns float64, without func(*Station)) measured {
	c := trialCase{seed: seed, truthNs: ns, load: 1}
	s := newSimulated(seed, clocktest.Sharing{LookNs: 1500, Recorded: r}, 1, 10)
	without(s.station)
	plan := DefaultPlan
	plan.Seed = seed
	if ns >= 10e6 {
		plan.MaxTime = 2 * time.Second
	}
	results, err := s.station.Measure(background, plan, s.work(ns))
	if err != nil {
		panic(err)
	}
	return measured{trialCase: c, result: results[0], truth: ns}
}

func withAll(*Station) {}

// recorded are all recordings.
func recorded(t *testing.T) []clocktest.Recording {
	t.Helper()
	all, err := clocktest.Recordings()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Work of 10 µs to 1 s on what CPUs of three real machines lost: covered for each recording and
// for each duration, without a jump between short and long samples, and for short ones no
// further off than the source's K = 3 on the same samples. The limits of errors and widths hold for
// CPUs that lose 1.5 %, as those of the first two machines, and in proportion for those that lose
// more than 2 %.
func TestReplayedNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	n := cases(24)
	strata, wider := map[string]*tally{}, map[string]float64{}
	for _, r := range recorded(t) {
		all := make([]measured, n)
		parallel(n, func(i int) {
			all[i] = replayed(&r, uint64(i), 10e3*math.Pow(1e5, (float64(i)+0.5)/float64(n)), withAll)
		})
		for _, m := range all {
			for _, name := range []string{fmt.Sprintf("%-12s %s", r.Name, m.durationStratum()), r.Name, m.durationStratum()} {
				if strata[name] == nil {
					strata[name] = &tally{}
				}
				strata[name].add(m)
				if lost := lostShare(r); lost > 0.02 {
					wider[name] = math.Max(wider[name], lost/0.015)
				}
			}
			if m.wronglyTrusted() || m.wrong() {
				t.Errorf("wrongly trusted: %s, seed %d: %.4g ns measured as %+v", r.Name, m.seed, m.truth, m.result.Estimate)
			}
			if samples := m.result.Samples; m.truth < 100e3 && m.result.Estimate.Value < slices.MinFunc(samples, bySpent).spentPerCall()*(1-0.001) {
				t.Errorf("%s: %.4g ns measured as %+v, less than the least sample", r.Name, m.truth, m.result.Estimate)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(strata)) {
		c := strata[name]
		width, off, k3 := quantile(c.widths, 0.5), quantile(c.errors, 0.5), quantile(c.wallErrors, 0.5)
		t.Logf("%-28s %4d: %4d usable, %4d trusted, %4d covered; half-width median %.2g %%; error median %.2g %%, p95 %.2g %%; K = 3 median %.2g %%, p95 %.2g %%",
			name, c.n, c.usable, c.trusted, c.covered, 100*width, 100*off, 100*quantile(c.errors, 0.95), 100*k3, 100*quantile(c.wallErrors, 0.95))
		if c.covered < atLeast(c.usable) {
			t.Errorf("%s: %d of %d intervals cover, want %d", name, c.covered, c.usable, atLeast(c.usable))
		}
		most, widest := math.Max(k3, 0.002), 0.0075
		switch {
		case strings.HasSuffix(name, "10 to 100 ms"):
			most, widest = 0.01, 0.015
		case strings.HasSuffix(name, "100 ms to 1 s"):
			most, widest = 0.01, 0.05
		case !strings.Contains(name, " "): // all durations
			most, widest = 0.01, 0.02
		}
		if more, ok := wider[name]; ok {
			most, widest = more*most, more*widest
		}
		if off > most || width > widest {
			t.Errorf("%s: off by %.2g %% ± %.2g %%, want %.2g %% ± %.2g %% or less", name, 100*off, 100*width, 100*most, 100*widest)
		}
	}
}

// lostShare returns the share of the time in which no other thread had the CPU that it lost.
func lostShare(r clocktest.Recording) float64 {
	own, lost := r.Ns, 0.0
	for _, g := range r.Gaps {
		if g.Preempted {
			own -= g.Ns
		} else {
			lost += g.Ns
		}
	}
	return lost / own
}

func bySpent(a, b Sample) int { return int(math.Copysign(1, a.spentPerCall()-b.spentPerCall())) }

func (x Sample) spentPerCall() float64 { return x.spentNs() / float64(x.N) }

// Each correction matters: without it the same work on the same noise is found off by more.
func TestWithoutCorrections(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	for _, c := range []struct {
		name, recording string
		ns              float64
		without         func(*Station)
	}{
		{"looks", "xeon-quiet", 30e6, func(s *Station) { s.Spin = nil }},
		{"CPU time", "xeon-load4", 30e6, func(s *Station) { s.Use = nil }},
		{"the cost of switches", "epyc-load4", 8e6, func(s *Station) { s.off.switches = true }},
	} {
		recordings := recorded(t)
		r := &recordings[slices.IndexFunc(recordings, func(r clocktest.Recording) bool { return r.Name == c.recording })]
		const n = 24
		var with, without []float64
		for seed := range uint64(n) {
			with = append(with, math.Abs(replayed(r, seed, c.ns, withAll).error()))
			without = append(without, math.Abs(replayed(r, seed, c.ns, c.without).error()))
		}
		t.Logf("%s: off by %.2g %%, without by %.2g %%", c.name, 100*stats.Median(with), 100*stats.Median(without))
		if stats.Median(without) < 1.5*stats.Median(with) {
			t.Errorf("%s on %s: off by %.2g %% with, %.2g %% without", c.name, c.recording, 100*stats.Median(with), 100*stats.Median(without))
		}
	}
}

// Without the core's rate a core that is faster for a third of the time looks like work that varies.
func TestWithoutCoreRate(t *testing.T) {
	const ns, usual = 100e3, 0.8
	off := func(without func(*Station)) float64 {
		var all []float64
		for seed := range uint64(5) {
			s := newSimulated(seed, clocktest.Sharing{LookNs: 1000, Speeds: []float64{usual, usual, 1}, SpeedDwellNs: 3e6}, 1, 10)
			without(s.station)
			all = append(all, math.Abs(measureOne(t, s, s.work(ns)).Estimate.Value*usual/ns-1))
		}
		return stats.Median(all)
	}
	if with, without := off(withAll), off(func(s *Station) { s.CoreHz = nil }); without < 0.05 || without < 3*with {
		t.Errorf("off by %.2g with the rate, by %.2g without", with, without)
	}
}
