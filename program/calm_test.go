package program

import (
	"math"
	"testing"

	"chronoscope/process"
	"chronoscope/stats"
)

// A program that looks at a clock, and asks to sleep until some time. Others came and went: beside most
// of its runs they computed for 20 ms, and nobody did beside the rest, in which it does what it does
// alone. It was suspect for what it may have done in the others.
func TestCalmRuns(t *testing.T) {
	const workMs, calmEvery = 66, 3
	for _, c := range []struct {
		name string
		// beside others it works for workMs, waits for a CPU, and is blocked.
		workMs, keptMs, blockedMs float64
		calm                      int
		want                      stats.Verdict
		trueMs                    float64
	}{
		{"it does the same beside others", workMs, 20, 0, 20, stats.Trusted, workMs},
		{"too few calm runs", workMs, 20, 0, 19, stats.Suspect, workMs},
		{"others work for it in most runs", workMs, 0, 20, 20, stats.Trusted, 86},
		{"it works for less where others run", 40, 20, 0, 20, stats.Suspect, workMs},
		{"it works for more where others run", 90, 20, 0, 20, stats.Suspect, workMs},
	} {
		s := series{probed: true, timedWaits: 1, looksAtClock: true}
		r := s.concluded(60, func(i int) Run {
			run := keptFor(workMs, 0.1)
			run.Others = process.OthersUse{Known: true, CPUNs: 0.1 * ms, WaitNs: 60 * ms, PassedNs: run.WallNs}
			if i%calmEvery == 0 && i < calmEvery*c.calm {
				return run
			}
			run = besideOthers(c.workMs, c.keptMs, c.blockedMs)
			run.Others = process.OthersUse{Known: true, CPUNs: 20 * ms, WaitNs: int64(3 * c.keptMs * ms), PassedNs: run.WallNs}
			return run
		})
		if r.Verdict != c.want || r.Verdict == stats.Trusted && math.Abs(r.Estimate.Value-c.trueMs*ms) > 0.5*ms {
			t.Errorf("%s: %s, want %s: %+v %q", c.name, r.Verdict, c.want, r.Estimate, r.Reasons)
		}
	}
}

// Only the calm runs tell the time alone. The clock, the waits and the metrics are those of all runs: a metric that holds
// times was that of all, and trusted, since the calm runs did not wait.
func TestCalmRunsAreNotThoseOfTheClock(t *testing.T) {
	const all, calmRuns = 60, 20
	s := series{command: Command{Metrics: SystemMetrics}, probed: true, timedWaits: 1, looksAtClock: true}
	r := s.concluded(all, func(i int) Run {
		run := keptFor(66, 0.1)
		run.Others = process.OthersUse{Known: true, CPUNs: 0.1 * ms, WaitNs: 60 * ms, PassedNs: run.WallNs}
		if i >= calmRuns {
			run = besideOthers(66, 20, 0)
			run.Others = process.OthersUse{Known: true, CPUNs: 20 * ms, WaitNs: 60 * ms, PassedNs: run.WallNs}
		}
		return run
	})
	if r.Estimate.N != calmRuns || r.Wall.N != all || r.Wall.Value != 86*ms || r.RunqueueWaitNs.Value() != 20*ms {
		t.Errorf("%+v of %d runs, by the clock %+v, of which they waited %v", r.Estimate, r.Estimate.N, r.Wall, r.RunqueueWaitNs)
	}
	if m := r.Metrics["cpu_ns"]; m.Estimate.N != all || m.Verdict != stats.Suspect {
		t.Errorf("%s: %+v", m.Verdict, m)
	}
	c := Comparison{A: r, B: &Result{Summary: r.Summary, Command: r.Command}}
	if !c.isBounded() { // its pairs are those of all runs
		t.Error("a ratio need not lie in that of the intervals")
	}
}

// All runs are known as well as the calm ones, which scatter more: it was 0.89 ms ± 8 % of 183 runs, and 0.86 ±
// 1 % of 1,000.
func TestCalmRunsThatTellNoMore(t *testing.T) {
	const all, calmEvery = 90, 5
	s := series{probed: true}
	r := s.concluded(all, func(i int) Run {
		run := besideOthers(66, 2, 0)
		run.Others = process.OthersUse{Known: true, CPUNs: 2 * ms, WaitNs: 2 * ms, PassedNs: run.WallNs}
		if i%calmEvery == 0 {
			run = keptFor(65+float64(i%3), 0)
			run.Others = process.OthersUse{Known: true, PassedNs: run.WallNs}
		}
		return run
	})
	if r.Verdict != stats.Trusted || r.Estimate.N != all || r.Estimate.Value > 66.2*ms {
		t.Errorf("%s %+v of %d runs, want all of %d and 66 ms: %q", r.Verdict, r.Estimate, r.Estimate.N, all, r.Reasons)
	}
}

