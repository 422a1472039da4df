package validate

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"chronoscope/machine"
	"chronoscope/stats"
)

// found is the result of a validation that tried 1 to 100 ns, and found everything within the
// tolerance up to toNs.
func found(scheme string, load int, toNs float64) keptReach {
	return keptReach{Reach{Scheme: scheme, Regime: Regime{Load: load}, Tolerance: 0.01, MinDurationNs: stats.FloatOf(1), MaxDurationNs: stats.FloatOf(toNs)}, 0, 1, 100}
}

// A reach stays in the store until it is found again. Other machines don't see it.
func TestReachIsKept(t *testing.T) {
	s, here := keptHere(t)
	for _, all := range [][]keptReach{{found("a", 1, 10), found("b", 1, 20)}, {found("a", 1, 30), found("a", 2, 40)}} {
		if err := s.saveReach(all); err != nil {
			t.Fatal(err)
		}
	}
	got, err := LoadReach(here)
	if want := []Reach{found("b", 1, 20).Reach, found("a", 1, 30).Reach, found("a", 2, 40).Reach}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v", got, err)
	}
	updated := *here
	updated.Kernel = "6.2"
	if got, err := LoadReach(&updated); !errors.Is(err, fs.ErrNotExist) || len(got) > 0 {
		t.Errorf("another kernel: %+v %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(s.Folder(), reachName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadReach(here); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a broken file: %v", err)
	}
	if err := s.saveReach([]keptReach{found("a", 1, 50)}); err != nil {
		t.Errorf("a broken file is not replaced: %v", err)
	}
}

// A validation of few durations does not replace a validation of many. If all durations that were
// tried are within the tolerance, the reach has no upper end.
func TestReachBeyondWhatWasTried(t *testing.T) {
	s, here := keptHere(t)
	none := found("b", 1, 1)
	none.MinDurationNs, none.MaxDurationNs = stats.Float{}, stats.Float{}
	shorter, longer := found("a", 1, 10), found("a", 1, 100)
	shorter.LongestTriedNs = 10
	longer.ShortestTriedNs = 10 // the short ones are not tried again
	for _, all := range [][]keptReach{{found("a", 1, 30), none, found("c", 1, 100)}, {shorter}, {longer}} {
		if err := s.saveReach(all); err != nil {
			t.Fatal(err)
		}
	}
	got, err := LoadReach(here)
	if err != nil || len(got) != 3 || got[0].MaxDurationNs.Value() != 30 || got[1].MaxDurationNs.Known() || got[2].MaxDurationNs.Value() != math.MaxFloat64 {
		t.Errorf("%+v %v", got, err)
	}
	// The longest and the shortest duration alone.
	many, ends := found("a", 1, 30), found("a", 1, 10)
	many.Tried, ends.Tried = 9, 2
	if ends.replaces(many) || !many.replaces(ends) {
		t.Error("two durations replace nine, or nine don't replace two")
	}
	// Files of older versions don't say which durations were tried.
	old := found("a", 1, 30)
	if !found("a", 1, 10).replaces(keptReach{Reach: old.Reach}) {
		t.Error("a row from before stays")
	}
}

func TestKeptOf(t *testing.T) {
	var all []Outcome
	for i, ns := range []int64{100, 1, 10} {
		all = append(all, Outcome{Scheme: "a", Regime: Regime{Load: 2}, DurationNs: ns, Error: stats.FloatOf([]float64{0.5, 0.001, 0.005}[i])})
	}
	for i, want := range []float64{1, 10, 10} {
		if got := keptOf(all)[i]; got.MinDurationNs.Value() != 1 || got.MaxDurationNs.Value() != want || got.ShortestTriedNs != 1 || got.LongestTriedNs != 100 || got.Tried != 3 {
			t.Errorf("%+v", got)
		}
	}
}

// keptHere returns a new store, and its machine.
func keptHere(t *testing.T) (*Store, *machine.Machine) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("LocalAppData", t.TempDir())
	here := &machine.Machine{CPU: "one", Kernel: "6.1", CPUs: 2}
	if _, err := LoadReach(here); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before the first: %v", err)
	}
	s, err := OpenStore(here)
	if err != nil {
		t.Fatal(err)
	}
	return s, here
}

