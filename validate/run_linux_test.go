package validate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"chronoscope/machine"
	"chronoscope/stats"
)

// tiny is a plan that takes some hundred milliseconds.
func tiny(t *testing.T) Plan {
	t.Helper()
	cpus, err := machine.Affinity()
	if err != nil {
		t.Skip(err)
	}
	p := QuickPlan
	p.CPU, p.Works, p.Regimes, p.Durations = cpus[len(cpus)-1], []Work{Chain}, Regimes(nil, []int{1, 2}), []time.Duration{100 * time.Microsecond, ms}
	p.RunTime, p.Schemes = 5*ms, []string{SourceK3, OwnKBest}
	return p
}

// What was finished before an interruption is not measured again. At the end only the reach is left
// in the store.
func TestGoesOnAfterAnInterruption(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	p := tiny(t)
	m := machine.Identify()
	store, err := storeIn(t.TempDir(), m)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	told := 0
	r, err := Run(ctx, p, m, store, func(at Progress) {
		if at.Share < 0 || at.Share > 1 || at.Left < 0 {
			t.Errorf("%+v", at)
		}
		if strings.HasSuffix(at.Doing, "1ms") {
			if told++; told == 2 { // during the second load
				cancel()
			}
		}
	})
	if !errors.Is(err, context.Canceled) || len(r.Samples) != 3 {
		t.Fatalf("interrupted: samples of %d streams, %v", len(r.Samples), err)
	}
	var doing []string
	r, err = Run(t.Context(), p, m, store, func(at Progress) { doing = append(doing, at.Doing) })
	if err != nil || len(r.Samples) != 4 || slices.ContainsFunc(doing, func(d string) bool { return strings.HasPrefix(d, "none") }) {
		t.Fatalf("again: samples of %d streams, %q, %v", len(r.Samples), doing, err)
	}
	resumed := 0
	for _, o := range r.Outcomes {
		if o.Resumed != nil && o.Scheme == OwnKBest {
			resumed++
		}
	}
	if resumed != 3 {
		t.Errorf("%d cells say that they are of the earlier start, not 3", resumed)
	}
	known := map[string]bool{} // a scheme and load without a truth, as where the host is busy, have no reach
	for _, o := range r.Outcomes {
		if !o.NoTruth {
			known[fmt.Sprint(o.Scheme, o.Regime.Named())] = true
		}
	}
	if len(r.Outcomes) != 4*3 || len(r.Reach) != len(known)*len(Tolerances) {
		t.Errorf("%d outcomes, %d rows of reach, %d schemes and loads with a truth", len(r.Outcomes), len(r.Reach), len(known))
	}
	if left, _ := filepath.Glob(filepath.Join(store.Folder(), "cells*", "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if _, err := os.Stat(filepath.Join(store.Folder(), "reach.json")); err != nil {
		t.Error(err)
	}
}

// The report mentions a competitor that ended, after a second try.
func TestLostCompetitor(t *testing.T) {
	p := tiny(t)
	competitors := &competition{regime: Regime{2, Loops}, cpu: p.CPU}
	if err := competitors.renew(t.Context()); err != nil {
		t.Skip(err)
	}
	defer competitors.stop()
	tries := 0
	last, marks, err := retried(t.Context(), competitors, func() (int, []string, error) {
		tries++
		if tries <= 2 {
			killOne(t)
			for competitors.lost() == 0 {
				time.Sleep(ms)
			}
		}
		return tries, nil, nil
	})
	if err != nil || last != 2 || len(marks) != 1 || !strings.Contains(marks[0], "less: 1") {
		t.Errorf("try %d, %q, %v", last, marks, err)
	}
	if competitors.lost() != 0 {
		t.Error("the competitor was not replaced")
	}
	_, marks, err = retried(t.Context(), competitors, func() (int, []string, error) { tries++; return tries, nil, nil })
	if err != nil || tries != 3 || len(marks) != 0 {
		t.Errorf("all well: %d tries, %q %v", tries, marks, err)
	}
}

// All neighbours can be started, paused, continued and stopped.
func TestNeighboursRun(t *testing.T) {
	cpu := tiny(t).CPU
	for _, h := range neighbourhoods {
		competitors := &competition{regime: Regime{h.usual[0], h.name}, cpu: cpu}
		if err := competitors.renew(t.Context()); err != nil {
			t.Fatalf("%s: %v", h.name, err)
		}
		did := false
		if err := competitors.paused(func() error { did = true; return nil }); err != nil || !did || competitors.lost() > 0 {
			t.Errorf("%s: %v, %d ended", h.name, err, competitors.lost())
		}
		competitors.stop()
	}
}

// killOne kills a child of this process.
func killOne(t *testing.T) {
	t.Helper()
	for _, pid := range childrenHere(t) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// childrenHere returns the children of this process.
func childrenHere(t *testing.T) (children []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(all) == 0 {
		t.Skip("the kernel does not list children")
	}
	for _, file := range all {
		text, _ := os.ReadFile(file)
		for field := range strings.FieldsSeq(string(text)) {
			pid := 0
			for _, digit := range field {
				pid = 10*pid + int(digit-'0')
			}
			children = append(children, pid)
		}
	}
	return children
}

// If the neighbours on one CPU can't be started, those on the other CPUs end. They still ran during the regimes that followed.
func TestFailedNeighboursEnd(t *testing.T) {
	r := Regime{2, MemorySweeps}
	v := &validation{plan: Plan{CPU: 4000}, report: &Report{}}
	err := v.under(t.Context(), r, []task{{Cell: Cell{Regime: r}}})
	if _, failed := errors.AsType[neighboursError](err); !failed {
		t.Fatalf("%v", err)
	}
	if left := childrenHere(t); len(left) > 0 {
		t.Errorf("%v run still", left)
	}
}

// All kinds of neighbours are more of them at a greater load. Builds of any load were those of load 2.
func TestLoads(t *testing.T) {
	cpu := tiny(t).CPU
	for _, h := range neighbourhoods[1:] {
		var running [2]int
		for i := range running {
			competitors := &competition{regime: Regime{2 + i, h.name}, cpu: cpu}
			if err := competitors.renew(t.Context()); err != nil {
				t.Fatalf("%s: %v", h.name, err)
			}
			running[i] = len(childrenHere(t))
			competitors.stop()
		}
		if running[0] == 0 || running[1] != running[0]+1 {
			t.Errorf("%s: %d at load 2, %d at load 3", h.name, running[0], running[1])
		}
	}
}

// A CPU that this process may not use leads to an error that says so.
func TestNoSuchCPU(t *testing.T) {
	p := tiny(t)
	p.CPU = 4000
	var unbound *machine.AffinityError
	if _, err := Run(t.Context(), p, machine.Identify(), nil, nil); !errors.As(err, &unbound) {
		t.Errorf("%v", err)
	}
}

// A whole program's truth is its start and its rounds. A program that sleeps until the last of some
// times takes no less than until then, whatever it computes.
func TestWholeProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: make test runs it")
	}
	p := tiny(t)
	p.Regimes, p.Durations, p.Schemes = Regimes(nil, []int{1}), []time.Duration{10 * ms}, []string{OwnProgram}
	p.Kinds = []Kind{Compute, Deadline}
	r, err := Run(t.Context(), p, machine.Identify(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Outcomes) != 2 || r.Outcomes[0].Scheme != OwnProgram || r.Outcomes[1].Kind != Deadline {
		t.Fatalf("%+v", r.Outcomes)
	}
	if truth := r.Outcomes[1].Expected; truth.Lo < 10e6 {
		t.Errorf("a program that sleeps until 10 ms have gone by takes %+v", truth)
	}
	o := r.Outcomes[0]
	if o.Expected.Value < 5e6 || o.Expected.Lo > o.Expected.Value || o.Expected.Hi < o.Expected.Value || o.Verdict == stats.Trusted && !(o.Estimate.Value > 0) {
		t.Errorf("%+v", o)
	}
}

// A lab ends with the process that asked, even in the middle of a stream.
func TestLabEndsWithItsParent(t *testing.T) {
	p := tiny(t)
	v := validation{plan: p, machine: machine.Identify()}
	s, err := openSession(t.Context(), p.CPU, v.opening(Regime{1, NoNeighbours}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := s.encoder.Encode(order{Cell: Cell{Work: Chain, Regime: Regime{Load: 1}, Duration: time.Minute, Trials: 100}}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * ms)
	_ = s.input.Close()
	ended := make(chan error, 1)
	go func() { ended <- s.command.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("it goes on")
	}
}