// besideOthers is a run of a program that computes, waits for a CPU, and is blocked at last.
func besideOthers(workMs, keptMs, blockedMs float64) Run {
	end := workMs + keptMs + blockedMs
	events := begun().at(workMs/2, process.Preempted, 1, 1, 0).at(workMs/2+keptMs, process.SwitchedIn, 1, 1, 0)
	if blockedMs > 0 {
		events = events.at(end-blockedMs-1, process.Blocked, 1, 1, 0).at(end-1, process.SwitchedIn, 1, 1, 0)
	}
	events = events.at(end, process.Exited, 1, 1, 0)
	run := events.run(end, workMs, process.Thread{ID: 1, CPUNs: int64(workMs * ms), WaitNs: int64(keptMs * ms), ReadNs: int64(end * ms)})
	run.CoreHz, run.StealNs, run.ThrottledNs, run.RunqueueWaitNs = math.NaN(), math.NaN(), math.NaN(), keptMs*ms
	return run
}

// A program that gives a daemon work in most of its runs takes 8 % longer in these. The others are the calm ones, and
// were its time: 4.9 ms were trusted for 5.6.
func TestRunsThatGiveOthersWork(t *testing.T) {
	const fastMs, slowMs = 66, 71
	s := series{probed: true, timedWaits: 1, looksAtClock: true}
	r := s.concluded(90, func(i int) Run {
		run := keptFor(fastMs, 0.1)
		run.Others = process.OthersUse{Known: true, CPUNs: 0.1 * ms, WaitNs: 60 * ms, PassedNs: run.WallNs}
		if i%3 > 0 {
			run = besideOthers(slowMs, 2, 0)
			run.Others = process.OthersUse{Known: true, CPUNs: 20 * ms, WaitNs: 60 * ms, PassedNs: run.WallNs}
		}
		return run
	})
	if !(r.Estimate.Lo <= fastMs*ms && r.Estimate.Hi >= slowMs*ms) {
		t.Errorf("%v to %v ms: the runs took %v and %v", r.Estimate.Lo/ms, r.Estimate.Hi/ms, fastMs, slowMs)
	}
}

// Nearly nobody ran beside a program whose threads woke one another often, so that it took what the clock says, less
// what others had. Its threads waited for longer than that: idle CPUs take a while to begin, alone as well. This is no
// contradiction, unless each of its waits would have been longer than that takes.
func TestWaitsForIdleCPUs(t *testing.T) {
	for _, c := range []struct {
		blocks      int
		lowMs       float64
		contradicts bool
	}{{70, 39.5, false}, {5, 38, true}} {
		r := Run{noted: true, Run: process.Run{WallNs: 40 * ms, UserNs: 36 * ms}, traced: trajectory{
			wallNs: 40 * ms, threads: 2, ranNs: 36 * ms, deficientNs: 5 * ms, blocksKnown: c.blocks, othersKnown: true,
			low: progress{atNs: 37 * ms}, high: progress{atNs: 38 * ms},
		}}
		r.Others = process.OthersUse{Known: true, CPUNs: 0.5 * ms, WaitNs: 3 * ms, PassedNs: r.WallNs}
		r.bound(2)
		if r.contradicts != c.contradicts || r.LowNs != c.lowMs*ms || r.HighNs != 40*ms {
			t.Errorf("%d blocks: %v to %v ms, contradiction %v; %v to 40, %v expected", c.blocks, r.LowNs/ms, r.HighNs/ms, r.contradicts, c.lowMs, c.contradicts)
		}
	}
}

// A program of two threads, one of which waits for something that nothing tells. Others delayed it by no more than the
// CPU time that they had, so that it is known well enough where they had little.
func TestBoundByOthers(t *testing.T) {
	for _, c := range []struct {
		othersMs float64
		want     stats.Verdict
	}{{1.3, stats.Trusted}, {6, stats.Suspect}} {
		s := series{probed: true}
		r := s.concludedOn(2, 30, func(i int) Run {
			lost := c.othersMs // by the second thread, for which the first may wait
			end := 38 + lost + 0.01*float64(i%5)
			events := begun().at(1, process.Forked, 2, 1, 1).at(1, process.SwitchedIn, 2, 1, 1).
				at(10, process.Blocked, 1, 1, 0).at(15, process.Preempted, 2, 1, 1).at(15+lost, process.SwitchedIn, 2, 1, 1).
				at(28+lost, process.SwitchedIn, 1, 1, 0).at(28+lost, process.Blocked, 2, 1, 1).
				at(end-1, process.SwitchedIn, 2, 1, 1).at(end-0.5, process.Exited, 2, 1, 1).at(end, process.Exited, 1, 1, 0)
			run := events.run(end, 47.5, process.Thread{ID: 1, CPUNs: 20 * ms, ReadNs: int64(end * ms)}, process.Thread{ID: 2, CPUNs: 27.5 * ms, WaitNs: int64(lost * ms), ReadNs: int64(end * ms)})
			run.Others = process.OthersUse{Known: true, CPUNs: int64(lost * ms), WaitNs: 10 * ms, PassedNs: run.WallNs}
			run.CoreHz, run.StealNs, run.ThrottledNs, run.RunqueueWaitNs = math.NaN(), math.NaN(), math.NaN(), lost*ms
			return run
		})
		if e := r.Estimate; r.Method != Bounds || r.Verdict != c.want || e.Lo > 38*ms || e.Hi < (38+c.othersMs)*ms {
			t.Errorf("others had %v ms: %s %v to %v ms, %s %q", c.othersMs, r.Method, e.Lo/ms, e.Hi/ms, r.Verdict, r.Reasons)
		}
	}
}