// Only a fresh and complete cell of exactly this task is taken from the store: a file may contain
// anything.
func TestRestore(t *testing.T) {
	s, here := keptHere(t)
	cell := Cell{Work: Chain, Regime: Regime{Load: 1}, Duration: ms, Trials: 5}
	schemes, err := Choose([]string{OwnKBest, OwnProgram})
	if err != nil {
		t.Fatal(err)
	}
	stream := Stream{Cell: cell, Taken: time.Now(), Samples: make([]Sample, 5)}
	whole := Whole{Cell: cell, Taken: time.Now(), Scheme: OwnProgram}
	old, ahead, other, empty := stream, stream, stream, stream
	old.Taken, ahead.Taken, other.Load, empty.Samples = time.Now().Add(-stale-time.Minute), time.Now().Add(time.Hour), 2, nil
	oldWhole, strange := whole, whole
	oldWhole.Taken, strange.Scheme = old.Taken, "sundial"
	for name, c := range map[string]struct {
		task task
		kept any
		want bool
	}{
		"stream": {task{Cell: cell}, stream, true}, "program": {task{Cell: cell, program: OwnProgram}, whole, true},
		"old": {task{Cell: cell}, old, false}, "of tomorrow": {task{Cell: cell}, ahead, false}, "of another load": {task{Cell: cell}, other, false},
		"empty": {task{Cell: cell}, empty, false}, "old program": {task{Cell: cell, program: OwnProgram}, oldWhole, false},
		"unknown scheme": {task{Cell: cell, program: OwnProgram}, strange, false}, "text": {task{Cell: cell}, "no cell", false},
	} {
		v := &validation{plan: DefaultPlan, machine: here, store: s, schemes: schemes, report: &Report{}}
		if err := s.write(s.cellName(c.task, v.plan.CPU), c.kept); err != nil {
			t.Fatal(err)
		}
		if got := v.restore(c.task); got != c.want || (len(v.report.Outcomes) > 0) != c.want {
			t.Errorf("%s: %v, with %d outcomes", name, got, len(v.report.Outcomes))
		}
	}
}

// A cell that is an hour old, or from another build or boot, is not taken over: it was measured
// under other conditions. An earlier version used truths from such cells, and hyperfine seemed
// wrong by 200 to 300 % without any neighbours. A cell that is taken over says when it was
// measured.
func TestResumedCells(t *testing.T) {
	s, here := keptHere(t)
	schemes, err := Choose([]string{OwnKBest, OwnProgram})
	if err != nil {
		t.Fatal(err)
	}
	cell := Cell{Work: Chain, Regime: Regime{Load: 1}, Duration: ms, Trials: 5}
	inside, whole := task{Cell: cell}, task{Cell: cell, program: OwnProgram}
	for _, c := range []struct {
		age    time.Duration
		origin string
		want   bool
	}{{10 * time.Minute, "here", true}, {20 * time.Minute, "here", false}, {time.Minute, "another build", false}} {
		s.origin = func() string { return c.origin }
		taken := time.Now().Add(-c.age)
		for name, kept := range map[task]any{inside: Stream{Cell: cell, Taken: taken, Samples: make([]Sample, 5)}, whole: Whole{Cell: cell, Taken: taken, Scheme: OwnProgram}} {
			if err := s.write(s.cellName(name, 0), kept); err != nil {
				t.Fatal(err)
			}
		}
		s.origin = func() string { return "here" }
		if c.origin != "here" {
			if err := s.forget([]string{s.cellName(inside, 0), s.cellName(whole, 0)}); err != nil {
				t.Fatal(err)
			}
		}
		v := &validation{machine: here, store: s, schemes: schemes, report: &Report{}}
		if v.restore(inside) != c.want || v.restore(whole) != c.want {
			t.Errorf("%v old, of %s: not as wanted, %v", c.age, c.origin, c.want)
		}
		for _, o := range v.report.Outcomes {
			if o.Resumed == nil || !o.Resumed.Equal(taken) {
				t.Errorf("%s does not say that it was measured %v ago: %v", o.Scheme, c.age, o.Resumed)
			}
		}
	}
	fresh := &Stream{Cell: cell, Taken: time.Now(), Samples: make([]Sample, 5)}
	for _, o := range outcomes(schemes, fresh) {
		if o.Resumed != nil {
			t.Errorf("%s was measured now, and says %v", o.Scheme, o.Resumed)
		}
	}
}

