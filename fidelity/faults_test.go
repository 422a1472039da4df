package fidelity

import (
	"context"
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"chronoscope/clock"
	"chronoscope/stats"
)

// If the kernel's clocks rest on another source at the end than at the beginning, no result is
// trusted, each result says so, and none blames the counter for the jump of the reference.
func TestClocksourceChanges(t *testing.T) {
	for names, changed := range map[[2]string]bool{
		{"tsc", "hpet"}: true, {"tsc", "tsc"}: false, {"", "tsc"}: false, {"tsc", ""}: false,
	} {
		w := newWorld(1)
		asked, c := 0, w.fine()
		c.seenNs = func() float64 {
			if changed && w.NowNs() > 2e9 {
				return w.NowNs() + 2000
			}
			return w.NowNs()
		}
		o, err := Run(t.Context(), Request{
			Counter: c.rated("counter", 1), Reference: w.reference(), Workloads: w.workloads(), Plan: simPlan, Look: w.look,
			Clocksource: func() string { asked++; return names[min(1, asked-1)] },
		})
		if err != nil || len(o.Results) != 4 {
			t.Fatalf("%d results, %v", len(o.Results), err)
		}
		for _, r := range o.Results {
			said := r.Verdict == stats.Suspect && strings.Contains(r.Reasons[0], "changed its clocksource from tsc to hpet") && strings.HasPrefix(r.Meaning, "rely on")
			if said != changed || !changed && r.Verdict != stats.Trusted {
				t.Errorf("%q, %s: %s %q, %q", names, r.Workload, r.Verdict, r.Reasons, r.Meaning)
			}
		}
	}
}

// A fault of a counter that does not follow the clocksource is not excused by its change.
func TestClocksourceExcusesOnlyItsClocks(t *testing.T) {
	for _, c := range []struct {
		counter, reference string
		want               stats.Verdict
	}{
		{"tsc", PTPKVM, stats.Unusable}, {"tsc", RTC, stats.Unusable},
		{"tsc", "monotonic-raw", stats.Suspect}, {"monotonic", PTPKVM, stats.Suspect}, {"tsc", Synchronised, stats.Suspect},
	} {
		r := []Result{{Counter: c.counter, Reference: c.reference, Judgement: stats.NewJudgement()}}
		r[0].Lower(stats.Unusable, "it stands still")
		judgeCircumstances(r, "tsc", "hpet", 1)
		if r[0].Verdict != c.want || len(r[0].Reasons) != 2 || !strings.HasPrefix(r[0].Meaning, "rely on") {
			t.Errorf("%s against %s: %s %q, %q", c.counter, c.reference, r[0].Verdict, r[0].Reasons, r[0].Meaning)
		}
	}
}

// A counter that had to share its hardware is not trusted, whatever its readings are.
func TestMultiplexedCounter(t *testing.T) {
	for share, want := range map[float64]stats.Verdict{1: stats.Trusted, 0.4: stats.Suspect} {
		w := newWorld(1)
		counter := w.fine().rated("counter", 1)
		counter.Clock = counter.Sharing(func() float64 { return share })
		for _, r := range w.experiment(counter, w.workloads()...).Results {
			if r.Verdict != want || (want == stats.Suspect) != strings.Contains(strings.Join(r.Reasons, ""), "it counted for 40 % of the time") {
				t.Errorf("a share of %v, %s: %s %q", share, r.Workload, r.Verdict, r.Reasons)
			}
		}
	}
}

// If the reference can be set, a step is not blamed on the counter alone.
func TestReferenceIsSet(t *testing.T) {
	for settable, want := range map[bool]stats.Verdict{true: stats.Suspect, false: stats.Unusable} {
		for seed := range uint64(20) {
			w := newWorld(6000 + seed)
			set := counter{world: w, quantumNs: 1, tickNs: 1, cost: w.fine().cost}
			at := 1e9 + 8e9*w.rng.Float64()
			set.seenNs = func() float64 {
				if w.NowNs() > at {
					return w.NowNs() + 3e6
				}
				return w.NowNs()
			}
			reference := set.rated("realtime", 0)
			described := *reference.Clock
			described.Settable = settable
			reference.Clock = clock.New(described, set.read)
			o, err := Run(t.Context(), Request{
				Counter: w.fine().rated("counter", 1), Reference: reference, Workloads: w.workloads(), Plan: simPlan, Look: w.look,
			})
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			for _, r := range o.Results {
				for _, f := range r.Faults {
					found++
					if f.Kind != Jumped || f.Verdict != want || strings.Contains(f.Says, "unless realtime was set") != settable || math.Abs(f.Size.Value()-3e6) > 0.05*3e6 {
						t.Errorf("settable %v, seed %d: %+v", settable, seed, f)
					}
				}
			}
			if found != 1 {
				t.Errorf("settable %v, seed %d: %d faults", settable, seed, found)
			}
		}
	}
}

// No garbage is collected between the two ends of a sandwich, and the program's own setting is
// restored afterwards.
func TestNoCollectionInASandwich(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	w := newWorld(1)
	collected := 0
	wasteful := Workload{Name: Memory, Prepare: func(_ context.Context, s *Sampler) (Task, error) {
		return around(s, func(ns float64) {
			start := collectionsSoFar()
			for range 8 {
				garbage = make([]byte, 1<<20)
			}
			w.Run(ns)
			collected += int(collectionsSoFar() - start)
		}, nil), nil
	}}
	w.plan = Plan{OtherNs: []float64{1e6}, OtherRepeats: 8}
	w.experiment(w.fine().rated("counter", 1), wasteful)
	if collected > 0 {
		t.Errorf("%d collections in 8 sandwiches", collected)
	}
	if after := debug.SetGCPercent(100); after != 100 {
		t.Errorf("the program's setting of 100 %% is %d afterwards", after)
	}
}

var garbage []byte

func collectionsSoFar() int64 {
	var s debug.GCStats
	debug.ReadGCStats(&s)
	return s.NumGC
}
