package kbest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"chronoscope/clock/clocktest"
	"chronoscope/machine"
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

// measure measures it; hidden says that nothing tells of the neighbour.
func (b beside) measure(seed uint64, hidden bool) *Result {
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
	if hidden {
		s.station.Neighbours = nil
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
			r := b.measure(seed, false)
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
		if r := b.measure(seed, false); r.Verdict == stats.Trusted && math.Abs(r.Estimate.Value/b.ns-1) > 0.01 {
			t.Errorf("%s, seed %d: trusted, %+v %v", b.name, seed, r.Estimate, r.Reasons)
		}
	}
}

// Where nothing tells what other programs used, as on macOS and beside a /proc/stat that is a container's, work that
// waits for memory was trusted.
func TestUnknownNeighbours(t *testing.T) {
	always := func(float64) bool { return true }
	for _, b := range []beside{
		{"memory", 1e3, 20, always, true, stats.Suspect},
		{"chain", 1e3, 0, always, true, stats.Trusted},
	} {
		if r := b.measure(1, true); r.Verdict != b.want || says(r, "is not known here") != (b.want == stats.Suspect) {
			t.Errorf("%s: %s, want %s: %v", b.name, r.Verdict, b.want, r.Reasons)
		}
	}
}

// Processes are hidden in a container, and /proc/stat tells of all of them. Of 70 ms of all CPUs, 30 are the thread's own.
func TestNeighboursOfAContainer(t *testing.T) {
	ticks, ranNs := 100, int64(5e6)
	root := fstest.MapFS{"proc/stat": &fstest.MapFile{}}
	stat := func() { root["proc/stat"].Data = fmt.Appendf(nil, "cpu  %d 0 10 1000 0 0 0 0 0 0\n", ticks) }
	stat()
	s := &Station{Use: func() (machine.ThreadUse, error) { return machine.ThreadUse{CPUNs: ranNs}, nil }}
	look := s.neighbours(nil, root)
	look()
	ticks, ranNs = ticks+7, ranNs+30e6
	stat()
	if n := look(); n.Exact || n.OthersNs != 40e6 || n.ElsewhereNs != 40e6 || !(n.PassedNs > 0) {
		t.Errorf("%+v: others had 40 ms", n)
	}
}

// On a machine with one CPU nothing runs on another one. In the pauses of a measurement, what others used of its own CPU
// seemed to be that.
func TestNeighboursOfOneCPU(t *testing.T) {
	for cpus, want := range map[string]float64{"cpu0 100 0 10 1000 0 0 0 0 0 0\n": 0, "cpu0 60 0 10 500 0 0 0 0 0 0\ncpu1 40 0 0 500 0 0 0 0 0 0\n": 70e6} {
		root := fstest.MapFS{"proc/stat": &fstest.MapFile{}}
		stat := func(ticks int) {
			root["proc/stat"].Data = fmt.Appendf(nil, "cpu  %d 0 10 1000 0 0 0 0 0 0\n%sintr 7\n", ticks, cpus)
		}
		stat(100)
		s := &Station{Use: func() (machine.ThreadUse, error) { return machine.ThreadUse{}, nil }}
		look := s.neighbours(nil, root)
		look()
		stat(107)
		if n := look(); n.OthersNs != 70e6 || n.ElsewhereNs != want {
			t.Errorf("%q: %+v, want %v elsewhere", cpus, n, want)
		}
	}
}

// Where the kernel does not count waits, the reasons said to measure on Linux.
func TestNeighboursWhereTheKernelDoesNotCount(t *testing.T) {
	for _, c := range []struct {
		why       error
		says, not string
	}{
		{fmt.Errorf("run-queue wait: %w", machine.ErrUncounted), "sysctl kernel.task_delayacct=1", "on Linux"},
		{errors.New("no such file"), "measure on Linux", "sysctl"},
	} {
		s := quiet(3)
		rng := rand.New(rand.NewPCG(3, 4))
		s.station.Use, s.station.uncounted, s.station.Neighbours = nil, c.why, nil
		r := measureOne(t, s, Subject{Run: func(n int) { s.machine.Run(float64(n) * 1e3 * (1 + 0.1*rng.Float64())) }})
		if r.Verdict != stats.Suspect || !says(r, "other CPUs is not known here") || !says(r, c.says) || says(r, c.not) {
			t.Errorf("%v: %s %q", c.why, r.Verdict, r.Reasons)
		}
		calls, err := s.station.Calls(background, CallsPlan{Calls: 10}, s.work(1e3))
		if err != nil || strings.Contains(fmt.Sprint(calls.Reasons), "sysctl") != (c.says[0] == 's') {
			t.Errorf("%v: calls: %v %q", c.why, err, calls.Reasons)
		}
	}
}

// On a calm machine the steps of 10 ms lie as often above as below the truth. Cut off at 0 in each window, they made a
// tenth of a CPU of nothing.
func TestStepsOfCalmNeighbours(t *testing.T) {
	m := &measurement{}
	for i := range 100 {
		m.neighbours = append(m.neighbours, Neighbours{OthersNs: 5e6 - float64(i%2)*10e6, ElsewhereNs: 5e6 - float64(i%2)*10e6, PassedNs: 25e6})
		m.between = append(m.between, Neighbours{PassedNs: 60e3})
	}
	if _, cpus := m.beside([]*Sample{{}}); len(cpus) != 1 || cpus[0] != 0 {
		t.Errorf("%v other CPUs, want none", cpus)
	}
	m.between[7].ElsewhereNs = 253e6 // a tenth of the 2506 ms
	if _, cpus := m.beside([]*Sample{{}}); math.Abs(cpus[0]-253/2506.) > 1e-9 {
		t.Errorf("%v other CPUs, want %v", cpus, 253/2506.)
	}
}