// Whatever a cell's file contains, no scheme panics.
func FuzzKeptCell(f *testing.F) {
	f.Add(`{}`)
	f.Add(`{"samples":[{"wall_ns":1e7,"lost_ns":5e4},{"wall_ns":-1}],"losses":{"watched_ns":1e9,"all":[{"at_ns":5,"sum_ns":7},{"at_ns":3,"sum_ns":-7}]}}`)
	f.Add(`{"samples":[{"wall_ns":1,"times_ns":null},{"wall_ns":1e300},{"wall_ns":1}],"losses":{"watched_ns":1e-300},"kbest":{"estimate":{"value":null}},"expected":{"value":0}}`)
	f.Fuzz(func(t *testing.T, text string) {
		s := Stream{}
		if json.Unmarshal([]byte(text), &s) != nil {
			return
		}
		s.Load = 1
		all := outcomes(Schemes(), &s)
		ReachOf(all)
		CoverageOf(all)
		CompensationOf([]*Stream{&s})
	})
}

// A validation removes its own cells and stale ones, but not those of another interrupted
// validation. Restart removes all. Both once left everything in a cache folder whose name has brackets.
func TestForget(t *testing.T) {
	s, err := storeIn(filepath.Join(t.TempDir(), "caches [ci]"), &machine.Machine{CPU: "one", Kernel: "6.1", CPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	cell := func(trials int) string {
		return s.cellName(task{Cell: Cell{Work: Chain, Regime: Regime{Load: 1}, Duration: ms, Trials: trials}}, 0)
	}
	for trials := range 3 {
		if err := s.write(cell(trials), 1); err != nil {
			t.Fatal(err)
		}
	}
	longAgo := time.Now().Add(-2 * stale)
	if err := os.Chtimes(filepath.Join(s.Folder(), cell(2)), longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	if err := s.forget([]string{cell(0), cell(7)}); err != nil { // another process has removed one already
		t.Fatal(err)
	}
	left := func() []string {
		all, _ := fs.Glob(os.DirFS(s.Folder()), "cells*/*")
		return all
	}
	if got := left(); len(got) != 1 || got[0] != filepath.ToSlash(cell(1)) {
		t.Errorf("left: %q", got)
	}
	if err := s.Restart(); err != nil || len(left()) > 0 {
		t.Errorf("after a restart: %q %v", left(), err)
	}
}

// If the disk is full, the result is still complete.
func TestKeepFails(t *testing.T) {
	s, _ := keptHere(t)
	if err := os.WriteFile(filepath.Join(s.Folder(), filepath.Dir(s.cellName(task{}, 0))), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	v := &validation{plan: DefaultPlan, store: s, report: &Report{}}
	for range 2 {
		v.keep(task{Cell: Cell{Work: Chain}}, 1)
	}
	if len(v.report.LeftOut) != 1 || !strings.Contains(v.report.LeftOut[0], "no more cells are kept") {
		t.Errorf("%q", v.report.LeftOut)
	}
	v.conclude()
}

// A load that the machine can't start is left out with a caveat, if other loads were measured.
func TestUnbearableLoad(t *testing.T) {
	v := &validation{report: &Report{}}
	loops200 := Regime{200, Loops}
	failed := neighboursError{errors.New("3 of 200 competitors were started")}
	if v.passOver(t.Context(), loops200, failed) {
		t.Error("passed over, though there is nothing else")
	}
	v.report.Outcomes = make([]Outcome, 1)
	ended, end := context.WithCancel(t.Context())
	end()
	if v.passOver(ended, loops200, failed) || v.passOver(t.Context(), loops200, errors.New("the lab ended")) || len(v.report.LeftOut) > 0 {
		t.Errorf("passed over: %q", v.report.LeftOut)
	}
	if !v.passOver(t.Context(), loops200, failed) || len(v.report.LeftOut) != 1 || v.report.LeftOut[0] != "loops 200 is left out: 3 of 200 competitors were started" {
		t.Errorf("%q", v.report.LeftOut)
	}
}

// Without a store the validation works too.
func TestNoStore(t *testing.T) {
	var none *Store
	if err := errors.Join(none.write("x", 1), none.forget([]string{"x"}), none.Restart(), none.saveReach(nil)); err != nil {
		t.Error(err)
	}
	if err := none.read("x", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
