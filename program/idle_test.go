package program

import (
	"math"
	"testing"

	"chronoscope/process"
	"chronoscope/stats"
)

// Real programs on a machine where hardly anybody else runs: they take what the clock says. Threads of
// them keep one another from CPUs, and they sleep now more and now less. Both were said to be what
// others may have done, who ran for 1 % of the time.
func TestIdleMachine(t *testing.T) {
	for _, c := range []struct {
		name string
		// cpuMs is the CPU time of another thread.
		cpuMs    float64
		keptMs   float64 // of a thread, while another one of the program runs
		sleepMs  func(i int) float64
		othersMs float64
		want     stats.Verdict
	}{
		{"a thread is kept by another one", 80, 20, func(int) float64 { return 0 }, 1, stats.Trusted},
		{"others ran as long as a thread was kept", 80, 20, func(int) float64 { return 0 }, 25, stats.Suspect},
		{"it sleeps in some runs", 0, 0, func(i int) float64 { return 2 * float64(i%4/3) }, 0.3, stats.Trusted},
		{"it sleeps in some runs, and others ran", 0, 0, func(i int) float64 { return 30 * float64(i%4/3) }, 40, stats.Suspect},
	} {
		s := series{probed: true, timedWaits: 1, sleeps: 1}
		r := s.concludedOn(2, 40, func(i int) Run {
			begin, end := 0., 100+c.sleepMs(i)
			events := begun()
			if c.keptMs > 0 {
				events = events.at(0, process.Forked, 2, 1, 1).at(0.01, process.SwitchedIn, 2, 1, 1).at(50, process.Preempted, 2, 1, 1).at(50+c.keptMs, process.SwitchedIn, 2, 1, 1).at(end, process.Exited, 2, 1, 1)
			}
			if c.sleepMs(i) > 0 {
				events = events.at(50, process.Blocked, 1, 1, 0).at(50+c.sleepMs(i), process.SwitchedIn, 1, 1, 0)
			}
			waitMs := c.keptMs
			if c.sleepMs(i) == 0 && c.keptMs == 0 {
				begin = math.Min(c.othersMs, 20)
				waitMs = begin
				events = events.at(50, process.Preempted, 1, 1, 0).at(50+begin, process.SwitchedIn, 1, 1, 0)
				end += begin
			}
			events = events.at(end, process.Exited, 1, 1, 0)
			run := events.run(end, 100+c.cpuMs, process.Thread{ID: 1, CPUNs: 100 * ms, WaitNs: int64(waitMs * ms), ReadNs: int64(end * ms)})
			run.CoreHz, run.StealNs, run.ThrottledNs, run.RunqueueWaitNs = math.NaN(), math.NaN(), math.NaN(), waitMs*ms
			run.Others = process.OthersUse{Known: true, CPUNs: int64(c.othersMs * ms), WaitNs: int64(c.othersMs * ms), PassedNs: run.WallNs}
			return run
		})
		if r.Verdict != c.want || r.Verdict == stats.Trusted && r.Estimate.RelativeHalfWidth() > 0.03 {
			t.Errorf("%s: %s, want %s: %+v %q", c.name, r.Verdict, c.want, r.Estimate, r.Reasons)
		}
	}
}

// A program that does a third of its work where it was preempted, as the first run shows, in which it saw
// no preemption. It was 34.7 ms, give or take little, for 108.
func TestDoesLessWhereLate(t *testing.T) {
	s := series{}
	r := s.concluded(30, func(i int) Run {
		if i < mostProbes {
			run := keptFor(108, 400)
			run.Untraced, run.ClockReads, run.ClockWorkNs = nil, 30, 50*ms
			return run
		}
		return keptFor(34.7, 200)
	})
	if r.Verdict == stats.Trusted || !r.Estimate.Covers(107*ms) {
		t.Errorf("%s: %+v %q", r.Verdict, r.Estimate, r.Reasons)
	}
}
