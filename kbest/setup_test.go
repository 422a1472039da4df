package kbest

import (
	"math"
	"testing"

	"chronoscope/clock/clocktest"
	"chronoscope/stats"
)

// prepared is a subject whose calls take ns nanoseconds, with set-ups of setUpNs and bytes each, and
// fails where a call finds no set-up of its own.
func (s *simulated) prepared(t *testing.T, ns, setUpNs float64, bytes int64) (subject Subject, most *int) {
	ready, allocated := 0, int64(0)
	most = new(int)
	s.station.Allocated = func() int64 { return allocated }
	return Subject{
		Name: "work",
		Setup: func(n int) {
			ready = n
			*most = max(*most, n)
			allocated += int64(n) * bytes
			s.machine.Run(float64(n) * setUpNs)
		},
		Run: func(n int) {
			if ready -= n; ready < 0 {
				t.Fatal("a call has no set-up of its own")
			}
			s.machine.Run(float64(n) * ns)
		},
	}, most
}

// 100 ns of work behind 10 µs of set-up are found within 2 %, idle and beside others.
func TestSetupIsNotTimed(t *testing.T) {
	for _, load := range []int{1, 4} {
		for seed := range uint64(10) {
			c := randomCase(seed)
			sharing := clocktest.Sharing{Load: load, SliceNs: 3e6, LookNs: 1500, Timers: c.sharing.Timers, SwitchNs: c.sharing.SwitchNs}
			s := newSimulated(seed, sharing, 1, 15)
			subject, _ := s.prepared(t, 100, 10e3, 64)
			results, err := s.station.Measure(background, DefaultPlan, subject)
			if err != nil {
				t.Fatal(err)
			}
			if e := results[0].Estimate; math.Abs(e.Value/100-1) > 0.02 || !e.Covers(100) || results[0].Verdict == stats.Unusable {
				t.Errorf("load %d, seed %d: %v, %s %q", load, seed, e, results[0].Verdict, results[0].Reasons)
			}
		}
	}
}

// Inputs of a megabyte are set up by dozens, not by the thousand that a trial would take, and setting
// up ends where it has taken four times the time of the plan.
func TestSetupsThatTakeMuchMemory(t *testing.T) {
	s := newSimulated(1, clocktest.Sharing{Load: 1, LookNs: 1500}, 1, 15)
	subject, most := s.prepared(t, 100, 10e3, 1<<20)
	results, err := s.station.Measure(background, DefaultPlan, subject)
	if err != nil {
		t.Fatal(err)
	}
	if *most > mostSetUpBytes>>20 || results[0].Calls > mostSetUpBytes>>20 {
		t.Errorf("%d megabytes at a time, of %d", *most, mostSetUpBytes>>20)
	}
	if e := results[0].Estimate; !e.Covers(100) {
		t.Errorf("%v", e)
	}
	slow, _ := s.prepared(t, 1e6, 100e6, 64)
	plan := DefaultPlan
	results, err = s.station.Measure(background, plan, slow)
	if err != nil || results[0].Trials > 2*mostSetUpTimes*int(plan.MaxTime)/1e8 {
		t.Errorf("%d trials of 100 ms of setting up, %v", results[0].Trials, err)
	}
}

// Each call of a prepared subject has an input of its own.
func TestPrepared(t *testing.T) {
	made, sum := 0, 0
	subject := Prepared("sum", func() int { made++; return made }, func(x int) { sum += x })
	subject.Setup(4)
	subject.Run(4)
	if made != 4 || sum != 10 {
		t.Errorf("%d inputs, sum %d", made, sum)
	}
	subject.Empty(4)
	subject.Setup(2)
	subject.Run(2)
	if made != 6 || sum != 10+5+6 {
		t.Errorf("%d inputs, sum %d", made, sum)
	}
}
